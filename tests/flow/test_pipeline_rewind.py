"""Rewinds, which no hook hears of. On the real client: e2e/test_rewind_live."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from handbill.lab.simulator import Moment
from simulated_project import SimulatedProject, assert_once, nothing

Make = Callable[..., SimulatedProject]

pytestmark = pytest.mark.usefixtures("no_patience")


def second_prompt(box: SimulatedProject) -> Moment:
    """A session until the prompt that is going to be undone."""
    box.sim.start()
    box.sim.prompt("one")
    box.idle()
    return box.sim.prompt("two")


def test_a_batch_whose_hook_hangs_is_undone(make_project: Make) -> None:
    box = make_project()
    undone = second_prompt(box)
    box.drop_next()
    box.sim.read("one/f.py")
    box.sim.rewind(undone)
    box.sim.prompt("three")
    box.idle()
    box.sim.read("one/f.py")
    box.idle()
    assert_once(box, "main", "one")


def test_a_page_that_is_named_by_one_that_is_still_there(make_project: Make) -> None:
    box = make_project()
    box.page("CMD_Y", "the text of Y\n")
    box.write("one/.directives/AGENTS.md", "rules of one: do §CMD_Y\n")
    box.sim.start()
    box.sim.prompt("one")
    box.sim.read("one/f.py")
    undone = box.sim.prompt("two")  # brings Y
    assert any(path.endswith("CMD_Y.md") for path, *_ in undone.titles)
    box.idle()
    box.sim.rewind(undone)
    box.sim.prompt("three")
    box.idle(2)
    assert [count for (path, *_), count in box.sim.copies().items() if path.endswith("CMD_Y.md")] == [1]


def test_a_mention_after_a_rewind_in_a_window_that_was_adopted(make_project: Make) -> None:
    """A mention has no call, and neither has a file that was found in the transcript: they are not one moment."""
    box = make_project()
    undone = second_prompt(box)
    box.sim.read("one/f.py")
    box.idle()
    box.lose_ledger()
    box.idle()
    box.sim.rewind(undone)
    box.sim.prompt("three")
    box.sim.answer("yes")
    box.sim.prompt("four: @two/f.py")
    box.sim.read("one/f.py")
    box.idle()
    assert_once(box, "main", "one", "two")


@pytest.mark.parametrize("case", ["queued", "interrupted", "made good"])
def test_rules_of_a_call_before_the_rewind_that_came_after_it(make_project: Make, case: str) -> None:
    box = make_project()
    lines = [f"line {number:04} of one {'x' * 60}" for number in range(400 if case == "queued" else 1)]
    box.write("one/.directives/AGENTS.md", "\n".join(lines))
    box.sim.start()
    box.sim.prompt("one")
    usual = box.hooks
    if case == "made good":
        box.hooks = nothing
    box.sim.read("one/f.py")
    box.hooks = usual
    if case == "made good":
        box.sim.fail("PostToolBatch")
    undone = box.sim.prompt("two")
    box.idle()
    box.sim.rewind(undone)
    box.sim.prompt("three")
    box.idle(6)
    assert [box.seen().count(line) for line in lines] == [1] * len(lines)


def test_one_rewind_is_logged_once(make_project: Make) -> None:
    box = make_project()
    undone = second_prompt(box)
    box.sim.read("one/f.py")
    box.idle()
    box.sim.rewind(undone)
    box.sim.prompt("three")
    new = {"file_path": str(box.project / "new.py"), "content": "x"}
    box.sim.batch(("Write", new), ("Write", {**new, "file_path": str(box.project / "other.py")}))
    box.idle()
    assert len(box.log("new-epoch")) == 1 and len(box.log("lost")) == 1


def summarize_up_to(box: SimulatedProject, prompt: Moment) -> None:
    """The menu's "Summarize up to here": a compaction that keeps this prompt and all that came after it."""
    sim = box.sim
    path = sim.transcript
    rows = [json.loads(line) for line in Path(path).read_text().splitlines()]
    first = next(i for i, row in enumerate(rows) if row.get("promptId") == prompt.event["prompt_id"])
    sim._heads[path] = rows[first]["uuid"]
    sim._kept_from["main"] = sim._prompts[prompt.event["prompt_id"]][2]
    sim.send({"hook_event_name": "PreCompact", "trigger": "manual"})
    sim.send({"hook_event_name": "SessionStart", "source": "compact"})


def test_a_call_is_kept_whose_rules_are_not(make_project: Make) -> None:
    box = make_project()
    box.environ["CLAUDE_CODE_ENTRYPOINT"] = "cli"
    box.sim.start()
    box.sim.prompt("one")
    box.sim.read("one/f.py")
    second = box.sim.prompt("two")
    box.sim.read("one/f.py", "two/f.py")
    box.idle()
    summarize_up_to(box, second)
    assert "rules of one" not in box.seen() and "rules of two" in box.seen()
    box.sim.prompt("three")
    box.idle(2)
    assert_once(box, "main", "one", "two")


def test_a_rewind_before_a_prompt_whose_hook_died(make_project: Make) -> None:
    """A claim that was open belongs to what was undone. It is not the sign of a second client."""
    box = make_project()
    box.sim.start()
    box.sim.prompt("one")
    box.sim.read("one/f.py")
    box.idle()
    undone = box.sim.prompt("two")
    box.sim.read("two/f.py")
    box.sim.answer("done")
    box.sim.rewind(undone)
    usual, box.hooks = box.hooks, nothing
    box.sim.prompt("only words")
    box.hooks = usual
    box.sim.answer("yes")
    box.sim.prompt("three")
    box.sim.read("two/f.py")
    box.idle()
    assert_once(box, "main", "one", "two")


def read_rule(box: SimulatedProject) -> str:
    """The agent reads a rule itself; the client's record shows all of it."""
    rule = "one/.directives/AGENTS.md"
    box.sim.read(rule)
    box.attach(rule)
    box.idle()
    path = str(box.project / rule)
    assert box.state()["files"][path]["reason"] == "read by the agent"
    return path


def test_a_rule_that_the_agent_had_read_itself(make_project: Make) -> None:
    """Nothing of ours was undone, but the message that showed the rule was."""
    box = make_project()
    undone = second_prompt(box)
    read_rule(box)
    assert box.process("engine window --audit").returncode == 0
    box.sim.rewind(undone)
    box.sim.prompt("three")
    assert "one/.directives/AGENTS.md" in box.process("engine window --audit").stdout
    box.sim.read("one/f.py")
    box.idle()
    assert_once(box, "main", "one")
    assert box.process("engine window --audit").returncode == 0


def test_a_rewind_to_before_a_compaction_brings_back_what_the_agent_had_read(make_project: Make) -> None:
    box = make_project()
    box.environ["CLAUDE_CODE_ENTRYPOINT"] = "cli"
    sim, path = box.sim, box.sim.transcript
    second_prompt(box)
    read_rule(box)
    undone = sim.prompt("undone")
    box.idle()
    sim._heads[path] = sim._last[path]
    before = list(sim.views["main"])
    sim.send({"hook_event_name": "PreCompact", "trigger": "manual"})
    sim.start("compact")
    sim.prompt("after")
    box.idle(3)
    sim.views["main"] = before
    sim.rewind(undone)
    sim.prompt("three")
    box.idle(2)
    assert sim.read("one/f.py").titles == [], "the message that showed it is back"
