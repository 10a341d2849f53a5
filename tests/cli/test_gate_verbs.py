"""The commands around the gates, as processes of their own: what they print, refuse and leave behind."""

from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import engine, run

from simulated_project import SimulatedProject

Make = Callable[..., SimulatedProject]


@pytest.fixture
def box(make_project: Make) -> SimulatedProject:
    return make_project()


def rows(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {gate["gate"]: gate for gate in found["data"]["gates"]}


def test_gate_status_of_each_gate(box: SimulatedProject) -> None:
    box.write(".context/TASKS.md", "x\n")
    box.write(".context/DECISIONS.md", "y " * 40_000)
    box.write("handler-state.md", "state\n")
    box.skill("handler")
    box.sim.start()
    box.sim.skill("handler")
    found = rows(engine("gate", "status", cwd=box.project))
    assert [one["state"] for one in found["load"]["files"]] == ["in the window", "not read"]
    assert found["load"]["state"] == "1 of 2 files not read yet"
    assert found["compaction"]["role"] == "handler" and "skill handler" in found["compaction"]["setting"]
    assert found["resume"]["state"] == "nothing was resumed here"
    text = run("gate", "status", cwd=box.project).stdout
    assert ".context/DECISIONS.md" in text and "next: engine window" in text
    assert engine("window", cwd=box.project)["data"]["context"][1]["state"] == "not read"
    assert "1 of 2 files in the window or read" in run("window", cwd=box.project).stdout


def test_gate_status_after_letting_go_and_after_a_failed_resume(box: SimulatedProject) -> None:
    box.write(".handbill.toml", '[load_gate]\nmode = "require"\ndenials = 1\n')
    box.write(".context/TASKS.md", "x\n")
    box.write("02-projects/p/01-planning/_resume.md", "no head")
    box.sim.held_tools = ""
    box.sim.start()
    box.sim.read("02-projects/p/a.md", "02-projects/p/b.md")
    box.sim.batch(("Bash", {"command": "x"}))
    assert "after 1 held message;" in rows(engine("gate", "status", cwd=box.project))["load"]["state"]
    box.sim.compact()
    found = rows(engine("gate", "status", cwd=box.project))["resume"]
    assert "not resumed" in found["state"] and found["resume_mode"]["active"] is False
    checks = engine("doctor", "--project", str(box.project), expect=1)["data"]["checks"]
    assert any(row["check"] == "resume" and "does not begin" in row["text"] for row in checks)
    after = run("doctor", "--forget", "--project", str(box.project), "--json").stdout
    assert not [row for row in json.loads(after)["data"]["checks"] if row["check"] == "resume"], "dealt with"


def test_gate_status_tells_what_the_window_was(box: SimulatedProject) -> None:
    """Not what the person's own shell would make of it."""
    box.own_settings('[roles.lead]\nenv = ["TEAM_ROLE=lead"]\ntargets = ["lead.md"]\nread = ["board.md", "other.md"]\n')
    for name in ("lead", "board", "other"):
        box.write(f"{name}.md", f"{name}\n")
    box.environ["TEAM_ROLE"] = "lead"
    box.sim.held_tools = ""
    box.sim.start()
    box.idle()
    box.sim.compact()

    def status() -> tuple[str, str, list[str]]:
        found = rows(engine("gate", "status", f"{box.sim.session}.main", cwd=box.project))["compaction"]
        return found["setting"], found["state"], [one["state"] for one in found["files"]]

    assert status() == ("lead ($TEAM_ROLE)", "holds the next message", ["in the window", "not read", "not read"])
    box.sim.batch(("Bash", {"command": "make"}))
    box.sim.read("board.md")
    said = "the agent got the list when its first message was held"
    assert status() == ("lead ($TEAM_ROLE)", said, ["in the window", "read", "not read"])
    why = engine("why", "other.md", cwd=box.project, expect=1)["data"]["why_not"]
    assert why == ["after a compaction, the agent in the role lead had to read it itself: not read"]


def test_context_packet(box: SimulatedProject) -> None:
    long = "".join(f"## S{number}\n{'word ' * 200}\n\n" for number in range(10))
    box.write(".context/CONSTITUTION.md", long)
    box.write(".context/TASKS.md", long)
    data = engine("context", "--budget", "1000", cwd=box.project)["data"]
    assert data["tokens"] <= 1000 and data["left"] and data["taken"][0]["file"] == ".context/CONSTITUTION.md"
    assert "--- left out ---" in run("context", "--budget", "1000", cwd=box.project).stdout
    (box.project / ".context/TASKS.md").write_bytes(b"\0")
    assert "is binary" in engine("context", cwd=box.project)["warnings"][0]
    engine("context", "--budget", "0", cwd=box.project, expect=1)


def test_context_without_a_folder(box: SimulatedProject) -> None:
    error = engine("context", cwd=box.project, expect=1)["error"]
    assert ".context" in error["message"] and "CONSTITUTION.md" in error["hint"]


def test_role_set_and_clear(box: SimulatedProject) -> None:
    box.write("lead.md", "MARK-LEAD\n")
    box.write(".handbill.toml", '[roles.lead]\ntargets = ["lead.md"]\n')
    box.sim.start()
    assert "leed" in engine("role", "set", "leed", cwd=box.project, expect=1)["error"]["message"]
    engine("role", "set", "lead", cwd=box.project)
    assert rows(engine("gate", "status", cwd=box.project))["compaction"]["role"] == "lead"
    engine("role", "clear", cwd=box.project)
    assert rows(engine("gate", "status", cwd=box.project))["compaction"]["role"] == "regular"
    engine("role", "set", "worker", "--dispatch", "none.md", cwd=box.project, expect=1)
    assert engine("role", "set", "worker", cwd=box.project)["warnings"] == [], "a declared role: every call may be held"
    assert {"role": "lead", "known_by": "engine role set", "files": "lead.md"} in engine(
        "role", "list", cwd=box.project
    )["data"]["roles"]


def test_a_dispatch_from_beginning_to_end(tmp_path: Path) -> None:
    path = str(tmp_path / "t" / "login.md")
    engine("dispatch", "new", path, "--task", "Build it")
    assert "already exists" in engine("dispatch", "new", path, "--task", "x", expect=1)["error"]["message"]
    os.chmod(path, 0o640)
    engine("dispatch", "progress", path, "form\nis done", "--status", "in-progress")
    engine("dispatch", "progress", path, "tests pass")
    data = engine("dispatch", "check", path)["data"]
    assert data["status"] == "in-progress" and [line.split(" ", 2)[2] for line in data["progress"]] == [
        "form is done",
        "tests pass",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "handbill.cli.main", "dispatch", "finish", path], input="It works.\n", text=True, capture_output=True, check=True
    )  # fmt: skip
    assert "done" in done.stdout and "## Result\nIt works." in Path(path).read_text()
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o640


