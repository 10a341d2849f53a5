"""What an event reads of the transcript, and when: every read costs time, and a wrong one proves nothing."""

from __future__ import annotations

from typing import Any

import pytest

from handbill import evidence
from handbill.core import epochs
from handbill.core.content import Content
from handbill.core.event import PROMPT_SUBMITTED, SESSION_STARTED, TOOL_BATCH_FINISHED, TOOL_CALLED, Event, Tool
from handbill.core.window import OWN_ROWS, Window
from handbill.turn import Asked
from makers import DictWorld, window

TRANSCRIPT = "x" * 100


class Host:
    """Notes what it is asked for."""

    def __init__(self, content: Content | None = None, **answers: Any) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.content = content
        self.answers = {"names_compacted_agent": True, "agents_survive": True, "records_injections": True, **answers}

    def __getattr__(self, name: str) -> Any:
        if name in self.answers:
            return lambda *_: self.answers[name]

        def answer(*_: object, **how: Any) -> Any:
            self.asked.append((name, how))
            return self.content if name == "window_now" else []

        return answer

    @property
    def reads(self) -> list[dict[str, Any]]:
        return [how for name, how in self.asked if name == "window_now"]


def look(
    event: Event, before: Window | None, host: Host, *, transcript: str | None = TRANSCRIPT, **asked: bool
) -> evidence.Facts:
    told = Asked()
    for name, value in asked.items():
        setattr(told, name, value)
    world = DictWorld({"/t": transcript} if transcript is not None else {})
    return evidence.look(event, before, host, world, 100.0, told)  # type: ignore[arg-type]


def start(source: str, **more: Any) -> Event:
    return Event(SESSION_STARTED, "s", source=source, project="/p", cwd="/p", transcript="/t", **more)


def batch(**more: Any) -> Event:
    tools = [Tool("Read", "t9")]
    return Event(TOOL_BATCH_FINISHED, "s", tools=tools, project="/p", cwd="/p", transcript="/t", **more)


ADOPTING = {"unknown": True, "resumed": False}
RESUMING = {"unknown": True, "resumed": True}


@pytest.mark.parametrize(
    "event, before, how",
    [
        (batch(), None, ADOPTING),
        (batch(), Window("s", "main", "claude-code", 1.0), ADOPTING),  # known by a side event only
        (start("resume"), None, RESUMING),
        (start("resume"), window(), RESUMING),
        (batch(client=7), window(client=5), RESUMING),  # the start of this process did not reach us
    ],
)
def test_windows_of_which_everything_is_read(event: Event, before: Window | None, how: dict[str, bool]) -> None:
    host = Host(Content())
    facts = look(event, before, host)
    assert host.reads == [how] and facts.whole_content and facts.scanned == len(TRANSCRIPT)


@pytest.mark.parametrize(
    "event, before, chapter",
    [(batch(), None, epochs.WAIT), (start("resume"), None, epochs.WAIT), (start("resume"), window(), epochs.AUDIT)],
)
def test_a_transcript_that_is_not_there_yet(event: Event, before: Window | None, chapter: str) -> None:
    facts = look(event, before, Host(None))
    assert facts.chapter == chapter and not facts.whole_content


@pytest.mark.parametrize(
    "event, before, reads",
    [
        (start("compact"), None, [{}]),  # some of it may be in the part that is kept
        (start("compact"), Window("s", "main", "claude-code", 1.0), [{}]),
        (start("compact"), window(), []),
        (start("startup"), None, []),
        (batch(), window(), []),
        (Event(PROMPT_SUBMITTED, "s", transcript="/t"), None, []),
    ],
)
def test_windows_of_which_nothing_or_little_is_read(
    event: Event, before: Window | None, reads: list[dict[str, bool]]
) -> None:
    host = Host(Content())
    facts = look(event, before, host)
    assert host.reads == reads and not facts.whole_content and facts.scanned == 0


@pytest.mark.parametrize(
    "event, names_agent, agents, chapter, asked",
    [
        (start("compact"), False, ["a1"], epochs.SUSPECT, True),
        (start("compact"), False, [], epochs.COMPACT, True),
        (start("compact"), True, ["a1"], epochs.COMPACT, False),
        (start("resume"), False, ["a1"], epochs.AUDIT, False),
        (Event(PROMPT_SUBMITTED, "s", source="compact", transcript="/t"), False, ["a1"], epochs.GO_ON, False),
    ],
)
def test_whose_compaction_it_was(event: Event, names_agent: bool, agents: list[str], chapter: str, asked: bool) -> None:
    host = Host(Content(), names_compacted_agent=names_agent, agents_of=agents)
    facts = look(event, window(), host)
    assert facts.chapter == chapter and facts.agents == (agents if asked else [])


