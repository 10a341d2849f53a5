"""What is registered, what is parsed and what is handled are one list."""

from __future__ import annotations

from handbill.handlers.table import HANDLERS
from handbill.hosts import claude_code, claude_settings


def test_every_handled_event_is_registered() -> None:
    registered = {claude_code.KINDS[name] for name in (*claude_settings.EVENTS, claude_settings.FAILSAFE)}
    assert set(HANDLERS) <= registered


def test_only_events_whose_text_survives_a_resume_deliver() -> None:
    names = {name for name, kind in claude_code.KINDS.items() if kind in claude_code.CHANNELS}
    assert names == {"SessionStart", "UserPromptSubmit", "UserPromptExpansion", "PostToolBatch", "SubagentStart"}
    assert names <= set(claude_settings.EVENTS)
    assert "PostToolUse" not in claude_settings.EVENTS


def test_tools_are_held_only_where_something_can_apply() -> None:
    assert claude_settings.held_tools() == "Write|Agent|Task|AskUserQuestion"
    assert claude_settings.held_tools("off") == "Agent|Task|AskUserQuestion"
    assert "|Edit|" in claude_settings.held_tools("edits")
    assert claude_settings.held_tools("off", every=True) == "", "a gate may hold any call"
