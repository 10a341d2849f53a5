from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from builders import window
from handbill.event import SESSION_STARTED, TOOL_BATCH_FINISHED, Event, Inbox
from handbill.flow.event_context import Asked
from handbill.flow.inbox import recall
from handbill.ledger.content import Content
from handbill.ledger.window import TAKEN_UP
from handbill.settings import Settings


def context_of(event: Event, store: Any, world: Any, facts: Any = None, asked: Asked | None = None) -> SimpleNamespace:
    return SimpleNamespace(
        event=event, inbox=Inbox(), store=store, world=world, facts=facts, settings=Settings(), trace=print,
        asked=asked or Asked(),
    )  # fmt: skip


def started(source: str) -> Event:
    return Event(SESSION_STARTED, "s", source=source)


@pytest.mark.parametrize("source, taken", [("startup", False), ("clear", True)])
def test_a_launched_workers_role_goes_on_after_clear_only(source: str, taken: bool) -> None:
    event, noted = started(source), list[Any]()
    store = SimpleNamespace(
        noted=lambda key, _: {"role": "worker"} if key[0] == "first-1" else None,
        note=lambda *words: noted.append(words), take_handover=lambda _, again: None,
    )  # fmt: skip
    world = SimpleNamespace(project="/p", environ={"HANDBILL_LAUNCHED": "first-1"}, is_dir=lambda _: False)
    context = context_of(event, store, world)
    recall(context, window())  # type: ignore[arg-type]
    assert bool(noted) is taken and bool(context.inbox.notes.get("launched")) is taken


@pytest.mark.parametrize("boundary, compacted", [(-1, False), (499, False), (500, True)])
def test_only_a_compaction_after_the_note_counts(boundary: int, compacted: bool) -> None:
    event, content = started("resume"), Content()
    content.boundary = boundary
    store = SimpleNamespace(noted=lambda _key, _kind: {"offset": 500})
    world = SimpleNamespace(project="/p", environ={}, is_dir=lambda _: False)
    facts = SimpleNamespace(content=content)
    context = context_of(event, store, world, facts)
    recall(context, window())  # type: ignore[arg-type]
    assert context.inbox.notes["compacted"] is compacted


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
    world = SimpleNamespace(project="/p", environ={}, is_dir=lambda _: False)
    context = context_of(event, store, world, asked=known)
    recall(context, window(flags=flags, files=files))  # type: ignore[arg-type]
    assert context.inbox.handover == ({"session": "work"} if asked else {})
