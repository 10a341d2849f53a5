"""`engine check`: each fault of a project's files, with its place and its fix."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from command import engine, run

from handbill.cli.checks import repository
from handbill.cli.checks.repository import ERROR, WARNING, Checked
from handbill.cli.project import here
from handbill.hosts.claude_code import CAP
from handbill.lab import demo_project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    write(folder / ".directives/INVARIANTS.md", "Uses §CMD_KNOWN.\n")
    write(folder / ".directives/commands/CMD_KNOWN.md", "known\n")
    return folder


def write(path: Path, text: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)


def problems(project: Path, *, expect: int) -> list[tuple[str, str, int, str]]:
    data = engine("check", "--project", str(project), expect=expect)["data"]
    assert all(one["fix"] for one in data["problems"])
    return [
        (one["level"], one["file"].removeprefix(f"{project}/"), one["line"], one["text"]) for one in data["problems"]
    ]


def skill(*phases: dict[str, Any], text: str = "", **more: Any) -> str:
    return f"# S\n{text}\n### Session Parameters\n```json\n{json.dumps({'phases': list(phases), **more})}\n```\n"


def page(name: str, kind: str) -> str:
    schema = {"type": "object", "required": ["a"], "properties": {"a": {"type": kind}}}
    return f"## PROOF FOR §{name}\n```json\n{json.dumps(schema)}\n```\n"


def test_a_project_without_faults(project: Path) -> None:
    assert problems(project, expect=0) == []
    assert run("check", cwd=project).stdout == "1 directive, 1 page, 0 skills: no problems found\n"
    assert run("check", "-q", cwd=project).stdout == ""


def test_the_sample_project_has_only_its_large_rule(tmp_path: Path) -> None:
    demo_project.make(str(tmp_path / "orchard"))
    (tmp_path / "orchard/.git").mkdir()
    found = problems(tmp_path / "orchard", expect=0)
    assert [(level, file) for level, file, _, _ in found] == [(WARNING, "reports/.directives/ARCHITECTURE.md")]


RULE = "api/.directives/AGENTS.md"


@pytest.mark.parametrize(
    "text, expected",
    [
        ("x" * CAP, []),
        ("x" * (CAP + 1), [(WARNING, 0, "it is delivered in 2 parts")]),
        ("é🙂" * 4000, [(WARNING, 0, "has 12,000 characters (UTF-16 units)")]),
        ("x" * (1 << 20) + "y", [(ERROR, 0, "more than the 1,048,576 allowed")]),
        (b"a\0b", [(ERROR, 0, "is binary")]),
        (b"\xff\xfea\0", [(ERROR, 0, "is not UTF-8 text")]),
        (b"caf\xe9", [(ERROR, 0, "is not UTF-8 text")]),
        ("\n \n", [(WARNING, 0, "is empty")]),
        ("a §CMD_NONE.\n", [(ERROR, 1, "§CMD_NONE has no page")]),
        (
            "\n\na\nb §INV_NONE and §FMT_NONE\n",
            [(ERROR, 4, "§FMT_NONE has no page"), (ERROR, 4, "§INV_NONE has no page")],
        ),
        ("`§CMD_NONE`\n```\n§CMD_OTHER\n```\n", []),
        ("`§CMD_NONE`\n§CMD_NONE\n", [(ERROR, 2, "§CMD_NONE has no page")]),
        ("§CMD_KNOWN §CMD_DEHYDRATE\n", []),
    ],
)
def test_a_rule(project: Path, text: str | bytes, expected: list[tuple[str, int, str]]) -> None:
    write(project / RULE, text)
    found = problems(project, expect=1 if any(level == ERROR for level, _, _ in expected) else 0)
    assert [(level, line) for level, _, line, _ in sorted(found, key=lambda one: one[3])] == [
        one[:2] for one in expected
    ]
    assert all(file == RULE for _, file, _, _ in found)
    assert all(any(said in text for _, _, _, text in found) for _, _, said in expected)


@pytest.mark.parametrize(
    "target, said",
    [
        ("/etc/hostname", "leads out of the project"), ("/dev/zero", "leads out of the project"),
        ("../../nowhere.md", "is a link that leads nowhere"), ("AGENTS.md", "cannot be read"),
        ("../../.directives/INVARIANTS.md", ""),
    ],
)  # fmt: skip
def test_a_link(project: Path, target: str, said: str) -> None:
    (project / "api/.directives").mkdir(parents=True)
    (project / RULE).symlink_to(target)
    found = problems(project, expect=1 if said else 0)
    assert [(level, file) for level, file, _, _ in found] == ([(ERROR, RULE)] if said else [])
    assert all(said in text for _, _, _, text in found)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_rule_that_nobody_may_read(project: Path) -> None:
    write(project / RULE, "x\n")
    (project / RULE).chmod(0)
    assert "permission denied" in problems(project, expect=1)[0][3]


@pytest.mark.parametrize("name", ["node_modules/x", "build", ".git/x"])
def test_folders_without_rules(project: Path, name: str) -> None:
    write(project / name / ".directives/AGENTS.md", "§CMD_NONE\n")
    assert problems(project, expect=0) == []


@pytest.mark.parametrize(
    "text, expected",
    [
        ("# S\n### Session Parameters\n```json\n{bad\n```\n", [(ERROR, 4)]),
        (skill({"label": "0", "name": "A", "oops": 1}), [(WARNING, 5)]),
        (skill(text="§CMD_NONE and §INV_NONE"), [(WARNING, 2), (ERROR, 2)]),
        (skill({"label": "0", "name": "A", "steps": ["§CMD_NONE"]}), [(WARNING, 0)]),
        (skill(logTemplate="none.md"), [(ERROR, 0)]),
        (skill(nextSkills=["none"]), [(WARNING, 0)]),
        (b"\0", [(ERROR, 0)]),
    ],
    ids=range(7),
)
def test_a_skill(project: Path, text: str | bytes, expected: list[tuple[str, int]]) -> None:
    write(project / ".claude/skills/s/SKILL.md", text)
    found = problems(project, expect=1 if any(level == ERROR for level, _ in expected) else 0)
    assert [(level, line) for level, _, line, _ in sorted(found, key=lambda one: one[3])] == expected, found
    assert {file for _, file, _, _ in found} == {".claude/skills/s/SKILL.md"}


def test_proofs_that_contradict_each_other(project: Path) -> None:
    for name, kind in (("CMD_A", "string"), ("CMD_B", "integer")):
        write(project / f".directives/commands/{name}.md", page(name, kind))
    write(project / ".claude/skills/s/SKILL.md", skill({"label": "0", "name": "A", "steps": ["§CMD_A", "§CMD_B"]}))
    ((level, file, _, text),) = problems(project, expect=1)
    assert (level, file) == (ERROR, ".claude/skills/s/SKILL.md")
    assert (
        text.startswith("phase 0: A: a cannot be given") and "it cannot be string and integer at the same time" in text
    )
    write(project / ".directives/commands/CMD_B.md", "## PROOF FOR §CMD_B\n```json\n{\n  bad\n}\n```\n")
    ((level, file, line, text),) = problems(project, expect=1)
    assert (level, file, line) == (ERROR, ".directives/commands/CMD_B.md", 4) and "schema" in text


@pytest.mark.parametrize(
    "name, text, line, said",
    [
        (".handbill.toml", "[write_gate]\nmode = 'x'\n", 0, "write_gate.mode must be"),
        (".handbill.toml", "[files]\nallow = ['/']\n", 0, "files.allow counts only in your own settings"),
        (".handbill.toml", "a = 1\n= 2\n", 2, "Invalid statement"),
        (".handbill.toml", "[standards]\nfiles = ['NONE.md']\n", 0, "standards.files names it"),
        (".handbill.messages.json", '{"load_gate": {"factual": {"deliver": "Obey."}}}', 0, "does not name {"),
        (".handbill.messages.json", "[", 0, ""),
        (".context/TASKS.md", b"\0", 0, "is binary"),
    ],
)
def test_settings_and_context(project: Path, name: str, text: str | bytes, line: int, said: str) -> None:
    write(project / name, text)
    ((level, file, at, found),) = problems(project, expect=1)
    assert (level, at) == (ERROR, line) and said in found
    assert file == name or file == "NONE.md"


def test_only_the_projects_own_files_count(project: Path) -> None:
    home = Path(os.environ["HOME"])
    write(home / ".config/handbill/config.toml", "[nonsense]\n")
    write(home / ".config/handbill/messages.json", "[")
    write(home / ".claude/skills/s/SKILL.md", "\0")
    write(project / ".claude/skills/s/SKILL.md", "# fine\n")
    assert problems(project, expect=0) == []


def test_what_is_printed(project: Path) -> None:
    write(project / RULE, "first\n§CMD_NONE\n" + "x" * CAP)
    lines = run("check", cwd=project).stdout.splitlines()
    assert lines[0].startswith(f"{RULE}: warning: has 9,5") and lines[1].startswith("    fix: split it")
    assert lines[2:] == [
        f"{RULE}:2: error: §CMD_NONE has no page",
        "    fix: write .directives/commands/CMD_NONE.md, or correct the name",
        "2 directives, 1 page, 0 skills: 1 error, 1 warning",
    ]
    assert run("check", "-q", cwd=project).stdout.splitlines() == lines[2:4]


def test_warnings_alone(project: Path) -> None:
    write(project / RULE, "x" * (CAP + 1))
    assert [run("check", *more, cwd=project).returncode for more in ((), ("--strict",), ("-q", "--strict"))] == [
        0,
        1,
        1,
    ]


@pytest.mark.parametrize(
    "limit, most", [("_MOST_FOLDERS", 3), ("_MOST_FILES", 3), ("_MOST_BYTES", 1 << 10), ("_MOST_SECONDS", -1.0)]
)
def test_what_is_too_much(project: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: float) -> None:
    for number in range(9):
        write(project / f"d{number}/.directives/AGENTS.md", "x" * 1000)
    monkeypatch.setattr(repository, limit, most)
    problem = Checked(here(str(project))).run().problems[-1]
    assert problem.level == ERROR and "not everything was checked" in problem.text
    monkeypatch.undo()
    assert Checked(here(str(project))).run().problems == []
