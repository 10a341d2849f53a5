from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from builders import batch, window
from handbill.event import SESSION_STARTED, Event
from handbill.flow.after_compaction import Remains
from handbill.ledger.content import Content
from handbill.plan import Plan


def turn(event: Event, **values: object) -> Any:
    plan = Plan()
    plan.want("/a", "context")
    return SimpleNamespace(event=event, plan=plan, world=None, **{"host": None, "facts": None, **values})


@pytest.mark.parametrize("boundary, restored", [(-1, []), (5, ["/a"])])
def test_only_a_compaction_restores(boundary: int, restored: list[str]) -> None:
    content = Content()
    content.files, content.boundary = {"/a": ""}, boundary
    found = Remains(turn(batch(), facts=SimpleNamespace(content=content)), window(epoch=1))
    assert found.restored == restored


def test_what_the_client_may_restore_is_not_sent_at_once() -> None:
    content = Content()
    content.answered = {"t1"}
    host = SimpleNamespace(
        may_restore=lambda _event, _world, asked: asked, window_now=lambda _event, _world, window: content
    )
    before = window(from_last_epoch={"/a": {"via": "tool_batch_finished", "batch": "t1", "parts": "k"}}, epoch=1)
    found = Remains(turn(Event(SESSION_STARTED, "s", source="compact"), host=host), before)
    assert found.gone == [] and "/a" in found.noted_in(before, 1.0).from_last_epoch


START = Event(SESSION_STARTED, "s", source="compact")


def restoring(content: Content | None, *, restores: bool = True) -> Any:
    return SimpleNamespace(
        may_restore=lambda _event, _world, asked: asked if restores else [],
        window_now=lambda _event, _world, window: content,
    )


@pytest.mark.parametrize(
    "event, doubtful",
    [(START, ["/a"]), (Event(SESSION_STARTED, "s", source="resume"), []), (batch(), [])],
)
def test_only_a_start_after_a_compaction_leaves_doubt(event: Event, doubtful: list[str]) -> None:
    found = Remains(turn(event, host=restoring(None)), window())
    assert found.doubtful == doubtful


@pytest.mark.parametrize("boundary, restored", [(0, ["/a"]), (-1, [])])
def test_a_compaction_at_the_beginning_of_the_record(boundary: int, restored: list[str]) -> None:
    content = Content()
    content.files, content.boundary = {"/a": ""}, boundary
    assert Remains(turn(batch(), facts=SimpleNamespace(content=content)), window()).restored == restored


@pytest.mark.parametrize(
    "path, reason, text, awaited, held, asked",
    [
        ("/b", "context", "", [], [], ["/a", "/b"]),
        ("/b", "directive of /p", "", [], [], ["/a"]),  # rules wait for nothing
        ("/b", "context", "words of a gate", [], [], ["/a"]),  # no file that a client could restore
        ("/b", "directive of /p", "", ["/c"], [], ["/a", "/c"]),
        ("/b", "context", "", [], ["/a"], ["/b"]),  # there already
    ],
)
def test_files_that_the_host_may_restore(
    path: str, reason: str, text: str, awaited: list[str], held: list[str], asked: list[str]
) -> None:
    about = turn(START, host=restoring(None))
    about.plan.want(path, reason)
    about.plan.wants[-1].text = text
    about.plan.awaited.extend(awaited)
    there = {name: {"parts": "k", "via": "host", "reason": "x"} for name in held}
    assert Remains(about, window(files=there)).doubtful == asked


@pytest.mark.parametrize(
    "event, via, carried, answered, gone",
    [
        (START, "tool_batch_finished", "/a", {"t1"}, ["/a"]),
        (START, "tool_batch_finished", "/a", set(), []),  # it may be in the messages that were kept
        (START, "tool_batch_finished", "/other", {"t1"}, []),  # not wanted now
        (START, "session_started", "/a", {"t1"}, []),  # judged elsewhere
        (batch(), "tool_batch_finished", "/a", {"t1"}, []),
        (START, "tool_batch_finished", "/a", None, []),  # there is no record to ask
    ],
)
def test_what_a_compaction_has_surely_taken(
    event: Event, via: str, carried: str, answered: set[str] | None, gone: list[str]
) -> None:
    content = None if answered is None else Content()
    if content is not None:
        content.answered = answered or set()
    before = window(from_last_epoch={carried: {"via": via, "batch": "t1", "parts": "k"}})
    found = Remains(turn(event, host=restoring(content, restores=False)), before)
    assert found.gone == gone
    assert set(found.noted_in(before, 1.0).from_last_epoch) == {carried} - set(gone)


def test_what_the_host_restored_is_noted_once() -> None:
    content = Content()
    content.files, content.boundary = {"/a": ""}, 5
    found = Remains(turn(batch(), facts=SimpleNamespace(content=content)), window())
    noted = found.noted_in(window(), 1.0)
    assert noted.holds("/a") and found.noted_in(noted, 2.0).files["/a"]["at"] == 1.0
