"""What an event reads of the transcript, and when: every read costs time, and a wrong one proves nothing."""

from __future__ import annotations

from typing import Any

import pytest

from builders import DictWorld, window
from handbill.event import MENTIONS, PROMPT_SUBMITTED, SUBAGENT_STARTED, TOOL_CALLED, Event, Tool
from handbill.flow import findings
from handbill.ledger import epochs
from handbill.ledger.content import Content
from handbill.ledger.window import JOINED, Window
from looking import CLAIM, TRANSCRIPT, Host, batch, look, start

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


def test_the_mark_of_a_batch_is_a_call_and_not_what_its_skill_mentions() -> None:
    event = batch()
    event.tools.append(Tool(MENTIONS, paths=("/p/a",)))
    assert event.mark == "t9"


def test_an_event_without_a_transcript() -> None:
    assert look(Event(PROMPT_SUBMITTED, "s"), window(), Host(Content())).size == 0


PROMPT = Event(PROMPT_SUBMITTED, "s", transcript="/t", prompt_id="p1")


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
    before = window(maybe_compacted_from=0, flags={"suspect_mark": mark} if mark else {})
    assert look(event, before, Host(Content()), transcript=transcript).passed_suspicion is passed


@pytest.mark.parametrize(
    "event, flags, passed",
    [
        (PROMPT, {"compacting": "manual"}, True),  # it was announced, and then somebody typed a prompt
        (PROMPT, {}, False),  # of a subagent, perhaps
        (batch(), {"compacting": "auto"}, False),
    ],
)
def test_nobody_submits_a_prompt_while_a_compaction_runs(event: Event, flags: dict[str, str], passed: bool) -> None:
    assert (
        look(event, window(maybe_compacted_from=0, flags=flags), Host(Content()), transcript="x").passed_suspicion
        is passed
    )


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
    before = window(maybe_compacted_from=suspect, flags=flags)
    after = findings.doubted(before, event)
    assert after.flags.get("suspect_mark") == mark
    assert (after is before) == (mark == flags.get("suspect_mark"))


@pytest.mark.parametrize(
    "values, asked, reads",
    [
        ({}, {}, []),
        ({"claims": [CLAIM]}, {}, [{"since": 5 << 20}]),
        ({"claims": [CLAIM, {**CLAIM, "offset": 9}]}, {}, [{"since": 9}]),
        ({"from_last_epoch": {"/a": {}}, "compacted_at_offset": 5 << 20}, {}, [{"since": 3 << 20}]),
        ({"from_last_epoch": {"/a": {}}, "compacted_at_offset": 7}, {}, [{"since": 0}]),
        ({"compacted_at_offset": 5 << 20}, {}, []),
        ({"maybe_compacted_from": 5 << 20}, {}, [{"since": 3 << 20}]),
        ({"maybe_compacted_from": 0}, {}, [{"since": 0}]),
        ({"flags": {"scanned": 5 << 20}}, {"compacted": True}, [{"since": 3 << 20}]),
        ({"flags": {"scanned": 9}}, {"compacted": True}, [{"since": 0}]),
        ({}, {"compacted": True}, [{"since": 0}]),
        ({"flags": {"scanned": 5 << 20}}, {}, []),
        ({"claims": [CLAIM]}, {"moved": True}, [{}]),
        ({}, {"missed": True}, [{}]),
        ({}, {"failed": True}, [{}]),  # which calls are in the window, only all of it says
        ({}, {"unannounced": True}, [{}]),
    ],
)
def test_how_far_back_an_event_looks(
    values: dict[str, Any], asked: dict[str, bool], reads: list[dict[str, Any]]
) -> None:
    host = Host(Content())
    before = window(**values)
    facts = look(batch(), before, host, **asked)
    assert host.reads == [{**how, "window": before} for how in reads]
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
    "event, flags, scanned",
    [
        (batch(), {}, 70),
        (batch(), {JOINED: [5]}, 70),
        (Event(PROMPT_SUBMITTED, "s", transcript="/t"), {}, 70),
        (Event(PROMPT_SUBMITTED, "s", transcript="/t"), {JOINED: [5]}, 0),  # the prompt's own row is not written yet
    ],
)
def test_how_far_the_signs_are_dealt_with(event: Event, flags: dict[str, Any], scanned: int) -> None:
    assert look(event, window(flags=flags), Host(Content()), scanned=70).scanned == scanned


class Recorded:
    """A host whose transcript shows compactions at these bytes; for a shared one, the window's own newest."""

    def __init__(self, at: list[int], own: int | None) -> None:
        self.at, self.own = at, own
        self.since = -2

    def compactions_since(self, event: Event, world: object, since: int) -> list[int]:
        self.since = since
        return [at for at in self.at if at >= since]

    def window_now(self, event: Event, world: object, *, window: Window) -> Content | None:
        if self.own is None:
            return None
        content = Content()
        content.boundary = self.own
        return content


@pytest.mark.parametrize(
    "flags, suspect, at, since, found",
    [
        ({}, -1, [], 0, -1),
        ({}, -1, [0], 0, 0),
        ({}, -1, [3, 8], 0, 8),
        ({"scanned": 6}, -1, [3], 6, -1),
        ({"scanned": 6}, -1, [3, 6], 6, 6),
        ({"scanned": 6, epochs.BOUNDARY: 9}, -1, [9], 10, -1),
        ({"scanned": 12, epochs.BOUNDARY: 9}, -1, [9, 12], 12, 12),
        ({"scanned": 6}, 0, [3], 0, 3),
        ({"scanned": 6}, 4, [3, 5], 4, 5),
        ({"scanned": 6, epochs.DUE: 2}, 4, [3], 2, -1),  # the one before
        ({"scanned": 6, epochs.DUE: 2}, -1, [3, 7], 2, 7),
    ],
)
def test_where_a_compaction_is_recorded(
    flags: dict[str, Any], suspect: int, at: list[int], since: int, found: int
) -> None:
    host = Recorded(at, None)
    before = window(flags=flags, maybe_compacted_from=suspect)
    assert findings._recorded_at(start("compact"), before, host, DictWorld({})) == found  # type: ignore[arg-type]
    assert host.since == since


@pytest.mark.parametrize("own, found", [(None, -1), (6, -1), (7, 7), (9, 9)])
def test_where_a_compaction_of_one_of_two_terminals_is_recorded(own: int | None, found: int) -> None:
    before = window(flags={JOINED: [5], "scanned": 7})
    host = Recorded([8], own)
    assert findings._recorded_at(start("compact"), before, host, DictWorld({})) == found  # type: ignore[arg-type]


def test_the_start_of_a_compaction_of_an_unknown_window() -> None:
    host = Host(Content())
    assert look(start("compact"), None, host).recorded_at == -1
    assert [name for name, _ in host.asked if name == "compactions_since"] == []


@pytest.mark.parametrize("survives, chapter", [(True, epochs.ADOPT), (False, epochs.FRESH)])
def test_a_subagent_that_is_continued_after_its_ledger_was_lost(survives: bool, chapter: str) -> None:
    """Its record proves nothing where the client gives it an empty window."""
    event = Event(SUBAGENT_STARTED, "s", agent_id="a", project="/p", cwd="/p", transcript="/t")
    facts = look(event, None, Host(Content(), agents_survive=survives))
    assert facts.chapter == chapter and facts.whole_content is survives
