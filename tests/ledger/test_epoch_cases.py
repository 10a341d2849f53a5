"""Windows over time, step by step."""

from __future__ import annotations

from typing import Any

import pytest
from test_epochs import record, start

from builders import batch, window
from handbill.event import SUBAGENT_STARTED, Event
from handbill.ledger import epochs
from handbill.ledger.window import JOINED, OWN_ROWS, RESUMED, Window


@pytest.mark.parametrize("source", ["compact", "startup"])
@pytest.mark.parametrize("known", ["nothing", "a side event"])
def test_a_start_of_a_window_that_we_do_not_know(source: str, known: str) -> None:
    before = None if known == "nothing" else Window("s", "main")
    assert epochs.chapter(start(source), before, 100.0) == (epochs.COMPACT if source == "compact" else epochs.FRESH)


def test_a_compaction_is_recorded_with_its_place() -> None:
    after = epochs.compacted(window(files={"/a": record()}, maybe_compacted_from=7), 42, 9.0)
    assert (after.epoch, after.compacted_at_offset, after.maybe_compacted_from) == (1, 42, -1)
    assert list(after.from_last_epoch) == ["/a"] and not after.files and after.flags["compacted"] == 9.0


@pytest.mark.parametrize("suspect, after", [(-1, 50), (0, 0), (7, 7)])
def test_a_coming_compaction_is_suspected_from_the_first_place(suspect: int, after: int) -> None:
    assert epochs.arming(window(maybe_compacted_from=suspect), 50, "auto").maybe_compacted_from == after
    found = epochs.suspected(window(maybe_compacted_from=suspect), 50)
    assert found is not None and found.maybe_compacted_from == after


def test_a_window_that_nobody_knows_is_not_suspected() -> None:
    assert epochs.suspected(None, 50) is None


@pytest.mark.parametrize("client, transcript", [(7, "/t"), (8, "/t"), (7, "/u"), (8, "/u")])
def test_a_window_goes_on_in_another_process(client: int, transcript: str) -> None:
    before = window(client=7, transcript="/t")
    after = epochs.reopened(before, Event("session_started", "s", client=client, transcript=transcript), 50, "x")
    assert (after.client, after.transcript, after.flags) == (client, transcript, {RESUMED: 50})
    assert (before.client, before.transcript, before.flags) == (7, "/t", {})


@pytest.mark.parametrize("flags", [{JOINED: [10], OWN_ROWS: ["x"]}, {JOINED: [10, 20]}])
@pytest.mark.parametrize("client", [7, 8])
def test_a_shared_window_in_another_process(flags: dict[str, Any], client: int) -> None:
    """The rows of the process before are not its own; what another client writes from now on is not either."""
    event = Event("session_started", "s", client=client, transcript="/t")
    after = epochs.reopened(window(client=7, transcript="/t", flags=flags), event, 50, "leaf")
    assert after.flags == {JOINED: [50], OWN_ROWS: ["leaf"], RESUMED: 50}


@pytest.mark.parametrize("agent, name", [("", "main"), ("a1", "a1")])
def test_a_window_that_is_known_from_a_side_event(agent: str, name: str) -> None:
    noted = epochs.side_noted(Event("instructions_loaded", "s", agent_id=agent), 3.0)
    assert noted.agent == name and not noted.started
    opened = epochs.opened(Event(SUBAGENT_STARTED, "s", agent_id=agent), noted, 9.0)
    assert opened.agent == name and opened.started and opened.created == 3.0


def test_what_a_side_event_noted_is_kept() -> None:
    noted = Window("s", "main", created=3.0)
    noted.files["/CLAUDE.md"] = record("h", "host")
    assert "/CLAUDE.md" in epochs.opened(start("startup"), noted, 9.0).files
    assert not epochs.opened(start("startup"), window(files={"/a": record()}), 9.0).files


@pytest.mark.parametrize(
    "reason, chars, again",
    [
        ("skill x, typed", epochs.REATTACHED, True), ("skill x, typed", epochs.REATTACHED + 1, False),
        ("session_start", 10**6, True), ("nested, read by the host", 5, False), ("restored by the client", 5, False),
    ],
)  # fmt: skip
def test_what_the_host_loads_again_by_itself(reason: str, chars: int, again: bool) -> None:
    assert epochs.reloaded(record("h", "host", reason=reason, chars=chars)) is again
    assert not epochs.reloaded(record("k", reason=reason, chars=chars))


def test_a_claim_that_was_printed() -> None:
    after = epochs.printed(window(claims=[{"id": 1}, {"id": 2}]), 2)
    assert after is not None and after.claims == [{"id": 1}, {"id": 2, "printed": True}]
    assert epochs.printed(None, 1) is None


def test_a_suspicion_that_was_wrong() -> None:
    before = window(maybe_compacted_from=5, flags={"compacting": "auto", "suspect_mark": "x", "told": True})
    after = epochs.cleared(before)
    assert after.maybe_compacted_from == -1 and after.flags == {"told": True} and before.maybe_compacted_from == 5