@pytest.mark.parametrize(
    "event, before",
    [
        (Event(PROMPT_SUBMITTED, "s", transcript="/t"), Window("s", "main", "claude-code", 1.0)),  # not started yet
        (Event(TOOL_CALLED, "s", transcript="/t"), Window("s", "main", "claude-code", 1.0)),
        (start("startup", client=7), window(client=5)),  # begins anew
    ],
)
def test_nothing_is_looked_for_before_a_window_has_begun(event: Event, before: Window) -> None:
    host = Host(Content())
    look(event, before, host, missed=True)
    assert host.reads == []


@pytest.mark.parametrize("transcript, size, readable", [(TRANSCRIPT, 100, True), ("", 0, True), (None, 0, False)])
def test_a_transcript_that_is_empty_can_be_read(transcript: str | None, size: int, readable: bool) -> None:
    facts = look(batch(), window(), Host(Content()), transcript=transcript)
    assert (facts.size, facts.readable) == (size, readable)


def test_an_event_without_a_transcript() -> None:
    assert look(Event(PROMPT_SUBMITTED, "s"), window(), Host(Content())).size == 0


PROMPT = Event(PROMPT_SUBMITTED, "s", transcript="/t", raw={"prompt_id": "p1"})


@pytest.mark.parametrize(
    "event, mark, transcript, passed",
    [
        (batch(), "", 'before "t9" after', True),  # this event's own call is written: what came before it as well
        (batch(), "", "nothing", False),
        (batch(), "", '""', False),
        (batch(), "m1", 'before "m1"', True),
        (batch(), "m1", "before m1", False),
        (PROMPT, "p1", 'before "p1" and ""', False),  # the same prompt proves nothing
        (PROMPT, "m1", 'before "m1"', True),
        (PROMPT, "m1", None, True),  # nothing will ever be written
        (PROMPT, "p1", None, False),
        (PROMPT, "", None, False),
    ],
)
def test_when_a_suspected_compaction_did_not_happen(
    event: Event, mark: str, transcript: str | None, passed: bool
) -> None:
    before = window(suspect=0, flags={"suspect_mark": mark} if mark else {})
    assert look(event, before, Host(Content()), transcript=transcript).passed_suspicion is passed


@pytest.mark.parametrize(
    "suspect, flags, event, mark",
    [
        (-1, {}, batch(), None),
        (0, {}, batch(), "t9"),
        (9, {}, PROMPT, "p1"),
        (9, {}, Event(PROMPT_SUBMITTED, "s"), None),  # it leaves no mark
        (9, {"suspect_mark": "m1"}, batch(), "m1"),  # the first one stays
    ],
)
def test_the_mark_of_a_suspicion(suspect: int, flags: dict[str, Any], event: Event, mark: str | None) -> None:
    before = window(suspect=suspect, flags=flags)
    after = evidence.doubted(before, event)
    assert after.flags.get("suspect_mark") == mark
    assert (after is before) == (mark == flags.get("suspect_mark"))


CLAIM = {"id": 1, "batch": "t1", "offset": 5 << 20, "at": 1.0, "items": []}


@pytest.mark.parametrize(
    "values, asked, reads",
    [
        ({}, {}, []),
        ({"claims": [CLAIM]}, {}, [{"since": 5 << 20, "marks": ()}]),
        ({"claims": [CLAIM, {**CLAIM, "offset": 9}]}, {}, [{"since": 9, "marks": ()}]),
        ({"carried": {"/a": {}}, "carried_from": 5 << 20}, {}, [{"since": 3 << 20, "marks": ()}]),
        ({"carried": {"/a": {}}, "carried_from": 7}, {}, [{"since": 0, "marks": ()}]),
        ({"carried_from": 5 << 20}, {}, []),
        ({"suspect": 5 << 20}, {}, [{"since": 3 << 20, "marks": ()}]),
        ({"suspect": 0}, {}, [{"since": 0, "marks": ()}]),
        ({"flags": {"scanned": 5 << 20}}, {"compacted": True}, [{"since": 3 << 20, "marks": ()}]),
        ({"flags": {"scanned": 9}}, {"compacted": True}, [{"since": 0, "marks": ()}]),
        ({}, {"compacted": True}, [{"since": 0, "marks": ()}]),
        ({"flags": {"scanned": 5 << 20}}, {}, []),
        ({"claims": [CLAIM]}, {"moved": True}, [{"marks": ()}]),
        ({}, {"missed": True}, [{"marks": ()}]),
        ({"flags": {OWN_ROWS: ["t8"]}}, {"moved": True}, [{"marks": ["t8"]}]),
    ],
)
def test_how_far_back_an_event_looks(
    values: dict[str, Any], asked: dict[str, bool], reads: list[dict[str, Any]]
) -> None:
    host = Host(Content())
    facts = look(batch(), window(**values), host, **asked)
    assert host.reads == reads
    assert facts.whole_content == any("since" not in how for how in reads)
    assert facts.boundary_from == (values.get("flags", {}).get("scanned", 0) if asked.get("compacted") else -1)
    assert facts.readable


def claimed(offset: int, prompts: dict[str, int], answered: set[str], *, whole: bool) -> tuple[Window, Content]:
    content = Content(whole=whole)
    content.prompts, content.answered = prompts, answered
    return window(claims=[{**CLAIM, "offset": offset}]), content


