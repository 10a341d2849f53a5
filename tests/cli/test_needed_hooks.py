"""What is registered, what is parsed and what is handled are one list."""

from __future__ import annotations

import pytest

from handbill.event import ASKS, DELEGATES, READS, RUNS, WRITES
from handbill.handlers import HANDLERS
from handbill.hosts import claude_code
from handbill.hosts.claude_code import registration
from handbill.library.needs import CHANGES, EVERY


def test_every_handled_event_is_registered() -> None:
    registered = {claude_code.KINDS[name] for name in (*registration.EVENTS, registration.FAILSAFE)}
    assert {kind for _, kinds, _ in HANDLERS for kind in kinds} <= registered


def test_only_events_whose_text_survives_a_resume_deliver() -> None:
    names = {name for name, kind in claude_code.KINDS.items() if kind in claude_code.CHANNELS}
    assert names == {"SessionStart", "UserPromptSubmit", "UserPromptExpansion", "PostToolBatch", "SubagentStart"}
    assert names <= set(registration.EVENTS)
    assert "PostToolUse" not in registration.EVENTS


@pytest.mark.parametrize(
    "holds, tools",
    [
        ((WRITES, DELEGATES), "Write|Agent|Task"), ((DELEGATES,), "Agent|Task"),
        ((WRITES, CHANGES, DELEGATES), "Write|Edit|MultiEdit|NotebookEdit|Agent|Task"),
        ((DELEGATES, RUNS), "Bash|Agent|Task"), ((READS,), "Read|NotebookRead"), ((ASKS,), "AskUserQuestion"),
        ((DELEGATES, EVERY), ""),  # all of them
    ],
)  # fmt: skip
def test_tools_are_held_only_where_something_can_apply(holds: tuple[str, ...], tools: str) -> None:
    assert registration.held_tools(holds) == tools