def test_removed_progress_is_refused_by_every_verb(tmp_path: Path) -> None:
    path = tmp_path / "login.md"
    engine("dispatch", "new", str(path), "--task", "Build it")
    engine("dispatch", "progress", str(path), "form")
    kept = path.read_text()
    path.write_text("\n".join(line for line in kept.splitlines() if "form" not in line) + "\n")
    for words in (("check",), ("progress",)):
        more = ("more",) if words == ("progress",) else ()
        error = engine("dispatch", *words, str(path), *more, expect=1)["error"]
        assert error["code"] == "malformed-dispatch" and "progress was removed" in error["message"]
    path.write_text(kept)
    engine("dispatch", "check", str(path))


def test_malformed_dispatches_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.md"
    for text in ("", "# A\n", "\0", "# A\nStatus: x\n## Task\nx\n## Progress\n"):
        path.write_text(text)
        assert engine("dispatch", "progress", str(path), "x", expect=1)["error"]["code"] == "malformed-dispatch"
        assert path.read_text() == text
    path.write_bytes(b"\xff\xfe")
    engine("dispatch", "check", str(path), expect=1)
    engine("dispatch", "check", str(tmp_path / "none.md"), expect=1)
    engine("dispatch", "check", str(tmp_path), expect=1)


def test_sixteen_notes_at_once_are_all_kept(tmp_path: Path) -> None:
    path = str(tmp_path / "login.md")
    engine("dispatch", "new", path, "--task", "Build it")
    command = [sys.executable, "-m", "handbill.cli.main", "dispatch", "progress", path]
    started = [subprocess.Popen([*command, f"step-{number}"], stdout=subprocess.DEVNULL) for number in range(16)]
    assert [process.wait() for process in started] == [0] * 16
    text = Path(path).read_text()
    assert all(text.count(f"step-{number}\n") == 1 for number in range(16))


