"""Work goes on after a compaction: what is noted before, and handed over after."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest
from unfinished_work import HOME, RESUME, Make, mode, note, prepared, work

from simulated_project import SimulatedProject


@pytest.fixture
def box(make_project: Make) -> SimulatedProject:
    return prepared(make_project())


def test_the_state_is_written_before_the_compaction(box: SimulatedProject) -> None:
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


def test_the_work_is_handed_over_once(box: SimulatedProject) -> None:
    work(box)
    box.sim.compact()
    marks = ("MARK-RESUME", "MARK-OVERVIEW", "MARK-STEPS", "MARK-CODE")
    assert [box.seen().count(mark) for mark in marks] == [1, 1, 0, 0], "the client may restore what the agent had read"
    box.idle()
    text = box.seen()
    assert [text.count(mark) for mark in marks] == [1, 1, 1, 1], "and it did not"
    found = mode(box)
    assert found["active"] and found["project_id"] == "24-login" and found["next_action"] == "execute-project"
    for fact in (
        "confidence: high",
        "phase execution",
        "task 15",
        "4 of 4 files that you need are",
        "1. What problem are we solving? (overview.md)",
        "2. What is the next task? (steps.md)",
        "[ ] ",
        "Next step: execute-project.",
    ):
        assert fact in text, fact
    assert note(box)["consumed"] == 1
    for _ in range(2):
        assert box.idle().texts == []
    assert box.sim.start("resume").texts == []
    assert box.errors() == []


def test_each_compaction_hands_over_anew(box: SimulatedProject) -> None:
    work(box)
    box.sim.compact()
    box.idle()
    box.sim.compact()
    assert box.seen().count("MARK-OVERVIEW") == 1
    assert note(box)["detection_method"] == "cache" and mode(box)["confidence"] == "medium"
    box.sim.compact()
    assert box.seen().count("MARK-OVERVIEW") == 1


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
def test_which_project(box: SimulatedProject, calls: list[Any], project: str, confidence: str, method: str) -> None:
    for number, name in enumerate(("24-login", "25-other")):
        os.utime(box.project / f"02-projects/{name}/01-planning/_resume.md", (1000 + number, 1000 + number))
    for name, values in calls:
        path = values.get("file_path")
        box.sim.batch((name, {**values, "file_path": str(box.project / path)} if path else values))
    box.sim.send({"hook_event_name": "PreCompact", "trigger": "auto"})
    state = note(box)
    assert (state["active_project_id"], state["confidence"], state["detection_method"]) == (project, confidence, method)


def test_a_resume_file_written_in_this_session_counts(box: SimulatedProject) -> None:
    os.utime(box.project / "02-projects/25-other/01-planning/_resume.md", (1000, 1000))
    future = time.time() + 5
    os.utime(box.project / RESUME, (future, future))
    box.idle()
    box.sim.compact()
    assert mode(box)["project_id"] == "24-login" and mode(box)["detection_method"] == "filesystem"


def test_a_large_handover_arrives_whole_or_is_listed(box: SimulatedProject) -> None:
    sizes = {"a.md": 30_000, "b.md": 30_000, "c.md": 9_000}
    for name, size in sizes.items():
        box.write(f"{HOME}/{name}", f"BEGIN-{name}\n" + "word " * (size // 5) + f"\nEND-{name}\n")
    box.write(RESUME, "---\nfiles_to_load: [a.md, b.md, c.md]\n---\n")
    work(box)
    box.sim.compact()
    box.idle(8)
    text = box.seen()
    for name in sizes:
        given = [text.count(f"{mark}-{name}") for mark in ("BEGIN", "END")]
        listed = any(name in line and "tokens)" in line for line in text.splitlines())
        assert given == ([0, 0] if listed else [1, 1]), name
    assert text.count("BEGIN-a.md") == 1


def test_a_project_without_that_layout_hears_nothing(make_project: Make) -> None:
    box = make_project()
    box.sim.start()
    box.idle()
    box.sim.compact()
    assert "resume_mode" not in box.seen()


def test_another_layout(make_project: Make) -> None:
    box = make_project()
    box.write(".handbill.toml", '[resume]\nlayout = "work/{project}/RESUME.md"\nwording = "mandatory"\n')
    box.write("work/x/RESUME.md", "---\nfiles_to_load: [notes.md]\nvalidation_questions: [Why at all?]\n---\n")
    box.write("work/x/notes.md", "MARK-NOTES\n")
    box.sim.start()
    box.sim.read("work/x/notes.md", "work/x/RESUME.md")
    box.idle()
    box.sim.compact()
    box.idle()
    text = box.seen()
    assert text.count("MARK-NOTES") == 1 and "1. Why at all?" in text and "🚨🚨🚨 CATASTROPHIC" in text


def test_resumed_by_the_user_without_a_compaction(box: SimulatedProject) -> None:
    work(box)
    before = box.seen()
    box.sim.start("resume")
    assert box.seen() == before


def test_the_client_died_between_the_two(box: SimulatedProject) -> None:
    """The compaction happened, the start after it never reached us: the resume hands over."""
    work(box)
    box.sim.send({"hook_event_name": "PreCompact", "trigger": "auto"})
    box.sim._boundary(box.sim.transcript)
    box.sim.start("resume")
    assert mode(box)["project_id"] == "24-login"
    box.sim.start("resume")
    assert box.seen().count("resume_mode") == 1


def test_a_compaction_that_was_cancelled(box: SimulatedProject) -> None:
    work(box)
    box.sim.send({"hook_event_name": "PreCompact", "trigger": "manual"})
    box.sim.start("resume")
    assert "resume_mode" not in box.seen(), "nothing was compacted: all of it is still there"
