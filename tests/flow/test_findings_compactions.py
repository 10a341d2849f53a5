"""What the facts say about a compaction: announced, found late, called off, and what it kept."""

from __future__ import annotations

from typing import Any

import pytest
from test_findings_apply import DIGEST, NOW, RULES, TITLE, apply, content, event, facts, record

from builders import window
from handbill.event import COMPACTING, PROMPT_SUBMITTED
from handbill.ledger import epochs
from handbill.ledger.content import Content
from handbill.ledger.window import READ_ITSELF


def test_a_compaction_that_is_announced() -> None:
    after, _ = apply(facts(epochs.GO_ON, size=40), event(COMPACTING, trigger="auto"), window())
    assert after is not None and after.maybe_compacted_from == 40 and after.flags["compacting"] == "auto"


@pytest.mark.parametrize(
    "values, boundary, boundary_from, compacted",
    [
        ({"maybe_compacted_from": 10}, 20, -1, True),
        ({"maybe_compacted_from": 0}, 0, -1, True),
        ({"maybe_compacted_from": 10}, 9, -1, False),
        ({"maybe_compacted_from": -1}, 20, -1, False),
        ({}, 5, 5, True),  # its event never reached us
        ({}, 5, 0, True),
        ({}, 4, 5, False),
        ({"flags": {epochs.BOUNDARY: 20}}, 20, 5, False),  # known
        ({"flags": {epochs.BOUNDARY: 20}, "maybe_compacted_from": 10}, 20, 5, True),
    ],
)
def test_a_compaction_that_the_transcript_shows(
    values: dict[str, Any], boundary: int, boundary_from: int, compacted: bool
) -> None:
    before = window(files={"/a": record()}, **values)
    known = facts(epochs.GO_ON, content=content(boundary=boundary), boundary_from=boundary_from)
    after, _ = apply(known, event(), before)
    assert after is not None and after.epoch == compacted and after.holds("/a") is not compacted
    assert after.maybe_compacted_from == (-1 if compacted else before.maybe_compacted_from)
    if compacted:
        assert after.flags[epochs.BOUNDARY] == boundary


def test_what_another_event_of_the_same_prompt_delivered_came_after_the_compaction() -> None:
    """The host submits no prompt during a compaction."""
    own, other = "prompt_submitted::p1", "t1"
    claims = [
        {"id": 1, "batch": own, "offset": 50, "at": NOW, "items": [["/a", 1, DIGEST, 1], ["/nowhere", 1, DIGEST, 1]]},
        {"id": 2, "batch": other, "offset": 5, "at": NOW, "items": [["/b", 1, DIGEST, 1]]},
    ]
    files = {"/a": record(parts="s", batch=own), "/b": record(parts="s", batch=other)}
    before = window(files=files, claims=claims, maybe_compacted_from=10)
    prompt = event(PROMPT_SUBMITTED, prompt_id="p1")
    after, outcomes = apply(facts(epochs.GO_ON, content=content(boundary=20)), prompt, before)
    assert after is not None and after.epoch == 1 and outcomes == []
    assert list(after.files) == ["/a"] and [claim["id"] for claim in after.claims] == [1]
    assert not after.from_last_epoch, "the rest was judged by what the compaction kept"


def test_where_a_known_compaction_is_recorded() -> None:
    before = window(flags={epochs.DUE: 3, "compacted": 1.0})
    after, _ = apply(facts(epochs.GO_ON, content=content(boundary=5), boundary_from=0), event(), before)
    assert after is not None and after.epoch == 0 and after.flags == {epochs.BOUNDARY: 5, "compacted": 1.0}


def test_a_transcript_that_cannot_be_read_now() -> None:
    before = window(files={"/a": record(), RULES: record(parts="h", via="host", reason=READ_ITSELF)})
    after, outcomes = apply(facts(epochs.GO_ON, boundary_from=0), event(), before)
    assert after is before and outcomes == []


@pytest.mark.parametrize("suspect, passed, left", [(4, True, -1), (4, False, 4), (-1, True, -1)])
def test_a_suspicion_that_is_gone(suspect: int, passed: bool, left: int) -> None:
    before = window(maybe_compacted_from=suspect)
    after, _ = apply(facts(epochs.GO_ON, passed_suspicion=passed), event(), before)
    assert after is not None and after.maybe_compacted_from == left and (after is before) == (suspect == left)


@pytest.mark.parametrize(
    "shown, readable, compacted_at, kept",
    [
        (content(TITLE, boundary=10), True, 1.0, True),
        (content(boundary=10), True, 1.0, False),
        (content(TITLE, boundary=9), True, 1.0, None),  # of the one before
        (None, True, 1.0, None),
        (None, False, 1.0, False),  # it will never be known
        (None, False, NOW, None),  # it may still be written
    ],
)
def test_what_a_compaction_kept(shown: Content | None, readable: bool, compacted_at: float, kept: bool | None) -> None:
    before = window(from_last_epoch={"/a": record()}, compacted_at_offset=10, flags={"compacted": compacted_at})
    after, _ = apply(facts(epochs.GO_ON, content=shown, readable=readable), event(), before)
    assert after is not None and bool(after.from_last_epoch) is (kept is None) and after.holds("/a") is bool(kept)
    assert (after is before) == (kept is None)


@pytest.mark.parametrize("readable", [True, False])
def test_nothing_is_judged_where_nothing_was_carried(readable: bool) -> None:
    before = window(flags={"compacted": 1.0})
    shown = content(boundary=5, files={RULES}) if readable else None
    after, _ = apply(facts(epochs.GO_ON, content=shown, readable=readable), event(), before)
    assert after is before