@pytest.mark.parametrize(
    "prompts, answered, whole, everything",
    [
        ({"p1": 60}, set(), False, True),  # of an earlier turn, and this part does not tell what became of it
        ({"p1": 50}, set(), False, True),
        ({"p1": 40}, set(), False, False),  # of this turn
        ({}, set(), False, False),
        ({"p1": 60}, {"t1"}, False, False),  # it does
        ({"p1": 60}, set(), True, False),  # there is no more to read
    ],
)
def test_a_claim_of_an_earlier_turn(prompts: dict[str, int], answered: set[str], whole: bool, everything: bool) -> None:
    before, content = claimed(50, prompts, answered, whole=whole)
    host = Host(content)
    facts = look(batch(), before, host)
    assert len(host.reads) == 1 + everything and facts.whole_content is everything


@pytest.mark.parametrize(
    "event, before, asked, records, most",
    [
        (batch(), window(), {}, True, None),
        (batch(), window(), {}, False, evidence._LAST_CALLS),  # a hook that died left no trace there
        (Event(PROMPT_SUBMITTED, "s", transcript="/t"), window(), {}, False, None),
        (batch(), window(), {"moved": True}, True, evidence._CALLS),
        (batch(), window(), {"missed": True}, True, evidence._CALLS),
        (batch(), window(), {"interrupted": True}, True, evidence._CALLS),
        (batch(), None, {}, True, evidence._CALLS),
        (start("resume"), window(), {}, True, evidence._CALLS),
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
    content.calls, content.prompts, content.boundary = ["t1"], {"p1": 3}, boundary
    return content


class Searched(Host):
    """Finds two calls and two mentions, of which the window has one each."""

    def __init__(self, content: Content | None, failures: tuple[str, ...] = ()) -> None:
        super().__init__(content)
        self.failed = failures
        self.searched: list[tuple[str, Any]] = []

    def calls(self, event: Event, world: object, most: int, there: set[str] | None = None) -> list[Tool]:
        self.searched.append(("calls", there))
        return [Tool("Read", "t1"), Tool("Read", "gone")]

    def mentions(self, event: Event, world: object, most: int) -> list[Tool]:
        self.searched.append(("mentions", most))
        return [Tool("@", "p1"), Tool("@", "p9")]

    def failures(self, event: Event, world: object, since: int) -> list[tuple[str, str, str]]:
        self.searched.append(("failures", since))
        return [(one, "", "") for one in self.failed]


THERE = ("calls", {"t1", "p1"})
ALL, MENTIONS = ("calls", None), ("mentions", evidence._LAST_CALLS)
KEPT = {"flags": {"kept_unknown": True}, "carried_from": 10, "carried": {"/a": {}}}


@pytest.mark.parametrize(
    "before, content, failures, asked, searched, missed",
    [
        (window(), content_with(), (), {}, [], ""),
        (window(), content_with(), (), {"moved": True}, [THERE, MENTIONS], "t1 p1"),  # what was undone is left out
        (window(), None, (), {"interrupted": True}, [ALL, MENTIONS], "t1 gone p1 p9"),
        (
            window(claims=[{**CLAIM, "offset": 0}]),
            content_with(),
            (),
            {"interrupted": True},
            [ALL, MENTIONS],
            "t1 gone p1",
        ),
        (
            window(flags={"scanned": 9}),
            None,
            ("x",),
            {"failed": True},
            [("failures", 9), ALL, MENTIONS],
            "t1 gone p1 p9",
        ),
        (window(), None, (), {"failed": True}, [("failures", 0)], ""),
        (window(), None, ("x",), {}, [], ""),  # nobody asked for failures
        (None, content_with(), (), {}, [("failures", 0), THERE, MENTIONS], "t1 p1"),
        (window(flags={"scanned": 0}), content_with(), (), {"compacted": True}, [MENTIONS], "p1"),
        (window(suspect=10), content_with(20), (), {}, [THERE, MENTIONS], "t1 p1"),  # kept calls are before it
        (window(suspect=0), content_with(0), (), {}, [THERE, MENTIONS], "t1 p1"),
        (window(suspect=10), content_with(5), (), {}, [], ""),
        (window(**KEPT), content_with(20), (), {}, [THERE, MENTIONS], "t1 p1"),  # type: ignore[arg-type]
        (window(**KEPT), content_with(5), (), {}, [], ""),  # type: ignore[arg-type]
        (window(**{**KEPT, "flags": {}}), content_with(20), (), {}, [], ""),  # type: ignore[arg-type]
    ],
)
def test_what_is_searched_for_missed_calls(
    before: Window | None, content: Content | None, failures: tuple[str, ...], asked: dict[str, bool],
    searched: list[tuple[str, Any]], missed: str,
) -> None:  # fmt: skip
    host = Searched(content, failures)
    facts = look(batch(), before, host, **asked)
    assert host.searched == searched and " ".join(tool.id for tool in facts.missed) == missed
