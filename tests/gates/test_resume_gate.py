"""Work goes on after a compaction: what is noted before, handed over after, and said when it cannot be."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from typing import Any

import pytest

from box import Box
from handbill.store.files import FileStore

Make = Callable[..., Box]
HOME = "02-projects/24-login"
RESUME = f"{HOME}/01-planning/_resume.md"
HEAD = """---
project_id: 24-login
current_phase: execution
current_task: 15
next_action: execute-project
files_to_load:
  - 01-planning/overview.md
  - steps.md
  - 03-working/code.py
---
MARK-RESUME
"""


@pytest.fixture
def box(make_box: Make) -> Box:
    made = make_box()
    made.write(RESUME, HEAD)
    made.write(f"{HOME}/01-planning/overview.md", "MARK-OVERVIEW\n")
    made.write(f"{HOME}/01-planning/steps.md", "MARK-STEPS\n")
    made.write(f"{HOME}/03-working/code.py", "MARK-CODE = 1\n")
    made.write("02-projects/25-other/01-planning/_resume.md", HEAD.replace("MARK", "OTHER"))
    made.sim.start()
    return made


def seen(box: Box) -> str:
    return "\n".join(text for _, text in box.sim.views.get("main", []))


def note(box: Box) -> dict[str, Any]:
    found = FileStore(str(box.project / "sessions")).noted((box.sim.session, "main"), "resume")
    assert found is not None
    return found


def work(box: Box) -> None:
    box.sim.read(f"{HOME}/01-planning/steps.md")
    box.sim.batch(
        ("Edit", {"file_path": str(box.project / HOME / "03-working/code.py"), "old_string": "a", "new_string": "b"})
    )
    box.sim.batch(("Bash", {"command": "make"}))


def mode(box: Box) -> dict[str, Any]:
    lines = [line for line in seen(box).splitlines() if line.startswith("resume_mode: ")]
    assert len(lines) == 1, lines
    found: dict[str, Any] = json.loads(lines[0].partition(": ")[2])
    return found


def test_the_state_is_written_before_the_compaction(box: Box) -> None:
    work(box)
    box.sim.send({"hook_event_name": "PreCompact", "trigger": "auto"})
    state = note(box)
    assert (state["active_project_id"], state["confidence"], state["detection_method"]) == (
        "24-login",
        "high",
        "transcript",
    )
    assert [call["tool"] for call in state["last_tool_calls"]] == ["Read", "Edit"] and state["fallback_chain"] == [
        "transcript"
    ]
    assert state["created_at"].endswith("Z")


def test_the_work_is_handed_over_once(box: Box) -> None:
    work(box)
    box.sim.compact()
    text = seen(box)
    assert [text.count(mark) for mark in ("MARK-RESUME", "MARK-OVERVIEW", "MARK-STEPS", "MARK-CODE")] == [1, 1, 1, 1]
    found = mode(box)
    assert found["active"] and found["project_id"] == "24-login" and found["next_action"] == "execute-project"
    for fact in (
        "confidence: high",
        "phase execution",
        "task 15",
        "names 3 files",
        "1. What problem",
        "[ ] ",
        "skill execute-project",
    ):
        assert fact in text, fact
    assert note(box)["consumed"] == 1
    for _ in range(2):
        assert box.sim.batch(("Bash", {"command": "true"})).texts == []
    assert box.sim.start("resume").texts == []
    assert box.errors() == []


def test_each_compaction_hands_over_anew(box: Box) -> None:
    work(box)
    box.sim.compact()
    box.sim.batch(("Bash", {"command": "true"}))
    box.sim.compact()
    assert seen(box).count("MARK-OVERVIEW") == 1
    assert note(box)["detection_method"] == "cache" and mode(box)["confidence"] == "medium"
    box.sim.compact()
    assert seen(box).count("MARK-OVERVIEW") == 1


@pytest.mark.parametrize(
    "calls, project, confidence, method",
    [
        ([("Read", {"file_path": f"{HOME}/a.md"}), ("Read", {"file_path": f"{HOME}/b.md"})], "24-login", "high", "transcript"),
        ([("Read", {"file_path": f"{HOME}/a.md"})], "24-login", "medium", "transcript"),
        ([("Bash", {"command": f"ls {HOME}/01-planning"})], "24-login", "medium", "transcript"),
        ([("Skill", {"skill": "execute-project", "args": "24-login"})], "24-login", "medium", "transcript"),
        ([("Bash", {"command": "echo 24-login"})], "24-login", "low", "transcript"),
        ([("Read", {"file_path": f"{HOME}/a.md"})] * 2 + [("Read", {"file_path": "02-projects/25-other/x.md"})] * 2, "25-other", "high", "transcript"),
        ([("Read", {"file_path": "02-projects/gone/x.md"})] * 2, "25-other", "low", "filesystem"),
        ([("Bash", {"command": "true"})], "25-other", "low", "filesystem"),
    ],
    ids=["high", "one read", "reference", "skill", "mentioned", "the latest", "a project that is gone", "nothing"],
)  # fmt: skip
def test_which_project(box: Box, calls: list[Any], project: str, confidence: str, method: str) -> None:
    for number, name in enumerate(("24-login", "25-other")):
        os.utime(box.project / f"02-projects/{name}/01-planning/_resume.md", (1000 + number, 1000 + number))
    for name, values in calls:
        path = values.get("file_path")
        box.sim.batch((name, {**values, "file_path": str(box.project / path)} if path else values))
    box.sim.send({"hook_event_name": "PreCompact", "trigger": "auto"})
    state = note(box)
    assert (state["active_project_id"], state["confidence"], state["detection_method"]) == (project, confidence, method)


def test_a_resume_file_written_in_this_session_counts(box: Box) -> None:
    os.utime(box.project / "02-projects/25-other/01-planning/_resume.md", (1000, 1000))
    future = time.time() + 5
    os.utime(box.project / RESUME, (future, future))
    box.sim.batch(("Bash", {"command": "true"}))
    box.sim.compact()
    assert mode(box)["project_id"] == "24-login" and mode(box)["detection_method"] == "filesystem"


# --- the document's error cases, and worse -------------------------------------------------------


def left(box: Box, **changes: Any) -> None:
    """A state as somebody else may have left it."""
    state = {
        "active_project_id": "24-login", "confidence": "high", "project_root": str(box.project), "created": time.time(),
        **changes,
    }  # fmt: skip
    FileStore(str(box.project / "sessions")).note((box.sim.session, "main"), "resume", state)


def compact_without_note(box: Box) -> None:
    box.sim.send({"hook_event_name": "SessionStart", "source": "compact"})


@pytest.mark.parametrize(
    "changes, why",
    [
        ({"confidence": "low"}, "confidence is low"),
        ({"confidence": "certain"}, "invalid resume state"),
        ({"active_project_id": None}, "confidence is unknown"),
        ({"active_project_id": "../../etc"}, "no project's folder"),
        ({"active_project_id": "a/b"}, "no project's folder"),
        ({"active_project_id": ".."}, "no project's folder"),
        ({"active_project_id": 7}, "invalid resume state"),
        ({"active_project_id": "26-none"}, "is not there"),
        ({"project_root": "/elsewhere"}, "another project"),
        ({"created": time.time() + 86400}, "from the future"),
        ({"created": "now"}, "invalid resume state"),
    ],
)
def test_a_state_that_is_not_used(box: Box, changes: dict[str, Any], why: str) -> None:
    left(box, **changes)
    compact_without_note(box)
    found = mode(box)
    assert found["active"] is False and why in str(found.get("error") or found.get("reason"))
    assert "MARK-OVERVIEW" not in seen(box) and "# Invariants" in seen(box), "the start goes on"
    assert bool(box.errors()) is ("error" in found)


def test_no_state_at_all(box: Box) -> None:
    compact_without_note(box)
    assert mode(box) == {"active": False, "reason": "no resume state was written before the compaction"}
    assert box.errors() == []


def test_a_state_that_is_not_json(box: Box) -> None:
    (box.project / f"sessions/.windows/{box.sim.session}.resume").write_text("{half")
    compact_without_note(box)
    assert "not JSON" in mode(box)["error"] and any("not JSON" in line for line in box.errors())


@pytest.mark.parametrize(
    "text, why",
    [
        ("no frontmatter", "does not begin with `---`"),
        ("---\nfiles_to_load: [a.md]\n", "never closed"),
        ("---\nfiles_to_load:\n\t- a.md\n---\n", "line 3"),
        ("---\nfiles_to_load: a.md\n---\n", "files_to_load must be an array"),
        ("---\nnext_action: [a, b]\nfiles_to_load: [a.md]\n---\n", "next_action must be a string"),
        ("---\nnext_action: x\n---\n", "files_to_load"),
        ("---\nfiles_to_load: [a.md]\nfiles_to_load: [b.md]\n---\n", "stands there twice"),
        ("---\n- a\n- b\n---\n", "no list of"),
        ("---\nfiles_to_load: [a.md]\nx: " + "y" * 70_000 + "\n---\n", "more than the 65,536"),
        ("---\nfiles_to_load: [a.md]\nx: !!python/object/apply:os.system [ls]\n---\n", "line 3"),
        ("---\nx: " + "[" * 5000 + "\n---\n", ""),
        ("---\nwhen: 2026-13-45\nfiles_to_load: [a.md]\n---\n", "month"),
        ("---\nfiles_to_load: [7]\n---\n", "files_to_load[0] must be a string"),
    ],
)
def test_a_resume_file_that_cannot_be_used(box: Box, text: str, why: str) -> None:
    box.write(RESUME, text)
    work(box)
    box.sim.compact()
    found = mode(box)
    assert found["active"] is False and why in found["error"], found
    assert any(why in line for line in box.errors()) and "# Invariants" in seen(box)


def test_a_resume_file_of_100_megabytes(box: Box) -> None:
    with open(box.project / RESUME, "ab") as file:
        file.truncate(100 << 20)
    work(box)
    box.sim.compact()
    assert "104,857,600 bytes" in mode(box)["error"]


@pytest.mark.parametrize(
    "head",
    [
        HEAD.replace("\n", "\r\n"),
        "\ufeff" + HEAD,
        HEAD.replace("next_action: execute-project", "next_action: &next execute-project\nlast: *next"),
    ],
    ids=["CRLF", "BOM", "anchors"],
)
def test_heads_that_are_odd_but_right(box: Box, head: str) -> None:
    (box.project / RESUME).write_bytes(head.encode())
    work(box)
    box.sim.compact()
    assert mode(box)["active"] and seen(box).count("MARK-OVERVIEW") == 1


def test_files_that_lead_out_are_refused_logged_and_shown(box: Box) -> None:
    secret = box.project.parent / "secret.txt"
    secret.write_text("SECRET")
    (box.project / HOME / "link.md").symlink_to(secret)
    names = ["../../etc/passwd", "/etc/shadow", "../../../secret.txt", "link.md", "~/x", "a\\u0000b"]
    quoted = ", ".join(f'"{name}"' for name in names)
    box.write(RESUME, f"---\nfiles_to_load: [{quoted}, 01-planning/overview.md]\n---\n")
    work(box)
    box.sim.compact()
    text = seen(box)
    assert "SECRET" not in text and "root:" not in text and text.count("MARK-OVERVIEW") == 1
    for name in ("/etc/shadow", "../../../secret.txt", "link.md"):
        assert any(name in line and "leads out" in line for line in text.splitlines()), name
        assert any(name in line for line in box.errors()), name
    assert mode(box)["active"]


def test_missing_files_are_named(box: Box) -> None:
    (box.project / HOME / "01-planning/overview.md").unlink()
    work(box)
    box.sim.compact()
    assert "overview.md is gone" in seen(box) and any("overview.md is gone" in line for line in box.errors())
    assert mode(box)["problems"] == [f"{box.project}/{HOME}/01-planning/overview.md is gone"]


def test_an_unexpected_fault_is_said_and_nothing_else_is_lost(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    from handbill.handlers import resume

    def fails(*_: object) -> None:
        raise ZeroDivisionError("boom")

    monkeypatch.setattr(resume, "resumed", fails)
    work(box)
    box.sim.compact()
    assert "ZeroDivisionError: boom" in mode(box)["error"] and any("boom" in line for line in box.errors())
    assert "# Invariants" in seen(box)


def test_a_large_handover_arrives_whole_or_is_listed(box: Box) -> None:
    sizes = {"a.md": 30_000, "b.md": 30_000, "c.md": 9_000}
    for name, size in sizes.items():
        box.write(f"{HOME}/{name}", f"BEGIN-{name}\n" + "word " * (size // 5) + f"\nEND-{name}\n")
    box.write(RESUME, "---\nfiles_to_load: [a.md, b.md, c.md]\n---\n")
    work(box)
    box.sim.compact()
    for _ in range(8):
        box.sim.batch(("Bash", {"command": "true"}))
    text = seen(box)
    for name in sizes:
        given = [text.count(f"{mark}-{name}") for mark in ("BEGIN", "END")]
        listed = any(name in line and "tokens)" in line for line in text.splitlines())
        assert given == ([0, 0] if listed else [1, 1]), name
    assert text.count("BEGIN-a.md") == 1


def test_a_project_without_that_layout_hears_nothing(make_box: Make) -> None:
    box = make_box()
    box.sim.start()
    box.sim.batch(("Bash", {"command": "true"}))
    box.sim.compact()
    assert "resume_mode" not in seen(box)


def test_another_layout(make_box: Make) -> None:
    box = make_box()
    box.write(".handbill.toml", '[resume]\nlayout = "work/{project}/RESUME.md"\nwording = "mandatory"\n')
    box.write("work/x/RESUME.md", "---\nfiles_to_load: [notes.md]\nvalidation_questions: [Why at all?]\n---\n")
    box.write("work/x/notes.md", "MARK-NOTES\n")
    box.sim.start()
    box.sim.read("work/x/notes.md", "work/x/RESUME.md")
    box.sim.batch(("Bash", {"command": "true"}))
    box.sim.compact()
    text = seen(box)
    assert text.count("MARK-NOTES") == 1 and "1. Why at all?" in text and "🚨🚨🚨 CATASTROPHIC" in text


def test_resumed_by_the_user_without_a_compaction(box: Box) -> None:
    work(box)
    before = seen(box)
    box.sim.start("resume")
    assert seen(box) == before


def test_the_client_died_between_the_two(box: Box) -> None:
    """PreCompact came, the start after it did not: the resume hands over."""
    work(box)
    box.sim.send({"hook_event_name": "PreCompact", "trigger": "auto"})
    box.sim.start("resume")
    assert mode(box)["project_id"] == "24-login"
    box.sim.start("resume")
    assert seen(box).count("resume_mode") == 1
