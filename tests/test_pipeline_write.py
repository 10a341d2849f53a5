"""A new file is not written before the rules for it are in the window."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from box import Box, nothing

pytestmark = pytest.mark.usefixtures("no_patience")
Make = Callable[..., Box]
LONG = [f"line {number:03} of the rules of one {'x' * 60}" for number in range(130)]  # more than one message holds


def test_a_write_waits_for_the_rest_of_a_long_rule(make_box: Make) -> None:
    box = make_box()
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


def test_parts_that_came_with_a_denial_and_with_results_count_as_there(make_box: Make) -> None:
    """Somebody asks for an audit: the ledger must name every denied call."""
    box = make_box()
    box.write("one/.directives/AGENTS.md", "\n".join(LONG * 30))
    box.sim.start()
    box.sim.prompt("go")
    assert [bool(box.sim.write("one/new.py").denied) for _ in range(4)] == [True, True, True, False]
    box.idle(2)
    audit = box.process(f"engine window {box.sim.session} --audit")
    assert audit.returncode == 0, audit.stdout


@pytest.mark.parametrize("how", ["blocked prompt", "failed hook"])
def test_a_write_waits_for_rules_that_were_sent_and_lost(make_box: Make, how: str) -> None:
    box = make_box()
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
