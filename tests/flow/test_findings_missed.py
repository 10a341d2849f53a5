"""Calls and mentions whose event we never got: when they are searched for, and which of them count."""

from __future__ import annotations

from typing import Any

import pytest

from builders import window
from handbill.event import MENTIONS, PROMPT_SUBMITTED, READS, TOOL_CALLED, Event, Tool
from handbill.flow import missed_calls
from handbill.ledger.content import Content
from handbill.ledger.window import Window
from looking import CLAIM, Host, batch, look, start


@pytest.mark.parametrize(
    "event, before, asked, records, most",
    [
        (batch(), window(), {}, True, None),
        (batch(), window(), {}, False, missed_calls._LAST_CALLS),  # a hook that died left no trace there
        (Event(PROMPT_SUBMITTED, "s", transcript="/t"), window(), {}, False, None),
        (batch(), window(), {"moved": True}, True, missed_calls._CALLS),
        (batch(), window(), {"missed": True}, True, missed_calls._CALLS),
        (batch(), window(), {"unannounced": True}, True, missed_calls._CALLS),
        (batch(), None, {}, True, missed_calls._CALLS),
        (start("resume"), window(), {}, True, missed_calls._CALLS),
        (Event(TOOL_CALLED, "s", transcript="/t"), window(), {"missed": True}, True, None),
        (start("startup"), None, {}, False, None),
    ],
)
def test_calls_that_were_missed(
    event: Event, before: Window | None, asked: dict[str, bool], records: bool, most: int | None
) -> None:
    found: list[int] = []

    def calls(event: Event, world: object, most: int, there: object = None) -> list[Tool]:
        found.append(most)
        return []

    host = Host(Content(), records_injections=records)
    host.__dict__["calls"] = calls
    look(event, before, host, **asked)
    assert found == ([most] if most is not None else [])


def content_with(boundary: int = -1) -> Content:
    content = Content()
    content.calls, content.prompts, content.typed, content.boundary = ["t1"], {"p1": 3}, {"p1"}, boundary
    return content


class Searched(Host):
    """Finds two calls and two mentions, of which the window has one each."""

    def __init__(self, content: Content | None, failures: tuple[str, ...] = ()) -> None:
        super().__init__(content)
        self.failed = failures
        self.searched: list[tuple[str, Any]] = []

    def calls(self, event: Event, world: object, most: int, there: set[str] | None = None) -> list[Tool]:
        self.searched.append(("calls", there))
        return [Tool(READS, "t1"), Tool(READS, "gone")]

    def mentions(self, event: Event, world: object, most: int) -> list[Tool]:
        self.searched.append(("mentions", most))
        return [Tool(MENTIONS, "p1"), Tool(MENTIONS, "p9")]

    def failures(self, event: Event, world: object, since: int) -> list[tuple[str, str, str]]:
        self.searched.append(("failures", since))
        return [(one, "", "") for one in self.failed]


THERE = ("calls", {"t1", "p1"})
ALL, SOME_MENTIONS, ALL_MENTIONS = (
    ("calls", None),
    ("mentions", missed_calls._LAST_CALLS),
    ("mentions", missed_calls._CALLS),
)
KEPT = {"flags": {"kept_unknown": True}, "compacted_at_offset": 10, "from_last_epoch": {"/a": {}}}


@pytest.mark.parametrize(
    "before, content, failures, asked, searched, missed",
    [
        (window(), content_with(), (), {}, [], ""),
        (window(), content_with(), (), {"moved": True}, [THERE, ALL_MENTIONS], "t1 p1"),  # what was undone is left out
        (window(), None, (), {"unannounced": True}, [ALL, ALL_MENTIONS], "t1 gone p1 p9"),
        (
            window(claims=[{**CLAIM, "offset": 0}]),
            content_with(),
            (),
            {"unannounced": True},
            [THERE, ALL_MENTIONS],
            "t1 p1",
        ),
        (
            window(flags={"scanned": 9}),
            None,
            ("x",),
            {"failed": True},
            [("failures", 9), ALL, ALL_MENTIONS],
            "t1 gone p1 p9",
        ),
        (window(), None, (), {"failed": True}, [("failures", 0)], ""),
        (window(), None, ("x",), {}, [], ""),  # nobody asked for failures
        (None, content_with(), (), {}, [("failures", 0), THERE, ALL_MENTIONS], "t1 p1"),
        (window(flags={"scanned": 0}), content_with(), (), {"compacted": True}, [SOME_MENTIONS], "p1"),
        (
            window(maybe_compacted_from=10),
            content_with(20),
            (),
            {},
            [THERE, ALL_MENTIONS],
            "t1 p1",
        ),  # kept calls are before it
        (window(maybe_compacted_from=0), content_with(0), (), {}, [THERE, ALL_MENTIONS], "t1 p1"),
        (window(maybe_compacted_from=10), content_with(5), (), {}, [], ""),
        (window(**KEPT), content_with(20), (), {}, [THERE, ALL_MENTIONS], "t1 p1"),  # type: ignore[arg-type]
        (window(**KEPT), content_with(5), (), {}, [], ""),  # type: ignore[arg-type]
        (window(**{**KEPT, "flags": {}}), content_with(20), (), {}, [THERE, ALL_MENTIONS], "t1 p1"),  # type: ignore[arg-type]
        (window(**{**KEPT, "flags": {}, "from_last_epoch": {}}), content_with(20), (), {}, [], ""),  # type: ignore[arg-type]
        (
            window(**{**KEPT, "from_last_epoch": {}, "claims": [{**CLAIM, "offset": 0}]}),  # type: ignore[arg-type]
            content_with(20),
            (),
            {},
            [THERE, ALL_MENTIONS],
            "t1 p1",
        ),
        (window(**KEPT), content_with(10), (), {}, [THERE, ALL_MENTIONS], "t1 p1"),  # type: ignore[arg-type]
    ],
)
def test_what_is_searched_for_missed_calls(
    before: Window | None, content: Content | None, failures: tuple[str, ...], asked: dict[str, bool],
    searched: list[tuple[str, Any]], missed: str,
) -> None:  # fmt: skip
    host = Searched(content, failures)
    facts = look(batch(), before, host, **asked)
    assert host.searched == searched and " ".join(tool.id for tool in facts.missed) == missed


def test_what_an_old_client_did_last_counts_although_only_the_end_of_its_record_was_read() -> None:
    host = Searched(content_with())
    host.answers["records_injections"] = False
    facts = look(batch(), window(claims=[{**CLAIM, "offset": 0}]), host)
    assert [tool.id for tool in facts.missed] == ["t1", "gone"]
