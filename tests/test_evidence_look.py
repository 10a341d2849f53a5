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


def look(event: Event, before: Window | None, host: Host, **asked: bool) -> evidence.Facts:
    told = Asked()
    for name, value in asked.items():
        setattr(told, name, value)
    return evidence.look(event, before, host, DictWorld({"/t": TRANSCRIPT}), 100.0, told)  # type: ignore[arg-type]


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
    assert facts.boundary_from == (values["flags"]["scanned"] if asked.get("compacted") else -1)
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
