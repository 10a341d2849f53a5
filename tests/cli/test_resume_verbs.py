"""`engine resume` and `engine session dehydrate`: what they write, and what they refuse."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import engine, run

from handbill.text.frontmatter import parse
from simulated_project import SimulatedProject

Make = Callable[..., SimulatedProject]
HOME = "02-projects/24-login"
CONTEXT = {"summary": "half of it", "nextSteps": ["the other half"], "requiredFiles": ["one/f.py"]}


@pytest.fixture
def box(make_project: Make) -> SimulatedProject:
    made = make_project()
    made.write(f"{HOME}/01-planning/overview.md", "MARK-OVERVIEW\n")
    made.write(f"{HOME}/01-planning/steps.md", "MARK-STEPS\n")
    return made


def head(box: SimulatedProject) -> dict[str, Any]:
    return parse((box.project / HOME / "01-planning/_resume.md").read_text())[0]


def test_written_shown_and_checked(box: SimulatedProject) -> None:
    engine("resume", "write", "24-login", "--task", "15", "--phase", "execution", cwd=box.project)
    assert head(box)["files_to_load"] == ["01-planning/overview.md", "01-planning/steps.md"]
    assert "next_action" not in head(box) and head(box)["current_task"] == "15"
    (row,) = engine("resume", "check", cwd=box.project)["data"]["projects"]
    assert row["problems"] == [] and [one["given"] for one in row["files"]] == [True] * 3
    assert "_resume.md" in run("resume", "show", cwd=box.project).stdout


def test_writing_again_keeps_what_is_not_named(box: SimulatedProject) -> None:
    path = box.project / HOME / "01-planning/_resume.md"
    path.write_text("---\nmine: kept\nfiles_to_load: [01-planning/steps.md]\n---\n\nMY TEXT\n")
    path.chmod(0o640)
    engine("resume", "write", "24-login", "--next", "go-on", "--question", "Wozu? – ü", cwd=box.project)
    assert head(box) | {"mine": "kept", "next_action": "go-on", "validation_questions": ["Wozu? – ü"]} == head(box)
    assert "MY TEXT" in path.read_text() and "ü" in path.read_text() and path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("name", ["none", "../24-login", "a/b", "..", ""])
def test_projects_that_are_none(box: SimulatedProject, name: str) -> None:
    assert "there is no project" in engine("resume", "write", name, cwd=box.project, expect=1)["error"]["message"]


def test_a_file_named_from_here_is_meant(box: SimulatedProject) -> None:
    box.write("src/login.py", "x\n")
    for _ in range(3):
        engine(
            "resume",
            "write",
            "24-login",
            "--load",
            "login.py",
            "--load",
            "01-planning/steps.md",
            cwd=box.project / "src",
        )
    assert head(box)["files_to_load"] == ["../../src/login.py", "01-planning/steps.md"]
    assert (box.project / HOME / "01-planning/_resume.md").read_text().endswith("---\n\n# 24-login\n"), (
        "nothing piles up"
    )
    assert engine("resume", "check", cwd=box.project)["data"]["problems"] == 0


@pytest.mark.parametrize(
    "layout",
    ["/abs/{project}/_resume.md", "../out/{project}/_resume.md", "work/{project}", "work/x.md", "{project}_resume.md"],
)
def test_layouts_that_cannot_be(box: SimulatedProject, layout: str) -> None:
    box.write(".handbill.toml", f'[resume]\nlayout = "{layout}"\n')
    checks = json.loads(run("doctor", "--project", str(box.project), "--json").stdout)["data"]["checks"]
    assert any(row["check"] == "settings" and "resume.layout" in row["text"] for row in checks)


def test_what_check_finds(box: SimulatedProject) -> None:
    path = box.project / HOME / "01-planning/_resume.md"
    path.write_text('---\nfiles_to_load: ["/etc/shadow", gone.md, 01-planning/steps.md]\n---\n')
    (row,) = engine("resume", "check", cwd=box.project, expect=1)["data"]["projects"]
    assert len(row["problems"]) == 2 and "leads out" in row["problems"][0] and "does not exist" in row["problems"][1]
    path.write_text("---\nfiles_to_load:\n\t- x\n---\n")
    assert (
        "line 3"
        in engine("resume", "check", "24-login", cwd=box.project, expect=1)["data"]["projects"][0]["problems"][0]
    )
    assert (
        "line 3" in engine("resume", "write", "24-login", "--task", "2", cwd=box.project, expect=1)["error"]["message"]
    )
    path.unlink()
    engine("resume", "check", cwd=box.project, expect=1)
    assert engine("resume", "show", cwd=box.project)["data"]["projects"] == []


def test_show_tells_what_was_noted(box: SimulatedProject) -> None:
    engine("resume", "write", "24-login", cwd=box.project)
    box.sim.start()
    box.sim.read(f"{HOME}/a.md", f"{HOME}/b.md")
    box.sim.compact()
    noted = engine("resume", "show", cwd=box.project)["data"]["noted"]
    assert noted["active_project_id"] == "24-login" and noted["consumed"] == 1
    assert "24-login, confidence high, by transcript" in run("resume", "show", cwd=box.project).stdout


# --- setting a session down ----------------------------------------------------------------------


def dehydrate(box: SimulatedProject, text: str, expect: int = 0) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "handbill.cli.main", "session", "dehydrate", "LOGIN", "--json"], cwd=box.project, input=text,
        capture_output=True, text=True, check=False, timeout=30,
    )  # fmt: skip
    assert done.returncode == expect, done.stdout + done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def activate(box: SimulatedProject) -> None:
    box.skill("fix", {"label": "0", "name": "Setup", "steps": ["§CMD_ONE"]})
    engine("session", "activate", "LOGIN", "fix", cwd=box.project)


def test_the_next_start_takes_it_up_once(box: SimulatedProject, tmp_path: Path) -> None:
    activate(box)
    box.write("one/f.py", "MARK-FILE\n")
    dehydrate(box, json.dumps(CONTEXT))
    assert box.session_state("LOGIN")["dehydratedContext"]["summary"] == "half of it"
    text = "\n".join(box.sim.start().texts)
    for fact in (
        "half of it",
        "the other half",
        "MARK-FILE",
        "1 of 1 file that you need is",
        "engine session continue LOGIN",
    ):
        assert text.count(fact) == 1, fact
    assert box.idle().texts == []
    gates = {gate["gate"]: gate["state"] for gate in engine("gate", "status", cwd=box.project)["data"]["gates"]}
    assert gates["resume"] == "received the handover of LOGIN"
    engine("session", "continue", "LOGIN", cwd=box.project)
    assert box.session_state("LOGIN")["lifecycle"] == "active" and box.session_state("LOGIN")["currentPhase"]
    assert "half of it" not in "\n".join(box.sim.clear().texts)


@pytest.mark.parametrize(
    "text, why",
    [
        ("", "summary"),
        ("{half", "JSON"),
        ("[]", "one JSON object"),
        (json.dumps({"summary": "x"}), "nextSteps"),
        (json.dumps({**CONTEXT, "summary": ""}), "summary"),
        (json.dumps({**CONTEXT, "nextSteps": []}), "nextSteps"),
        (json.dumps({**CONTEXT, "mood": "good"}), "mood"),
        (json.dumps({**CONTEXT, "requiredFiles": [f"f{n}" for n in range(9)]}), "at most 8"),
        (json.dumps({**CONTEXT, "requiredFiles": ["/etc/shadow"]}), "leads out"),
        (json.dumps({**CONTEXT, "requiredFiles": ["../../x"]}), "leads out"),
        (json.dumps({**CONTEXT, "requiredFiles": "one"}), "requiredFiles"),
    ],
)
def test_what_cannot_be_set_down(box: SimulatedProject, text: str, why: str) -> None:
    activate(box)
    assert why in dehydrate(box, text, expect=1)["error"]["message"]
    assert "dehydratedContext" not in box.session_state("LOGIN")
    assert "stopped work on the session" not in "\n".join(box.sim.start().texts)


def test_a_missing_file_is_a_warning(box: SimulatedProject) -> None:
    activate(box)
    assert "gone.md" in dehydrate(box, json.dumps({**CONTEXT, "requiredFiles": ["gone.md"]}))["warnings"][0]
    assert "gone.md does not exist" in "\n".join(box.sim.start().texts)


def test_a_handover_that_somebody_broke(box: SimulatedProject) -> None:
    activate(box)
    dehydrate(box, json.dumps(CONTEXT))
    path = box.state_folder / ".engine/handovers.json"
    for text in (
        '{"waiting": [{"session": "X"}]}',
        '{"waiting": [{"session": "X", "context": {"summary": 7}}]}',
    ):
        path.write_text(text)
        assert "# Invariants" in "\n".join(box.sim.clear().texts), "the start goes on"
    assert len(box.errors()) == 2
    path.write_text("{half")
    box.sim.clear()
    checks = engine("doctor", "--project", str(box.project), expect=1)["data"]["checks"]
    assert any("put aside" in row["text"] and "handovers.json" in row["text"] for row in checks)
