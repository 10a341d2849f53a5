"""A new file is not written before the rules for it are in the window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from handbill.world import World
from simulated_project import SimulatedProject, nothing

pytestmark = pytest.mark.usefixtures("no_patience")
Make = Callable[..., SimulatedProject]
LONG = [f"line {number:03} of the rules of one {'x' * 60}" for number in range(130)]  # more than one message holds


def test_a_write_waits_for_the_rest_of_a_long_rule(make_project: Make) -> None:
    box = make_project()
    box.write("one/.directives/AGENTS.md", "\n".join(LONG))
    box.sim.start()
    box.sim.read("one/f.py")
    assert 0 < sum(line in box.seen() for line in LONG) < len(LONG)
    assert box.sim.write("one/new.py").denied
    assert [box.seen().count(line) for line in LONG] == [1] * len(LONG)
    assert not box.sim.write("one/new.py").denied
    box.lose_ledger()
    box.idle(2)
    assert [box.seen().count(line) for line in LONG] == [1] * len(LONG)


def test_parts_that_came_with_a_denial_and_with_results_count_as_there(make_project: Make) -> None:
    """Somebody asks for an audit: the ledger must name every denied call."""
    box = make_project()
    box.write("one/.directives/AGENTS.md", "\n".join(LONG * 30))
    box.sim.start()
    box.sim.prompt("go")
    assert [bool(box.sim.write("one/new.py").denied) for _ in range(4)] == [True, True, True, False]
    box.idle(2)
    audit = box.process(f"engine window {box.sim.session} --audit")
    assert audit.returncode == 0, audit.stdout


@pytest.mark.parametrize("how", ["blocked prompt", "failed hook"])
def test_a_write_waits_for_rules_that_were_sent_and_lost(make_project: Make, how: str) -> None:
    box = make_project()
    box.sim.start()
    box.sim.prompt("go")
    box.idle()
    if how == "blocked prompt":
        raw = {"hook_event_name": "UserPromptSubmit", "prompt": "see @one/f.py", "prompt_id": "blocked"}
        usual = {"session_id": box.sim.session, "transcript_path": box.sim.transcript, "cwd": box.sim.project}
        box.sim.hooks("UserPromptSubmit", {**usual, **raw})
        box.sim.prompt("go on")
        box.sim.answer("I write")
    else:
        usual_hooks, box.hooks = box.hooks, nothing
        box.sim.read("one/f.py")
        box.hooks = usual_hooks
        box.sim.fail("PostToolBatch")
    assert box.sim.write("one/new.py").denied
    box.idle(2)
    assert box.seen().count("rules of one") == 1


@pytest.mark.parametrize("sign", ["failure", "interruption", "queue"])
def test_a_held_write_leaves_what_was_missed_before_it_to_the_next_batch(make_project: Make, sign: str) -> None:
    box = make_project()
    sim, path = box.sim, box.sim.transcript
    sim.start()
    sim.prompt("go")
    box.idle()
    usual, box.hooks = box.hooks, nothing
    if sign != "queue":
        sim.read("two/f.py")
    box.hooks = usual
    if sign == "interruption":
        said = [{"type": "text", "text": "[Request interrupted by user for tool use]"}]
        sim._write(path, {"type": "user", "message": {"role": "user", "content": said}})
    if sign == "queue":
        sim._write(path, {"type": "queue-operation", "operation": "dequeue"})
        typed = {"role": "user", "content": "see @two/f.py"}
        sim._write(path, {"type": "user", "promptId": "queued", "message": typed})
    else:
        sim.fail("PostToolBatch")
    assert sim.write("one/new.py").denied
    box.idle(2)
    assert box.seen().count("rules of one") == box.seen().count("rules of two") == 1
    assert sign == "queue" or any("Handbill's PostToolBatch hook" in line for line in box.errors())


def test_a_write_without_a_transcript_does_not_wait(make_project: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    Path(box.sim.transcript).unlink()
    pauses: list[float] = []
    monkeypatch.setattr(World, "pause", lambda self, seconds: pauses.append(seconds))
    box.sim.send({"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_use_id": "t", "tool_input": {
        "file_path": str(box.project / "one/new.py"), "content": "x"}})  # fmt: skip
    assert not pauses


def test_parts_of_several_denials_are_found_again_without_the_ledger(make_project: Make) -> None:
    box = make_project()
    box.write("one/.directives/AGENTS.md", "\n".join(LONG * 30))
    box.sim.start()
    box.sim.prompt("go")
    denied = [bool(box.sim.write("one/new.py").denied) for _ in range(4)]
    assert sum(denied) > 1
    box.idle(3)
    box.lose_ledger()
    box.idle()
    audit = box.process(f"engine window {box.sim.session} --audit")
    assert audit.returncode == 0, audit.stdout
    box.idle(2)
    assert set(box.sim.copies().values()) == {1}


def test_a_held_write_leaves_a_queued_mention_to_the_next_batch(make_project: Make) -> None:
    """The rules that were sent before it are not confirmed yet, so the write itself looks at the transcript."""
    box = make_project()
    box.write("three/.directives/AGENTS.md", "rules of three\n")
    sim, path = box.sim, box.sim.transcript
    sim.start()
    sim.prompt("go")
    box.idle()
    sim.read("one/f.py")
    sim._write(path, {"type": "queue-operation", "operation": "dequeue"})
    sim._write(path, {"type": "user", "promptId": "queued", "message": {"role": "user", "content": "see @two/f.py"}})
    assert sim.write("three/new.py").denied
    box.idle(2)
    assert [box.seen().count(f"rules of {name}") for name in ("one", "two", "three")] == [1, 1, 1]
