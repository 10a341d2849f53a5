"""Whose a message from a command is."""

from __future__ import annotations

import pytest

from builders import DictWorld, batch
from handbill.event import RUNS, TOOL_BATCH_FINISHED, Event, Tool
from handbill.library.notices import belongs


def notice(at: float) -> dict[str, object]:
    return {"id": "n", "verb": "phase", "session": "/p/sessions/S", "line": "Phase: 1: X", "by": "agent", "at": at}


@pytest.mark.parametrize("calls, mine", [({"t9"}, False), ({"old"}, True)])
def test_a_call_that_is_looked_at_again_takes_no_message(calls: set[str], mine: bool) -> None:
    event = batch("t9")
    event.tools = [Tool(RUNS, "old", command="engine session phase S 1", output="Phase: 1: X")]
    event.calls = frozenset(calls)
    assert belongs(notice(999.0), event, DictWorld({})) is mine  # type: ignore[arg-type]


@pytest.mark.parametrize("agent, mine", [("", True), ("a1", False)])
def test_an_old_message_goes_to_the_main_window(agent: str, mine: bool) -> None:
    event = Event(TOOL_BATCH_FINISHED, "s", agent_id=agent, project="/p", cwd="/p")
    assert belongs(notice(100.0), event, DictWorld({})) is mine  # type: ignore[arg-type]


@pytest.mark.parametrize("named", [{}, {"window": "s"}])
def test_what_a_person_restores_is_for_the_main_window(named: dict[str, str]) -> None:
    event = Event(TOOL_BATCH_FINISHED, "s", agent_id="a1", project="/p", cwd="/p")
    told = {"verb": "restore", "by": "terminal", "at": 999.0, **named}
    assert not belongs(told, event, DictWorld({}))  # type: ignore[arg-type]


@pytest.mark.parametrize("window, mine", [(None, True), ("s", False), ("s~7", True), ("s~8", False)])
def test_a_message_from_a_persons_shell_names_the_window(window: str | None, mine: bool) -> None:
    event = batch("t9")
    event.terminal = "~7"
    told = {"verb": "restore", "by": "terminal", "at": 999.0, **({"window": window} if window else {})}
    assert belongs(told, event, DictWorld({})) is mine  # type: ignore[arg-type]