def test_a_worker_gets_what_it_needs_and_nothing_is_set_for_all(box: SimulatedProject, tmp_path: Path) -> None:
    dispatch = tmp_path / "tickets" / "login.md"
    before = sorted(path for path in box.project.rglob("*") if "sessions" not in path.parts)
    data = engine("worker", "launch", "w1", str(box.project), "Build 'it'", str(dispatch), cwd=tmp_path)["data"]
    assert data["made"] and "Build 'it'" in dispatch.read_text()
    words = shlex.split(data["command"].partition("&& ")[2])
    assert words == data["words"] and words[words.index("--session-id") + 1] == data["session"]
    assert words[words.index("--add-dir") + 1] == str(dispatch.parent) and words[-1].startswith("Build 'it'")
    settings = Path(data["settings"])
    assert {"Stop", "PreToolUse", "SessionStart"} <= set(json.loads(settings.read_text())["hooks"])
    assert stat.S_IMODE(settings.stat().st_mode) == 0o600
    assert sorted(path for path in box.project.rglob("*") if "sessions" not in path.parts) == before
    other = engine(
        "worker", "launch", "w2", str(box.project), "Other", str(tmp_path / "contracts" / "o.md"), cwd=tmp_path
    )["data"]
    assert other["session"] != data["session"]


def test_a_worker_in_a_repository_that_has_hooks(box: SimulatedProject, tmp_path: Path) -> None:
    engine("install", "--project", str(box.project), "--python", sys.executable)
    data = engine("worker", "launch", "w", str(box.project), "x", str(box.project / "d.md"))["data"]
    assert set(json.loads(Path(data["settings"]).read_text())["hooks"]) == {"PreToolUse", "Stop"}
    assert "--add-dir" not in data["words"]
    box.write(".handbill.toml", '[roles.lead]\ntargets = ["x.md"]\n')
    engine("install", "--project", str(box.project), "--python", sys.executable)
    data = engine("worker", "launch", "w", str(box.project), "x", str(box.project / "d.md"))["data"]
    settings = json.loads(Path(data["settings"]).read_text())
    assert settings == {"env": {"HANDBILL_LAUNCHED": data["session"]}, "hooks": {}}


def test_a_worker_is_refused_without_repository_or_contract(box: SimulatedProject, tmp_path: Path) -> None:
    engine("worker", "launch", "w", str(tmp_path / "none"), "x", "d.md", expect=1)
    (tmp_path / "bad.md").write_text("nothing")
    assert (
        "no title"
        in engine("worker", "launch", "w", str(box.project), "x", str(tmp_path / "bad.md"), expect=1)["error"][
            "message"
        ]
    )


def test_the_context_that_comes_with_the_next_prompt(box: SimulatedProject) -> None:
    """A compaction by hand: what the gate gave is in doubt, and it has files to give."""
    box.environ["CLAUDE_CODE_ENTRYPOINT"] = "cli"
    box.write(".context/CONSTITUTION.md", "context\n")
    box.sim.start()
    box.sim.prompt("go")
    box.sim.send({"hook_event_name": "PreCompact", "trigger": "manual"})
    box.sim.send({"hook_event_name": "SessionStart", "source": "compact"})
    load = rows(engine("gate", "status", cwd=box.project))["load"]
    assert load["state"] == "1 file due with the next prompt or session start"


def test_doctor_compares_what_is_registered_with_what_the_gates_need(box: SimulatedProject) -> None:
    def held() -> list[tuple[str, str]]:
        rows = json.loads(run("doctor", "--project", str(box.project), "--json").stdout)["data"]["checks"]
        return [(row["state"], row["fix"]) for row in rows if row["check"] == "held calls"]

    engine("install", "--project", str(box.project), "--python", sys.executable)
    assert held() == []
    box.write(".handbill.toml", '[load_gate]\nmode = "require"\n')
    assert held() == [("bad", "engine install")], "not every tool, and no Stop: one fix"
    engine("install", "--project", str(box.project), "--python", sys.executable)
    assert held() == []
    box.write(".handbill.toml", "")
    assert held() == [("note", "engine install")], "more than needed is no fault"
