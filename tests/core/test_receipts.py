from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handbill.core.claim import claim
from handbill.core.epochs import printed
from handbill.core.plan import Want
from handbill.core.receipts import Evidence, settle
from handbill.core.window import Window, state_of
from makers import batch, sheet, window

TITLE = ("/a", sheet("/a").digest, 1, 1)


def sent(*paths: str) -> Window:
    after, _ = claim(
        window(), [Want(p, "why") for p in paths], {p: sheet(p) for p in paths}, batch("t1"), 9500, now=10.0
    )
    return after


@pytest.mark.parametrize(
    "evidence, later, now, state",
    [
        (Evidence({TITLE}), "t2", 11, "confirmed"),
        (Evidence({TITLE}), "t1", 11, "confirmed"),
        (Evidence(cut={TITLE}), "t2", 11, "truncated"),
        (Evidence(passed={1}), "t2", 11, "lost"),
        (Evidence(passed={1}), "t1", 11, "sent"),  # its own moment: nothing can be concluded
        (Evidence(), "t2", 11, "sent"),  # absence proves nothing
        (Evidence(), "t2", 9999, "sent"),
        (Evidence(records=False), "t2", 11, "lost"),  # never printed: its hook died
        (Evidence(records=False), "t1", 11, "sent"),
        (Evidence(readable=False), "t2", 11, "sent"),
        (Evidence(readable=False), "t2", 15, "assumed"),
    ],
)
def test_one_claim(evidence: Evidence, later: str, now: float, state: str) -> None:
    before = sent("/a")
    after, outcomes = settle(before, evidence, batch(later), now)
    assert state_of(after.files["/a"]) == state
    assert (after is before) == (state == "sent")
    assert bool(after.claims) == (state == "sent")
    assert ("/a" in after.pending) == (state == "lost")
    assert len(outcomes) == (state != "sent")


def test_without_records_what_was_printed_is_assumed() -> None:
    before = printed(sent("/a"), 1)
    assert before is not None
    after, _ = settle(before, Evidence(records=False), batch("t2"), 11)
    assert state_of(after.files["/a"]) == "assumed"


def test_a_lost_file_is_delivered_again_and_then_confirmed() -> None:
    lost, _ = settle(sent("/a"), Evidence(passed={1}), batch("t2"), 11)
    again, answer = claim(lost, [], {"/a": sheet("/a")}, batch("t2"), 9500, now=12.0)
    assert [grant.path for grant in answer.grants] == ["/a"]
    done, _ = settle(again, Evidence({TITLE}), batch("t3"), 13)
    assert state_of(done.files["/a"]) == "confirmed"
    assert not done.pending and not done.claims


paths = [f"/{name}" for name in "abcdef"]


@given(arrived=st.sets(st.sampled_from(paths)), passed=st.booleans())
def test_every_part_is_open_or_settled_never_both(arrived: set[str], passed: bool) -> None:
    titles = {(path, sheet(path).digest, 1, 1) for path in arrived}
    after, outcomes = settle(sent(*paths), Evidence(titles, passed={1} if passed else set()), batch("t2"), 11)
    open_items = {path for entry in after.claims for path, *_ in entry["items"]}
    confirmed = {path for path, record in after.files.items() if record["parts"] == "k"}
    assert confirmed == arrived
    assert set(after.pending) == (set(paths) - arrived if passed else set())
    assert open_items == (set() if passed else set(paths) - arrived)
    assert {outcome.path for outcome in outcomes} == confirmed | set(after.pending)
