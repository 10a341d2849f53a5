from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import batch, document, window
from handbill.event import PROMPT_SUBMITTED, Event
from handbill.ledger.claim import claim
from handbill.ledger.epochs import printed
from handbill.ledger.receipts import CONFIRMED, LOST, PATIENCE, UNRECORDED, Evidence, settle
from handbill.ledger.window import Window, state_of
from handbill.plan import Want

TITLE = ("/a", document("/a").digest, 1, 1)


def sent(*paths: str) -> Window:
    after, _ = claim(
        window(), [Want(p, "why") for p in paths], {p: document(p) for p in paths}, batch("t1"), 9500, now=10.0
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


def in_parts(*claims: dict[str, Any]) -> Window:
    """A file of three parts, the first of which is confirmed; `claims` are open."""
    record = {"parts": "kss", "hash": "d1", "reason": "why", "via": "tool_batch_finished", "batch": "t1", "at": 10.0}
    return window(files={"/a": record}, claims=list(claims))


def claim_of(id: int, part: int) -> dict[str, Any]:
    return {
        "id": id,
        "via": "tool_batch_finished",
        "batch": "t1",
        "offset": 0,
        "at": 10.0,
        "items": [["/a", part, "d1", 3]],
    }


@pytest.mark.parametrize(
    "evidence, parts, outcomes",
    [
        (Evidence({("/a", "d1", 2, 3)}, passed={2}), "kk.", [("confirmed", 2), ("lost", 3)]),
        (Evidence(passed={1, 2}), "k..", [("lost", 2), ("lost", 3)]),
        (Evidence(passed={1}, untrue={("/a", "d1")}), "...", [("lost", 0)]),  # all of them are sent again
        (Evidence(passed={1}, untrue={("/a", "d2")}), "k.s", [("lost", 2)]),  # another state of the file
        (Evidence({("/a", "d1", 2, 3)}, untrue={("/a", "d1")}), "kks", [("confirmed", 2)]),
    ],
)
def test_parts_of_a_file(evidence: Evidence, parts: str, outcomes: list[tuple[str, int]]) -> None:
    after, found = settle(in_parts(claim_of(1, 2), claim_of(2, 3)), evidence, batch("t2"), 11)
    assert after.files["/a"]["parts"] == parts
    assert [(one.result, one.part) for one in found] == outcomes and {one.parts for one in found} == {3}


def test_without_records_what_was_printed_is_assumed() -> None:
    before = printed(sent("/a"), 1)
    assert before is not None
    after, _ = settle(before, Evidence(records=False), batch("t2"), 11)
    assert state_of(after.files["/a"]) == "assumed"


def test_a_lost_file_is_delivered_again_and_then_confirmed() -> None:
    lost, _ = settle(sent("/a"), Evidence(passed={1}), batch("t2"), 11)
    again, answer = claim(lost, [], {"/a": document("/a")}, batch("t2"), 9500, now=12.0)
    assert [grant.path for grant in answer.grants] == ["/a"]
    done, _ = settle(again, Evidence({TITLE}), batch("t3"), 13)
    assert state_of(done.files["/a"]) == "confirmed"
    assert not done.pending and not done.claims


paths = [f"/{name}" for name in "abcdef"]


@given(arrived=st.sets(st.sampled_from(paths)), passed=st.booleans())
def test_every_part_is_open_or_settled_never_both(arrived: set[str], passed: bool) -> None:
    titles = {(path, document(path).digest, 1, 1) for path in arrived}
    after, outcomes = settle(sent(*paths), Evidence(titles, passed={1} if passed else set()), batch("t2"), 11)
    open_items = {path for entry in after.claims for path, *_ in entry["items"]}
    confirmed = {path for path, record in after.files.items() if record["parts"] == "k"}
    assert confirmed == arrived
    assert set(after.pending) == (set(paths) - arrived if passed else set())
    assert open_items == (set() if passed else set(paths) - arrived)
    assert {outcome.path for outcome in outcomes} == confirmed | set(after.pending)


def _claimed(*items: list[object], **records: dict[str, object]) -> Window:
    claim = {"id": 1, "batch": "t1", "at": 10.0, "items": list(items)}
    return window(files={f"/{name}": record for name, record in records.items()}, claims=[claim])


def _record(parts: str = "s", **more: object) -> dict[str, object]:
    return {
        "inode": "",
        "hash": DIGEST,
        "chars": 1,
        "reason": "why",
        "at": 1.0,
        "via": "x",
        "batch": "t1",
        "parts": parts,
        **more,
    }


DIGEST = "0123456789abcdef"


def test_items_of_a_delivery_that_was_begun_again_are_passed_over() -> None:
    """The others of the same claim are still judged."""
    before = _claimed(["/gone", 1, DIGEST, 1], ["/other", 1, "f" * 16, 1], ["/parts", 1, DIGEST, 2], ["/a", 1, DIGEST, 1],
                      other=_record(), parts=_record(), a=_record())  # fmt: skip
    after, outcomes = settle(before, Evidence({("/a", DIGEST, 1, 1)}), batch("t2"), 11.0)
    assert [(one.path, one.result) for one in outcomes] == [("/a", CONFIRMED)] and not after.claims
    assert after.files["/other"]["parts"] == after.files["/parts"]["parts"] == "s"


def test_a_claim_without_any_item_left_is_closed() -> None:
    after, outcomes = settle(_claimed(["/gone", 1, DIGEST, 1]), Evidence(), batch("t2"), 11.0)
    assert not after.claims and outcomes == []


def test_nothing_to_say_yet_changes_nothing() -> None:
    before = _claimed(["/a", 1, DIGEST, 1], a=_record())
    assert settle(before, Evidence(), batch("t2"), 11.0) == (before, [])


def test_a_newer_state_waits_and_the_older_one_is_judged() -> None:
    """The window meanwhile holds the older one, if it arrived."""
    before = _claimed(["/a", 1, DIGEST, 1], a=_record(".", before="s"))
    after, (outcome,) = settle(before, Evidence({("/a", DIGEST, 1, 1)}), batch("t2"), 11.0)
    assert (after.files["/a"]["before"], outcome.path, outcome.result) == ("k", "/a", CONFIRMED)
    after, (outcome,) = settle(before, Evidence(passed={1}), batch("t2"), 11.0)
    assert (after.files["/a"]["before"], outcome.result) == ("", LOST)
    assert not after.pending, "nobody wants the older one any more"


def test_how_often_a_file_was_lost_is_counted() -> None:
    for lost, now in ((None, 1), (1, 2)):
        record = _record() if lost is None else _record(lost=lost)
        after, _ = settle(_claimed(["/a", 1, DIGEST, 1], a=record), Evidence(passed={1}), batch("t2"), 11.0)
        assert after.files["/a"]["lost"] == now and after.pending == {"/a": "why"}


@pytest.mark.parametrize("later, result", [(PATIENCE - 1, []), (PATIENCE + 1, ["assumed"])])
def test_without_a_transcript_patience_ends(later: float, result: list[str]) -> None:
    before = _claimed(["/a", 1, DIGEST, 1], a=_record())
    _, outcomes = settle(before, Evidence(readable=False), batch("t2"), 10.0 + later)
    assert [one.result for one in outcomes] == result


def test_a_preview_in_the_place_of_a_delivery() -> None:
    before = _claimed(["/a", 1, DIGEST, 1], a=_record())
    after, _ = settle(before, Evidence(cut={("/a", DIGEST, 1, 1)}), batch("t2"), 11.0)
    assert state_of(after.files["/a"]) == "truncated"


@pytest.mark.parametrize("evidence", [Evidence(records=False), Evidence(readable=False)], ids=["unrecorded", "missing"])
def test_only_a_later_batch_says_that_the_client_went_on(evidence: Evidence) -> None:
    before = _claimed(["/a", 1, DIGEST, 1], a=_record())
    assert settle(before, evidence, Event(PROMPT_SUBMITTED, "s"), 10.0 + PATIENCE + 1) == (before, [])
    assert settle(before, evidence, batch("t2"), 10.0 + PATIENCE)[1]


# --- a record in a form that we do not know -----------------------------------------------------------


@pytest.mark.parametrize(
    "lost, other, understood, result",
    [
        (2, "s", False, "assumed"),
        (1, "s", False, "lost"),  # once more
        (2, "k", False, "lost"),  # another one was seen there
        (2, "s", True, "lost"),
    ],
)
def test_files_that_never_show_up_are_not_sent_for_ever(lost: int, other: str, understood: bool, result: str) -> None:
    before = _claimed(["/a", 1, DIGEST, 1], a=_record(lost=lost), b=_record(other))
    after, (outcome,) = settle(before, Evidence(passed={1}, understood=understood), batch("t2"), 11.0)
    assert outcome.result == result and bool(after.flags.get(UNRECORDED)) is (result == "assumed")


def test_in_such_a_window_all_others_are_assumed_until_one_is_seen() -> None:
    before = _claimed(["/a", 1, DIGEST, 1], ["/b", 1, DIGEST, 1], a=_record(), b=_record())
    before.flags[UNRECORDED] = True
    assert settle(before, Evidence(), batch("t2"), 11.0) == (before, [])
    assert settle(before, Evidence(passed={1}, understood=True), batch("t2"), 11.0)[0].flags == {UNRECORDED: True}
    after, outcomes = settle(before, Evidence(passed={1}), batch("t2"), 11.0)
    assert [one.result for one in outcomes] == ["assumed", "assumed"] and after.flags == {UNRECORDED: True}
    after, outcomes = settle(before, Evidence({("/b", DIGEST, 1, 1)}), batch("t2"), 11.0)
    assert [one.result for one in outcomes] == ["confirmed"] and not after.flags


def test_evidence_keeps_what_it_is_told() -> None:
    title = ("/a", DIGEST, 1, 2)
    told = Evidence({title}, {title}, {3}, untrue={("/a", DIGEST)})
    assert (told.untrue, Evidence().untrue) == ({("/a", DIGEST)}, set())


@pytest.mark.parametrize("dropped, state", [(set(), "assumed"), ({1}, "lost")])
def test_a_prompt_that_was_dropped_says_nothing_about_how_the_host_records(dropped: set[int], state: str) -> None:
    """A file that was lost twice, of which nothing was ever seen: the host may not record it. Not so a dropped prompt."""
    before = sent("/a")
    before.files["/a"] = {**before.files["/a"], "lost": 2}
    after, _ = settle(before, Evidence(passed={1}, dropped=dropped), batch("t2"), 11)
    assert state_of(after.files["/a"]) == state and bool(after.flags.get(UNRECORDED)) is (state == "assumed")
