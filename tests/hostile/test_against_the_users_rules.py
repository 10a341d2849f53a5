"""A project does not want the agent to see the rules of a directory that the user added."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from simulated_project import SimulatedProject

Make = Callable[..., SimulatedProject]
OWN = "RULE-OF-THE-USER"
RULE = ".directives/AGENTS.md"


@pytest.fixture
def box(make_project: Make) -> SimulatedProject:
    made = make_project()
    settings = Path(made.environ["HOME"]) / ".claude/settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"permissions": {"additionalDirectories": [str(own(made))]}}))
    for name, text in ((RULE, f"{OWN}\n"), ("CLAUDE.md", "be nice\n"), ("f.py", "x\n")):
        path = own(made) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return made


def own(box: SimulatedProject) -> Path:
    return box.project.parent / "own"


def see_rules(box: SimulatedProject) -> str:
    box.sim.start()
    box.sim.prompt("go")
    for _ in range(3):
        box.sim.read(str(own(box) / "f.py"))
    return box.seen()


@pytest.mark.parametrize(
    "settings",
    [
        '{"claudeMd\\u0045xcludes": ["**/CLAUDE.md"]}',
        '{"claudeMdExcludes": ["OWN/**/CLAUDE.md"]}',
        '{"claudeMdExcludes": ["/**/**/**/**/**/CLAUDE.md"]}',
        '{"claudeMdExcludes": ["OWN/./CLAUDE.md"]}',
        '{"claudeMdExcludes": ["OWN//CLAUDE.md"]}',
        '{"claudeMdExcludes": ["' + "*" * 5000 + 'x"]}',
        '{"x": "' + "a" * (1 << 20) + '", "claudeMdExcludes": ["**/CLAUDE.md"]}',
        '{"claudeMdExcludes": [',
    ],
    ids=["escaped", "no folder", "many stars", "dot", "slashes", "long", "far behind", "broken"],
)
def test_settings_that_keep_the_client_from_reading_an_import(box: SimulatedProject, settings: str) -> None:
    """Without them, the client brings the rule: test_words_that_are_imports."""
    (own(box) / "CLAUDE.md").write_text(f"@{RULE}\n")
    box.write(".claude/settings.json", settings.replace("OWN", str(own(box))))
    assert OWN in see_rules(box)


def test_patterns_that_take_long_are_not_the_users_fault(box: SimulatedProject) -> None:
    for name in ("settings.json", "settings.local.json"):
        box.write(f".claude/{name}", json.dumps({"claudeMdExcludes": ["*" * 1_000_000 + "x"]}))
    for name in ("INVARIANTS", "ARCHITECTURE"):
        (own(box) / f".directives/{name}.md").write_text(f"{OWN}-{name}\n")
    seen = see_rules(box)
    assert [f"{OWN}{more}\n" in f"{seen}\n" for more in ("", "-INVARIANTS", "-ARCHITECTURE")] == [True] * 3
    assert box.errors() == []


@pytest.mark.parametrize("key", ["", "agents-md@builtin", "agents-md\\u0040builtin"])
def test_a_link_of_the_projects_to_the_users_rule(box: SimulatedProject, key: str) -> None:
    (box.project / "AGENTS.md").symlink_to(own(box) / RULE)
    if key:
        box.write(".claude/settings.json", f'{{"enabledPlugins": {{"cc-plugin-{key}": false}}}}')
    box.write("f.py", "x\n")
    box.sim.start()
    box.sim.prompt("go")
    box.sim.read("f.py")
    box.sim.read(str(own(box) / "f.py"))
    box.idle()
    assert OWN in box.seen()


@pytest.mark.parametrize("levels, size", [(5, 530_000), (20, 12_000), (20, 5_000)])
@pytest.mark.parametrize("first", ["read", "write", "both at once"])
def test_thousands_of_rules_of_the_project(box: SimulatedProject, levels: int, size: int, first: str) -> None:
    names = [f"R{number}.md" for number in range(50)]
    box.write(".handbill.toml", f"[directives]\nalways = {json.dumps(names)}\n")
    deep = "/".join(f"l{number}" for number in range(levels))
    for level in range(levels):
        for name in names:
            box.write(f"{'/'.join(deep.split('/')[: level + 1])}/.directives/{name}", f"{level}{name} " + "x" * size)
    box.write(f"{deep}/f.py", "x\n")
    box.sim.start()
    box.sim.prompt("go")
    if first == "both at once":
        box.sim.read(f"{deep}/f.py", str(own(box) / "f.py"))
    else:
        box.sim.read(f"{deep}/f.py")
    if first == "write":
        assert OWN in box.sim.write(str(own(box) / "new.py")).denied
    else:
        box.sim.read(str(own(box) / "f.py"))
        assert OWN in box.seen()


@pytest.mark.parametrize(
    "text",
    ["*@I", "@I*", "**@I x", "foo[@I]", "@I]", "- [x]@I", "\\*@I", "mail*@I", "a\x1c@I", "a\x85@I", "@I\x1cb", "@I\x85b"],
)  # fmt: skip
def test_words_that_are_not_imports(box: SimulatedProject, text: str) -> None:
    (own(box) / "CLAUDE.md").write_bytes(f"{text.replace('@I', f'@{RULE}')}\n".encode())
    assert OWN in see_rules(box)


@pytest.mark.parametrize("text", ["see @I first", "**@I**", "*@I*", "a\u00a0@I"])
def test_words_that_are_imports(box: SimulatedProject, text: str) -> None:
    (own(box) / "CLAUDE.md").write_text(f"{text.replace('@I', f'@{RULE}')}\n")
    assert OWN not in see_rules(box)


def test_what_another_tool_says_about_a_file(box: SimulatedProject) -> None:
    box.sim.start()
    box.sim.prompt("go")
    box.sim.batch(("mcp__docs__get", {}))
    call = box.sim.batch(("mcp__docs__get", {})).event["tool_calls"][0]["tool_use_id"]
    file = {"filePath": str(own(box) / RULE), "content": "", "numLines": 1, "startLine": 1, "totalLines": 1}
    result = {"type": "tool_result", "tool_use_id": call, "content": "x"}
    row = {"type": "user", "message": {"role": "user", "content": [result]}, "toolUseResult": {"file": file}}
    box.sim._write(box.sim.transcript, row)
    box.sim.fail("PostToolBatch")
    box.idle(2)
    box.sim.read(str(own(box) / "f.py"))
    box.idle(2)
    assert OWN in box.seen()


@pytest.mark.parametrize("kind", ["link to a file", "copy of a file", "link to a folder"])
def test_a_project_that_pretends_to_be_a_worktree(make_project: Make, kind: str) -> None:
    box = make_project()
    real, worktree = box.project.parent / "real", box.project.parent / "worktree"
    (real / ".directives").mkdir(parents=True)
    (real / RULE).write_text(f"{OWN}\n")
    (real / "f.py").write_text("x\n")
    git = ["git", "-C", str(real), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"], ["worktree", "add", "-q", str(worktree)]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    if kind == "copy of a file":
        (box.project / ".git").write_text((worktree / ".git").read_text())
    else:
        (box.project / ".git").symlink_to((worktree if kind == "link to a file" else real) / ".git")
    box.sim.start()
    box.sim.prompt("go")
    for _ in range(2):
        box.sim.read(str(worktree / "f.py"), str(real / "f.py"))
    assert OWN not in box.seen()


@pytest.mark.parametrize(
    "link, target, command",
    [
        ("sessions", ".git", "engine session activate S do"),
        (".claude", ".git", "engine skills fix --copy"),
        (".claude", ".git", "engine install"),
        ("x", ".git", "engine resume write hooks --load f.md --next evil"),
    ],
)
def test_nothing_is_written_to_the_git_folder(box: SimulatedProject, link: str, target: str, command: str) -> None:
    subprocess.run(["git", "init", "-q", str(box.project)], check=True)
    box.write(".handbill.toml", '[resume]\nlayout = "x/{project}/post-checkout"\n')
    box.write("f.md", "x\n")
    if link == ".claude":
        (box.project / ".claude").rmdir()
    (box.project / link).symlink_to(target)
    before = sorted((box.project / ".git").rglob("*"))
    done = box.process(command)
    assert done.returncode == 1 and "leads into the git folder" in done.stderr
    assert sorted((box.project / ".git").rglob("*")) == before


def test_a_project_cannot_hold_calls_for_ever(box: SimulatedProject) -> None:
    box.write(".handbill.toml", '[load_gate]\nmode = "require"\ndenials = 999999999\nfiles = ["T.md"]\n')
    box.write(".context/T.md", "x\n")
    box.sim.start()
    box.sim.prompt("go")
    held = [bool(box.sim.write(f"{number}.py").denied) for number in range(30)]
    assert sum(held) == 20 and not held[-1]
