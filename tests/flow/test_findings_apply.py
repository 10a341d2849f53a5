"""What follows from the facts, for the window as it is by then: another process may have changed it meanwhile."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from builders import window
from handbill.event import PROMPT_SUBMITTED, RUNS, SESSION_STARTED, SUBAGENT_STARTED, TOOL_BATCH_FINISHED, Event, Tool
from handbill.flow import findings
from handbill.flow.delivery import warn_if_unrecorded
from handbill.ledger import epochs
from handbill.ledger.content import Content
from handbill.ledger.window import MENTIONED, READ_ITSELF, RESUMED, UNRECORDED, Window

DIGEST = "0" * 16
TITLE = ("/a", DIGEST, 1, 1)
RULES = "/p/one/.directives/AGENTS.md"
NOW = 100.0


def record(**values: Any) -> dict[str, Any]:
    return {
        "inode": "1:1", "hash": DIGEST, "chars": 5, "reason": "why", "at": 1.0, "via": TOOL_BATCH_FINISHED,
        "batch": "t1", "parts": "k", "stamp": "1:1", **values,
    }  # fmt: skip


def event(kind: str = TOOL_BATCH_FINISHED, **values: Any) -> Event:
    tools = [Tool(RUNS, "t9")] if kind == TOOL_BATCH_FINISHED else []
    return Event(kind, "s", project="/p", cwd="/p", transcript="/t", tools=tools, **values)


def start(source: str, **values: Any) -> Event:
    return event(SESSION_STARTED, source=source, **values)


def facts(chapter: str, **values: Any) -> findings.Findings:
    made = findings.Findings(chapter)
    for name, value in values.items():
        setattr(made, name, value)
    return made


def content(*titles: tuple[str, str, int, int], boundary: int = -1, **values: Any) -> Content:
    made = Content()
    made.blocks, made.boundary = dict.fromkeys(titles, 5), boundary
    for name, value in values.items():
        setattr(made, name, value)
    return made


def apply(
    known: findings.Findings, about: Event, before: Window | None, *, records: bool = True, survive: bool = True
) -> tuple[Window | None, list[tuple[str, str]]]:
    host = SimpleNamespace(agents_survive=lambda _: survive, records_injections=lambda _: records)
    after, outcomes = findings.apply(known, about, before, host, NOW)  # type: ignore[arg-type]
    return after, [(one.path, one.result) for one in outcomes]


@pytest.mark.parametrize(
    "chapter, silent", [(epochs.WAIT, True), (epochs.SUSPECT, True), (epochs.GO_ON, False), (epochs.ADOPT, False)]
)
def test_whether_an_event_may_deliver(chapter: str, silent: bool) -> None:
    assert findings.Findings(chapter).silent is silent


def test_facts_of_an_event_that_has_read_nothing() -> None:
    made = findings.Findings(epochs.GO_ON)
    assert (made.size, made.scanned, made.recorded_at, made.boundary_from) == (0, 0, -1, -1)
    assert made.readable and not made.whole_content and not made.passed_suspicion and not made.missed_mark


@pytest.mark.parametrize(
    "read, about, then",
    [
        (epochs.FRESH, event(), window()),  # another event has begun it meanwhile
        (epochs.CONTINUED, event(), window()),
        (epochs.ADOPT, event(), window()),
        (epochs.COMPACT, event(), window()),
        (epochs.AUDIT, event(), window()),
        (epochs.GO_ON, start("startup", client=7), window(client=5)),  # nothing was read for a beginning
        (epochs.GO_ON, start("compact"), window()),
        (epochs.GO_ON, event(), None),
        (epochs.GO_ON, event(SUBAGENT_STARTED), None),
        (epochs.WAIT, start("startup"), None),
        (epochs.SUSPECT, start("compact"), window()),
    ],
)
def test_facts_that_do_not_fit_the_window_change_nothing(read: str, about: Event, then: Window | None) -> None:
    after, outcomes = apply(facts(read, content=Content(), size=9), about, then)
    assert after is then and outcomes == []


@pytest.mark.parametrize(
    "read, survive, left",
    [(epochs.CONTINUED, False, ["/a"]), (epochs.CONTINUED, True, ["/a", "/b"]), (epochs.GO_ON, False, ["/a", "/b"])],
)
def test_a_subagent_that_is_continued(read: str, survive: bool, left: list[str]) -> None:
    before = window(files={"/a": record(via=SUBAGENT_STARTED), "/b": record()}, touched={"/p": []})
    after, _ = apply(facts(read), event(SUBAGENT_STARTED), before, survive=survive)
    assert after is not None and list(after.files) == left


@pytest.mark.parametrize("shown, held", [(content(TITLE), True), (None, False)])
def test_a_window_that_was_not_known(shown: Content | None, held: bool) -> None:
    after, outcomes = apply(facts(epochs.ADOPT, content=shown, scanned=9), event(), None)
    assert after is not None and after.holds("/a") is held and after.flags["scanned"] == 9 and outcomes == []


@pytest.mark.parametrize("about, resumed", [(event(), None), (start("resume"), 77)])
def test_a_window_that_was_not_known_and_its_process(about: Event, resumed: int | None) -> None:
    after, _ = apply(facts(epochs.ADOPT, content=content(TITLE), size=77), about, None)
    assert after is not None and after.flags.get(RESUMED) == resumed


@pytest.mark.parametrize("recorded_at, offset", [(-1, 77), (0, 0), (5, 5)])
@pytest.mark.parametrize("before", [None, Window("s", "main", "claude-code", 1.0), window(files={"/a": record()})])
def test_a_compaction(before: Window | None, recorded_at: int, offset: int) -> None:
    """Of a window that was not known, the transcript says what was there."""
    known = facts(epochs.COMPACT, recorded_at=recorded_at, size=77, content=content(TITLE))
    after, _ = apply(known, start("compact"), before)
    assert (
        after is not None
        and after.epoch == 1
        and list(after.from_last_epoch) == ["/a"]
        and after.compacted_at_offset == offset
    )


def test_a_compaction_of_a_window_without_a_transcript() -> None:
    after, _ = apply(facts(epochs.COMPACT), start("compact"), None)
    assert after is not None and not after.from_last_epoch


def test_a_resume_without_a_transcript_keeps_what_is_known() -> None:
    before = window(files={"/a": record()}, client=5)
    after, outcomes = apply(facts(epochs.AUDIT), start("resume", client=7), before)
    assert after is not None and after.client == 7 and after.files == before.files and outcomes == []


@pytest.mark.parametrize(
    "parts, shown, outcomes",
    [
        ("s", [TITLE], [("/a", "confirmed")]),
        ("s", [], [("/a", "lost")]),
        ("k", [TITLE], []),
        ("k", [], [("/a", "lost")]),
    ],
)
def test_outcomes_of_a_resume(parts: str, shown: list[Any], outcomes: list[tuple[str, str]]) -> None:
    before = window(files={"/a": record(parts=parts)}, pending={"/waits": "why"})
    after, found = apply(facts(epochs.AUDIT, content=content(*shown), scanned=9), start("resume"), before)
    assert found == outcomes and after is not None and after.flags["scanned"] == 9


def test_what_a_lane_of_this_very_start_sent_has_no_outcome_yet() -> None:
    about = start("resume")
    before = window(files={"/a": record(parts="s", batch=about.batch, at=NOW)})
    _, found = apply(facts(epochs.AUDIT, content=content()), about, before)
    assert found == []


def test_a_line_that_was_on_its_way_without_its_text() -> None:
    """It leaves the ledger with the text that it refers to."""
    before = window(files={"/a": record(parts="s", same="/b"), "/b": record()})
    _, found = apply(facts(epochs.AUDIT, content=content()), start("resume"), before)
    assert sorted(found) == [("/a", "lost"), ("/b", "lost")]


def test_a_file_of_which_a_resume_kept_a_part_is_lost_and_not_confirmed() -> None:
    before = window(files={"/a": record(parts="ss")})
    shown = content(("/a", DIGEST, 1, 2))
    _, found = apply(facts(epochs.AUDIT, content=shown), start("resume"), before)
    assert found == [("/a", "lost")]


@pytest.mark.parametrize(
    "whole, records, carried, outcomes",
    [
        (True, True, False, [("/gone", "lost")]),
        (False, True, False, []),
        (True, False, False, []),  # this client records nothing
        (True, True, True, []),  # a compaction comes first
    ],
)
def test_a_rewind(whole: bool, records: bool, carried: bool, outcomes: list[tuple[str, str]]) -> None:
    more = {"from_last_epoch": {"/c": record()}, "compacted_at_offset": 50} if carried else {}
    before = window(files={"/gone": record()}, **more)
    known = facts(epochs.GO_ON, content=content(TITLE, calls=["t9"]), whole_content=whole)
    after, found = apply(known, event(), before, records=records)
    assert after is not None and found == outcomes
    assert (after.epoch, after.holds("/gone"), after.holds("/a")) == (
        (1, False, True) if outcomes else (0, True, False)
    )


@pytest.mark.parametrize("answered, lost", [({"t1"}, True), (set(), False)])
def test_an_old_claim_is_lost_only_if_the_record_went_past_it(answered: set[str], lost: bool) -> None:
    claim = {"id": 1, "batch": "t1", "offset": 50, "at": 1.0, "items": [["/a", 1, DIGEST, 1]]}
    before = window(files={"/a": record(parts="s")}, claims=[claim])
    shown = content(("/other", DIGEST, 1, 1), calls=["t1"], answered=answered)
    after, found = apply(facts(epochs.GO_ON, content=shown), event(), before)
    assert found == ([("/a", "lost")] if lost else []) and after is not None and bool(after.claims) is not lost


@pytest.mark.parametrize("shown, failed, understood", [([TITLE], False, True), ([], True, True), ([], False, False)])
def test_a_record_in_a_form_that_we_know(shown: list[Any], failed: bool, understood: bool) -> None:
    proof = findings.proof_in(content(*shown), window(), NOW, records=True, failed=failed)
    assert proof.understood is understood


@pytest.mark.parametrize(
    "scanned, before, after", [(0, {}, None), (9, {}, 9), (9, {"scanned": 9}, 9), (8, {"scanned": 9}, 9)]
)
def test_how_far_the_transcript_was_searched(scanned: int, before: dict[str, int], after: int | None) -> None:
    known = window(flags=before)
    then, _ = apply(facts(epochs.GO_ON, scanned=scanned), event(), known)
    assert (
        then is not None and then.flags.get("scanned") == after and (then is known) == (before.get("scanned") == after)
    )


@pytest.mark.parametrize("before, told", [(None, True), (window(), True), (window(flags={UNRECORDED: True}), False)])
def test_the_person_is_told_once_that_receipts_are_impossible(before: Window | None, told: bool) -> None:
    traces: list[tuple[str, ...]] = []
    turn = SimpleNamespace(trace=lambda *words: traces.append(words), message="")
    warn_if_unrecorded(turn, before, window())  # type: ignore[arg-type]
    assert not traces
    warn_if_unrecorded(turn, before, window(flags={UNRECORDED: True}))  # type: ignore[arg-type]
    assert bool(traces) is told


@pytest.mark.parametrize(
    "carried, records, gone", [({}, True, True), ({"/c": record()}, True, False), ({}, False, False)]
)
def test_when_the_ledger_is_compared_with_what_the_host_shows(
    carried: dict[str, Any], records: bool, gone: bool
) -> None:
    rule = "/p/.directives/AGENTS.md"
    before = window(
        files={rule: record(parts="h", via="host", reason=READ_ITSELF)},
        from_last_epoch=carried,
        compacted_at_offset=50 if carried else 0,
    )
    known = facts(epochs.GO_ON, content=content(), whole_content=True)
    after, _ = apply(known, event(), before, records=records)
    assert after is not None and (rule not in after.files) is gone


@pytest.mark.parametrize("is_taken, whole, dropped", [(False, False, True), (True, False, False), (False, True, True)])
def test_after_a_dropped_mention_earlier_calls_are_looked_at_once(is_taken: bool, whole: bool, dropped: bool) -> None:
    before = window(flags={MENTIONED: {"prompt": "prompt_submitted::p1", "at": 0, "files": [RULES]}})
    known = facts(epochs.GO_ON, content=content(typed={"p1"} if is_taken else set()), whole_content=whole)
    after, _ = apply(known, event(), before)
    assert after is not None and MENTIONED not in after.flags and known.dropped_mention is dropped


def test_a_mention_of_the_prompt_at_hand_is_still_open() -> None:
    before = window(flags={MENTIONED: {"prompt": "prompt_submitted::p1", "at": 0, "files": [RULES]}})
    known = facts(epochs.GO_ON, content=content())
    after, _ = apply(known, event(PROMPT_SUBMITTED, prompt_id="p1"), before)
    assert after is not None and MENTIONED in after.flags and not known.dropped_mention
