from __future__ import annotations

import pytest

from builders import batch, window
from handbill.event import INSTRUCTIONS_LOADED, PROMPT_SUBMITTED, SESSION_STARTED, SUBAGENT_STARTED, Event  # fmt: skip
from handbill.ledger import epochs
from handbill.ledger.epochs import chapter
from handbill.ledger.window import Window


def start(source: str, client: int = 7) -> Event:
    return Event(SESSION_STARTED, "s", source=source, client=client)


def record(parts: str = "k", via: str = "tool_batch_finished", **more: object) -> dict[str, object]:
    return {
        "inode": "", "hash": "0123456789abcdef", "chars": 1, "reason": "why", "at": 1.0, "via": via, "batch": "t1",
        "parts": parts, **more,
    }  # fmt: skip


UNSTARTED = Window("s", "main")


@pytest.mark.parametrize(
    "event, known, expected",
    [
        (start("startup"), None, epochs.FRESH),
        (start("startup"), UNSTARTED, epochs.FRESH),
        (start("startup"), window(client=7), epochs.GO_ON),  # a lane, or registered twice
        (start("startup"), window(client=8), epochs.FRESH),
        (start("clear"), None, epochs.FRESH),
        (start("resume"), None, epochs.ADOPT),
        (start("resume"), window(), epochs.AUDIT),
        (start("resume"), UNSTARTED, epochs.ADOPT),
        (start("fork"), None, epochs.WAIT),
        (start("fork"), UNSTARTED, epochs.WAIT),
        (start("fork"), window(), epochs.GO_ON),
        (start("compact"), UNSTARTED, epochs.COMPACT),
        (start("compact"), window(), epochs.COMPACT),
        (start("compact"), window(flags={"compacted": 95.0}), epochs.GO_ON),  # a second lane
        (start("compact"), window(flags={"compacted": 95.0, "compacting": True}), epochs.COMPACT),
        (start("compact"), window(flags={"compacted": 5.0}), epochs.COMPACT),
        (Event(PROMPT_SUBMITTED, "s"), None, epochs.WAIT),
        (Event(PROMPT_SUBMITTED, "s"), window(), epochs.GO_ON),
        (batch(), None, epochs.ADOPT),
        (batch(), UNSTARTED, epochs.ADOPT),
        (batch(), window(), epochs.GO_ON),
        (Event(INSTRUCTIONS_LOADED, "s"), None, epochs.GO_ON),
        (Event(SUBAGENT_STARTED, "s", agent_id="a"), None, epochs.FRESH),
        (Event(SUBAGENT_STARTED, "s", agent_id="a"), UNSTARTED, epochs.FRESH),
        (Event(SUBAGENT_STARTED, "s", agent_id="a"), window(), epochs.GO_ON),
        (Event(PROMPT_SUBMITTED, "s", client=8), window(client=7), epochs.AUDIT),
        (Event(INSTRUCTIONS_LOADED, "s", client=8), window(client=7), epochs.GO_ON),  # it may run beside the start
    ],
)
def test_chapter(event: Event, known: Window | None, expected: str) -> None:
    assert chapter(event, known, 100.0) == expected


def test_a_compaction_that_does_not_say_whose_is_only_suspected() -> None:
    assert chapter(start("compact"), window(), 100.0, whose_known=False) == epochs.SUSPECT


@pytest.mark.parametrize(
    "created, touched, expected",
    [(99.0, {}, epochs.GO_ON), (99.0, {"/p": []}, epochs.CONTINUED), (80.0, {}, epochs.CONTINUED)],
)
def test_a_continued_subagent_of_an_old_client_is_told(
    created: float, touched: dict[str, list[str]], expected: str
) -> None:
    event = Event(SUBAGENT_STARTED, "s", agent_id="a")
    assert chapter(event, window(created=created, touched=touched), 100.0, agents_survive=False) == expected


def test_a_continued_subagent_of_an_old_client_has_what_its_start_was_given() -> None:
    before = window(
        agent="a",
        files={"/std": record(via=SUBAGENT_STARTED), "/dir": record("e")},
        flags={"standards": 0, "resumed": 0},
        touched={"/p": []},
    )
    after = epochs.continued(Event(SUBAGENT_STARTED, "s", agent_id="a"), before, 100.0)
    assert list(after.files) == ["/std"] and after.flags == {"standards": 0} and len(after.touched) == 0


def test_compaction_drops_all_but_what_the_host_reloads() -> None:
    before = window(
        files={"/std": record(via="session_started"), "/dir": record(), "/CLAUDE.md": record("h", "host", reason="session_start"),
               "/sub/CLAUDE.md": record("h", "host", reason="nested_traversal")},
        pending={"/x": "why"}, touched={"/p": []}, claims=[{"id": 1}], flags={"compacting": True, "standards": 0, "host_once": ["/sub/CLAUDE.md"]},
    )  # fmt: skip
    after = epochs.compacted(before, 500, 100.0)
    assert after.epoch == 1
    assert list(after.files) == ["/CLAUDE.md"]
    assert set(after.from_last_epoch) == {"/std", "/dir", "/sub/CLAUDE.md"}
    assert not after.pending and not len(after.touched) and not after.claims
    assert after.compacted_at_offset == 500
    assert after.flags == {"standards": 0, "compacted": 100.0, "boundary_due": 500}


def test_a_coming_compaction_is_noted_once() -> None:
    armed = epochs.arming(window(), 500, "auto")
    assert armed.flags["compacting"] == "auto" and armed.maybe_compacted_from == 500
    assert epochs.arming(window(), 500, "").flags["compacting"] == "auto"
    assert epochs.arming(armed, 600, "auto") is armed
    # the client called the automatic one off, and now somebody asks for one
    by_hand = epochs.arming(armed, 600, "manual")
    assert (by_hand.flags["compacting"], by_hand.maybe_compacted_from) == ("manual", 500)


@pytest.mark.parametrize("trigger, unknown", [("manual", True), ("auto", False), ("", False)])
def test_what_a_compaction_by_hand_keeps_is_not_known_at_once(trigger: str, unknown: bool) -> None:
    after = epochs.compacted(epochs.arming(window(), 500, trigger), 500, 100.0)
    assert after.flags.get("kept_unknown", False) is unknown


@pytest.mark.parametrize(
    "moment, now, expected",
    [(95.0, 100.0, True), (90.0, 100.0, False), (85.0, 100.0, False), (101.0, 100.0, True), (3700.0, 100.0, False)],
)
def test_moments_are_close_whichever_came_first_and_whatever_the_clock_did(
    moment: float, now: float, expected: bool
) -> None:
    assert epochs.within(moment, now, 10.0) is expected
