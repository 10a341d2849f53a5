"""Compactions and windows that are known only from the client's record: what the client brought stays known, too."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pytest

from simulated_project import SimulatedProject, nothing

NEXT_CLIENT = "4194302"


@pytest.fixture
def box(make_project: Callable[..., SimulatedProject]) -> SimulatedProject:
    box = make_project()
    box.write("bare/AGENTS.md", "NESTED RULE")
    box.write("bare/f.py", "x")
    box.sim.start()
    box.sim.prompt("go")
    box.sim.answer("hi")
    box.idle()
    return box


def resume(box: SimulatedProject) -> None:
    box.environ["CLAUDE_PID"] = NEXT_CLIENT
    box.sim.start("resume")


def copies_of_ours(box: SimulatedProject) -> int:
    """The client brought the rule; ours would be a second one."""
    box.sim.prompt("more")
    box.sim.batch(("Bash", {"command": f"cat {box.project}/bare/f.py"}))
    box.idle(2)
    box.sim.write("bare/g.py")
    box.idle()
    return box.seen().count("NESTED RULE")


@pytest.mark.parametrize("is_lost", [False, True])
def test_a_resume_of_a_window_that_was_compacted_before_its_ledger_was_lost(
    box: SimulatedProject, is_lost: bool
) -> None:
    box.sim.compact()
    box.idle(2)
    if is_lost:
        box.lose_ledger()
        box.idle(2)
    box.sim.read("bare/f.py")
    box.idle(2)
    before = box.state()["epoch"]
    resume(box)
    assert box.state()["epoch"] == before
    assert copies_of_ours(box) == 0


@pytest.mark.parametrize("is_resumed", [False, True])
def test_a_nested_rule_in_the_messages_that_an_unnoticed_compaction_kept(
    box: SimulatedProject, is_resumed: bool
) -> None:
    box.sim.read("bare/f.py")
    usual, box.hooks = box.hooks, nothing
    box.sim.compact()
    box.hooks = usual
    if is_resumed:
        resume(box)
    assert copies_of_ours(box) == 0


@pytest.mark.parametrize("body", ["See two/f.py", "See @two/f.py"])
def test_a_command_that_mentions_a_file_does_not_drop_what_its_prompt_mentions(
    make_project: Callable[..., SimulatedProject], body: str
) -> None:
    box = make_project()
    rule = "one/.directives/INVARIANTS.md"
    box.write(rule, "RULE 1")
    box.skill("ship", text=body)
    box.sim.start()
    box.sim.prompt("go")
    box.sim.answer("hi")
    typed = {"prompt": f"/ship @{rule}", "prompt_id": str(uuid.uuid4())}
    box.sim.send({"hook_event_name": "UserPromptSubmit", **typed})
    box.sim.send({
        "hook_event_name": "UserPromptExpansion", "expansion_type": "slash_command", "command_name": "ship",
        "command_source": "projectSettings", "command_args": f"@{rule}", **typed,
    })  # fmt: skip
    box.attach(rule)
    box.sim.answer("x")
    box.sim.read("one/f.py")
    box.idle(2)
    assert box.seen().count("RULE 1") == 0, "the client shows it"
