"""What one event finds out and cannot deal with itself: a later event must."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable

import pytest
from test_pipeline_undone import begin, drop_prompt

from handbill.library import handover
from handbill.store import disk
from handbill.store.files import FileStore
from simulated_project import SimulatedProject, nothing

pytestmark = pytest.mark.usefixtures("no_patience")
Make = Callable[..., SimulatedProject]
RULE = "one/.directives/AGENTS.md"
LINES = [f"line {number:04} of one {'x' * 60}" for number in range(180)]  # two parts; a client shows it whole


def read_rule(box: SimulatedProject) -> None:
    """The agent reads the rule itself, and the client records its text."""
    shown, usual = box.shown(RULE), box.sim._write

    def write(path: str, row: dict[str, object]) -> str:
        is_result = row.get("type") == "user" and "tool_result" in json.dumps(row.get("message"))
        return usual(path, {**row, "toolUseResult": shown} if is_result else row)

    box.sim._write = write  # type: ignore[method-assign]
    box.sim.batch(("Read", {"file_path": str(box.project / RULE)}, "1\trules of one"))
    box.sim._write = usual  # type: ignore[method-assign]


# --- a call that is held finds a rewind -------------------------------------------------------------


@pytest.mark.parametrize("is_held", [False, True])
@pytest.mark.parametrize("changes", ["before the mention", "after the rewind"])
def test_a_rewind_takes_the_newer_state_of_a_rule(make_project: Make, changes: str, is_held: bool) -> None:
    """The held call compares the ledger with the record; only the next batch can compare it with the files."""
    box = make_project()
    begin(box, "one")
    box.sim.read("one/f.py")
    box.idle()
    if changes == "before the mention":
        box.write(RULE, "newer rules\n")
    undone = box.sim.prompt(f"look at @{RULE}")
    box.attach(RULE)
    box.idle()
    box.sim.rewind(undone)
    box.sim.prompt("three")
    if is_held:
        assert box.sim.write("two/new.py").denied
    box.idle(3)
    if changes == "after the rewind":
        box.write(RULE, "newer rules\n")
    box.sim.prompt("next")
    box.sim.read("one/f.py")
    box.idle(3)
    assert box.seen().count("newer rules") == 1


# --- a start that fails after it has taken a handover ------------------------------------------------


def leave_handover(box: SimulatedProject) -> FileStore:
    store = FileStore(str(box.state_folder))
    said = {
        "summary": "SUMMARY",
        "lastAction": "x",
        "nextSteps": ["y"],
        "handoverInstructions": "z",
        "requiredFiles": [],
    }
    store.leave_handover({"session": "work", "by": "other", "context": said})
    return store


@pytest.mark.parametrize("how", ["works", "its answer is lost", "the ledger is locked", "the handler fails"])
def test_a_handover_arrives_although_the_start_fails(
    make_project: Make, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    box = make_project()
    store = leave_handover(box)
    lock = box.state_folder / ".windows" / f"{box.sim.session}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)
    with monkeypatch.context() as broken:
        if how == "its answer is lost":
            box.drop_next()
        elif how == "the ledger is locked":
            broken.setattr(disk, "PATIENCE", 0.05)
            fcntl.flock(handle, fcntl.LOCK_EX)
        elif how == "the handler fails":
            broken.setattr(handover, "set_down", lambda *_: 1 / 0)
        box.sim.start()
    os.close(handle)
    for _ in range(2):
        box.sim.prompt("go")
        box.idle(4)
    assert box.seen().count("SUMMARY") == 1
    store.note_missed((box.sim.session, "main"))  # another failure: it was delivered, and is not asked for again
    box.idle(2)
    box.sim.clear()
    box.idle(2)
    assert box.seen().count("SUMMARY") == 0


def test_a_handover_that_cannot_be_used_is_reported_once(make_project: Make) -> None:
    box = make_project()
    store = FileStore(str(box.state_folder))
    store.leave_handover({"session": "work", "by": "other", "context": {"summary": 5}})
    box.sim.start()
    for _ in range(3):
        store.note_missed((box.sim.session, "main"))
        box.idle()
    assert len([line for line in box.errors() if "work" in line]) == 1


# --- a prompt that mentions a rule, and is dropped ---------------------------------------------------


@pytest.mark.parametrize("first", ["a blocked prompt", "a lost answer"])
@pytest.mark.parametrize("second", ["go", f"@{RULE}"])
def test_a_part_that_was_lost_before_the_mention(make_project: Make, first: str, second: str) -> None:
    """The mention replaces the record of our delivery; its claim must still be judged."""
    box = make_project()
    box.write(RULE, "\n".join(LINES))
    begin(box, "one")
    box.idle()
    if first == "a blocked prompt":
        drop_prompt(box, "@one/f.py")
    else:
        box.drop_next()
        box.sim.read("one/f.py")
    drop_prompt(box, second)
    box.sim.prompt("two")
    box.idle(4)
    box.sim.read("one/f.py")
    box.idle(4)
    assert [box.seen().count(line) for line in LINES] == [1] * len(LINES)
    assert set(box.state()["files"][str(box.project / RULE)]["parts"]) == {"k"}


@pytest.mark.parametrize("text", ["go", f"@{RULE}"])
def test_a_batch_that_was_missed_before_the_mention(make_project: Make, text: str) -> None:
    box = make_project()
    begin(box, "one")
    box.idle()
    usual, box.hooks = box.hooks, nothing
    box.sim.read("one/f.py")
    box.hooks = usual
    box.sim.fail("PostToolBatch")
    box.sim.answer("done")
    drop_prompt(box, text)
    box.sim.prompt("two")
    box.idle(3)
    assert box.seen().count("rules of one") == 1


def join_turn(box: SimulatedProject, text: str, mode: str = "prompt") -> None:
    """A prompt that waited in the queue: it has no event, and no row of its own. Its files are not attached."""
    queued = {"type": "queued_command", "prompt": text, "commandMode": mode, "origin": {"kind": "human"}}
    box.sim._write(box.sim.transcript, {"type": "attachment", "attachment": queued})


@pytest.mark.parametrize("text, copies", [("look at @one/f.py", 1), (f"look at @{RULE}", 1), ("look at one", 0)])
def test_a_queued_prompt_that_joins_the_running_turn(make_project: Make, text: str, copies: int) -> None:
    box = make_project()
    begin(box, "go")
    join_turn(box, text)
    box.idle(2)
    assert box.seen().count("rules of one") == copies


def test_a_rule_that_changed_after_an_earlier_prompt_showed_it(make_project: Make) -> None:
    """Its update went out with a prompt that another hook blocked. The earlier mention is about the old text."""
    box = make_project()
    begin(box, "go")
    box.sim.prompt(f"see @{RULE}")
    box.attach(RULE)
    box.idle()
    box.write(RULE, "newer rules\n")
    drop_prompt(box, "see @two/.directives/AGENTS.md")
    for _ in range(2):
        box.sim.prompt("next")
        box.sim.read("one/f.py")
        box.idle(3)
    assert box.seen().count("newer rules") == 1


@pytest.mark.parametrize("is_held", [False, True])
@pytest.mark.parametrize("size", [5, 300_000])
def test_a_dropped_mention_that_the_next_prompt_does_not_notice(make_project: Make, size: int, is_held: bool) -> None:
    """The hook of that prompt did not run, either."""
    box = make_project()
    box.write("three/.directives/AGENTS.md", "rules of three\n")
    box.write("three/f.py", "x")
    begin(box, "one")
    usual, box.hooks = box.hooks, nothing
    box.sim.read("one/f.py")
    box.hooks = usual
    box.sim.fail("PostToolBatch")
    box.sim.answer("x" * size)
    drop_prompt(box, f"@{RULE} @three/f.py")
    box.hooks = nothing
    box.sim.prompt("two")
    box.hooks = usual
    box.sim.answer("y")
    if is_held:
        assert "rules of two" in box.sim.write("two/new.py").denied
    box.idle(4)
    assert box.seen().count("rules of one") == 1


def test_a_mention_long_ago_that_no_hook_has_seen(make_project: Make) -> None:
    box = make_project()
    begin(box, "one")
    usual, box.hooks = box.hooks, nothing
    box.sim.prompt("look at @one/f.py")
    box.hooks = usual
    box.sim.answer("x" * 600_000)
    box.lose_ledger()
    box.idle(2)
    assert box.seen().count("rules of one") == 1


# --- a rule that the agent had read, and that is delivered in parts now -------------------------------


@pytest.mark.parametrize("is_read", [False, True])
def test_parts_of_an_updated_rule_and_a_resume(make_project: Make, is_read: bool) -> None:
    """What the agent read is the old text: after the resume, only the other part is missing."""
    box = make_project()
    begin(box, "one")
    if is_read:
        read_rule(box)
    else:
        box.sim.read("one/f.py")
    box.idle(2)
    box.write(RULE, "\n".join(LINES))
    assert len(box.sim.prompt("two").titles) == 1
    box.sim.answer("done")
    box.environ["CLAUDE_PID"] = "4194300"
    box.sim.start("resume")
    box.sim.prompt("three")
    box.idle(4)
    assert [box.seen().count(line) for line in LINES] == [1] * len(LINES)
