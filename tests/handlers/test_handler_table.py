from __future__ import annotations

import os

import pytest

from builders import window
from handbill import handlers
from handbill.event import PROMPT_SUBMITTED, TOOL_BATCH_FINISHED, Event, Inbox
from handbill.handlers import HANDLERS, handler, handlers_for
from handbill.ledger.window import UNDELIVERABLE


def test_every_row_names_a_handler_and_every_handler_has_a_row() -> None:
    named = {name for name, _, _ in HANDLERS}
    for name in named:
        assert callable(handler(name))
    modules = {file[:-3] for file in os.listdir(handlers.__path__[0]) if file.endswith(".py")}
    assert named == modules - {"__init__"}


@pytest.mark.parametrize(
    "kind, agent, asked",
    [(PROMPT_SUBMITTED, "", True), (TOOL_BATCH_FINISHED, "a", True), (TOOL_BATCH_FINISHED, "", False)],
)
def test_a_window_of_which_only_refused_files_are_known(kind: str, agent: str, asked: bool) -> None:
    """As after a rewind to before everything that was delivered."""
    event = Event(kind, "s", agent_id=agent, project="/p", cwd="/p")
    known = window(flags={UNDELIVERABLE: {"/p/x": ["", "", ""]}})
    assert ("freshness" in handlers_for(event, Inbox(), known)) is asked
    assert "freshness" not in handlers_for(event, Inbox(), window())
