from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from builders import window
from handbill.event import SESSION_STARTED, TOOL_BATCH_FINISHED, Event
from handbill.flow.event_context import Asked
from handbill.flow.inbox import recall
from handbill.ledger.content import Content
from handbill.ledger.window import TAKEN_UP


def started(source: str) -> Event:
    return Event(SESSION_STARTED, "s", source=source)


@pytest.mark.parametrize("source, taken", [("startup", False), ("clear", True)])
def test_a_launched_workers_role_goes_on_after_clear_only(source: str, taken: bool) -> None:
    event, noted = started(source), list[Any]()
    store = SimpleNamespace(
        noted=lambda key, _: {"role": "worker"} if key[0] == "first-1" else None,
        note=lambda *words: noted.append(words), take_handover=lambda _, again: None,
    )  # fmt: skip
    settings = SimpleNamespace(projects="", environ={"HANDBILL_LAUNCHED": "first-1"})
    recall(
        SimpleNamespace(event=event, store=store, facts=None, settings=settings, trace=print, asked=Asked()), window()
    )  # type: ignore[arg-type]
    assert bool(noted) is taken and bool(event.notes.get("launched")) is taken


@pytest.mark.parametrize("boundary, compacted", [(-1, False), (499, False), (500, True)])
def test_only_a_compaction_after_the_note_counts(boundary: int, compacted: bool) -> None:
    event, content = started("resume"), Content()
    content.boundary = boundary
    store = SimpleNamespace(noted=lambda _key, _kind: {"offset": 500})
    settings = SimpleNamespace(projects="", environ={})
    facts = SimpleNamespace(content=content)
    recall(
        SimpleNamespace(event=event, store=store, facts=facts, settings=settings, trace=print, asked=Asked()), window()
    )  # type: ignore[arg-type]
    assert event.notes["compacted"] is compacted


PAGE = {"/state/pages/restore-work.md": {"via": SESSION_STARTED, "parts": "k"}}


@pytest.mark.parametrize(
    "missed, flags, files, asked",
    [
        (True, {}, {}, True),
        (False, {}, {}, False),
        (True, {TAKEN_UP: "work"}, {}, False),  # its page left the window since
        (True, {}, PAGE, False),  # a window whose ledger was lost
    ],
)
def test_a_handover_that_a_failed_start_took(
    missed: bool, flags: dict[str, Any], files: dict[str, Any], asked: bool
) -> None:
    event, known = Event(TOOL_BATCH_FINISHED, "s"), Asked()
    known.missed = missed
    store = SimpleNamespace(
        noted=lambda _key, _kind: None, take_handover=lambda _, again: {"session": "work" if again else "new"}
    )
    settings = SimpleNamespace(projects="", environ={})
    turn = SimpleNamespace(event=event, store=store, facts=None, settings=settings, trace=print, asked=known)
    recall(turn, window(flags=flags, files=files))  # type: ignore[arg-type]
    assert event.handover == ({"session": "work"} if asked else {})