def test_flags_of_an_epoch_end_with_it() -> None:
    flags = {"same_text": ["/a"], "kept_unknown": True, "compacting": "auto", "project": "x"}
    after = epochs.next_epoch(window(flags=flags, pending={"/a": "why"}, touched={"/d": ["AGENTS.md"]}))
    assert after.flags == {"project": "x"} and not after.pending and not len(after.touched)


@pytest.mark.parametrize(
    "kind, answer",
    [("tool_batch_finished", epochs.ADOPT), ("prompt_submitted", epochs.WAIT), ("stopping", epochs.GO_ON)],
)
def test_events_of_an_unknown_window(kind: str, answer: str) -> None:
    event = batch() if kind == "tool_batch_finished" else Event(kind, "s")
    assert epochs.chapter(event, None, 5.0) == answer
    assert epochs.chapter(event, window(), 5.0) == epochs.GO_ON


def test_a_subagents_window_is_not_resumed_by_another_process() -> None:
    event = batch("t1", agent_id="a1", client=7)
    assert epochs.chapter(event, window(agent="a1", client=5), 9.0) == epochs.GO_ON
    assert epochs.chapter(batch("t1", client=7), window(client=5), 9.0) == epochs.AUDIT


def test_a_hook_that_outlives_its_client_is_no_new_process() -> None:
    event = batch("t1", client=1)
    event.names_client = False
    assert epochs.chapter(event, window(client=5), 9.0) == epochs.GO_ON


@pytest.mark.parametrize(
    "flags, boundary, known",
    [
        ({}, 50, False),
        ({"compacted": 9.0}, 50, True),  # noted by a version that did not say where
        ({"boundary": 50}, 50, True),
        ({"boundary": 50}, 49, True),
        ({"boundary": 50}, 51, False),
        ({"boundary_due": 50}, 50, True),
        ({"boundary_due": 50}, 49, False),
        ({"boundary_due": 50}, 0, False),
        ({"boundary": 20, "boundary_due": 50}, 20, True),
        ({"boundary": 20, "boundary_due": 50}, 30, False),  # between two that we know of
        ({"boundary": 20, "boundary_due": 50}, 60, True),
        ({"boundary": 20, "compacted": 9.0}, 30, False),
        ({"boundary_due": 50, "compacted": 9.0}, 30, False),
    ],
)
def test_compactions_that_we_know_of(flags: dict[str, object], boundary: int, known: bool) -> None:
    assert epochs.is_known_compaction(window(flags=flags), boundary) is known


@pytest.mark.parametrize(
    "flags, boundary, precedes",
    [
        ({"boundary_due": 50}, 49, True),
        ({"boundary_due": 50}, 50, False),
        ({}, 49, False),
        ({"boundary": 9}, -1, False),
    ],
)
def test_records_from_before_a_compaction(flags: dict[str, object], boundary: int, precedes: bool) -> None:
    assert epochs.precedes_compaction(window(flags=flags, compacted_at_offset=50), boundary) is precedes


def test_two_compactions_before_either_is_recorded() -> None:
    first = epochs.compacted(window(), 40, 9.0)
    both = epochs.compacted(first, 60, 9.5)
    assert (both.flags["boundary_due"], both.compacted_at_offset) == (40, 60)
    assert epochs.is_known_compaction(both, 45) and epochs.is_known_compaction(both, 65)
    shown = epochs.recorded(both, 45)
    assert shown.flags["boundary"] == 45 and epochs.is_known_compaction(shown, 65)
    shown = epochs.recorded(shown, 65)
    assert "boundary_due" not in shown.flags and not epochs.is_known_compaction(shown, 85)


@pytest.mark.parametrize("boundary, due", [(-1, None), (0, 50), (49, 50), (50, None)])
def test_of_two_compactions_the_second_is_still_due(boundary: int, due: int | None) -> None:
    """-1: none is recorded, and none will be, because the client that compacted is gone."""
    found = epochs.recorded(window(flags={"boundary_due": 40}, compacted_at_offset=50), boundary)
    assert found.flags.get("boundary_due") == due


@pytest.mark.parametrize(
    "flags, boundary, after",
    [
        ({}, 0, {"boundary": 0}),
        ({"boundary_due": 40}, 50, {"boundary": 50}),
        ({"boundary": 20, "boundary_due": 40}, 50, {"boundary": 50}),
        ({"boundary": 60, "boundary_due": 40}, 50, {"boundary": 50}),
        ({"boundary": 20}, 50, {"boundary": 50}),
        ({"boundary": 50}, 50, None),
        ({"boundary": 60}, 50, None),
    ],
)
def test_where_the_transcript_shows_a_compaction(
    flags: dict[str, object], boundary: int, after: dict[str, object] | None
) -> None:
    before = window(flags=flags)
    found = epochs.recorded(before, boundary)
    assert found.flags == (flags if after is None else after) and (found is before) is (after is None)
