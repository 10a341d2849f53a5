"""Claims, case by case: what is settled without a delivery, what fits exactly, what is in the record."""

from __future__ import annotations

import pytest

from handbill.core.claim import DIRECTIVE, Claim, claim
from handbill.core.pack import BETWEEN, block, units
from handbill.core.plan import Want
from handbill.core.sheet import Refusal, Sheet
from handbill.core.window import Window
from makers import batch, sheet, window

CAP = 2000


def ask(
    state: Window, sheets: dict[str, Sheet | Refusal], *paths: str, room: int = CAP, reason: str = "why"
) -> tuple[Window, Claim]:
    return claim(state, [Want(path, reason) for path in paths], sheets, batch("t9"), room, now=5.0)


def held(path: str, text: str = "", **more: object) -> dict[str, object]:
    one = sheet(path, text)
    return {
        "inode": one.inode, "hash": one.digest, "chars": 1, "reason": "why", "at": 1.0, "via": "tool_batch_finished",
        "batch": "t1", "parts": "k", "stamp": "old", **more,
    }  # fmt: skip


def size(one: Sheet) -> int:
    return units(block(one.path, one.digest, one.text))


# --- settled without a delivery -------------------------------------------------------------------


def test_what_the_window_holds_does_not_stay_pending() -> None:
    after, answer = ask(window(files={"/a": held("/a")}, pending={"/a": "why"}), {"/a": sheet("/a")})
    assert not after.pending and [why for _, why, _ in answer.skipped] == ["skip-dedup"]


def test_text_that_is_there_under_another_name_does_not_stay_pending() -> None:
    after, answer = ask(window(files={"/b": held("/b", "text")}, pending={"/a": "why"}), {"/a": sheet("/a", "text")})
    assert not after.pending and [why for _, why, _ in answer.skipped] == ["skip-content"]


def test_a_partly_delivered_file_is_no_other_name() -> None:
    """Nobody can rely on text of which a part is missing."""
    after, answer = ask(window(files={"/b": held("/b", "text", parts="k.")}), {"/a": sheet("/a", "text")}, "/a")
    assert [grant.path for grant in answer.grants] == ["/a"] and after.holds("/a")


def test_a_name_that_fills_the_message_is_refused() -> None:
    path = "/" + "n" * CAP
    after, answer = ask(window(), {path: sheet(path, "word " * 900)}, path)
    assert [one.path for one in answer.refused] == [path] and not after.pending and not answer.grants


CHANGED = held("/a", "older", parts=".", before="k", updated=True, stamp="old")


@pytest.mark.parametrize(
    "now, stamp",
    [(Refusal("/a", "is gone"), "old"), (sheet("/a", "older"), sheet("/a", "older").stamp)],
    ids=["gone", "as it was"],
)
def test_a_newer_state_that_is_not_delivered_leaves_what_was_there(now: Sheet | Refusal, stamp: str) -> None:
    after, answer = ask(window(files={"/a": CHANGED}, pending={"/a": "why"}), {"/a": now})
    record = after.files["/a"]
    assert (record["parts"], record["before"], record["updated"], record["stamp"]) == ("k", "", False, stamp)
    assert not answer.grants and not after.pending


def test_a_newer_state_that_is_there_under_another_name() -> None:
    files = {"/a": CHANGED, "/b": held("/b", "newer")}
    after, answer = ask(window(files=files, pending={"/a": "why"}), {"/a": sheet("/a", "newer")})
    assert after.files["/a"]["parts"] == "k" and not after.files["/a"]["updated"] and not answer.grants


# --- what fits ------------------------------------------------------------------------------------


@pytest.mark.parametrize("spare, granted", [(0, ["/a"]), (-1, [])])
def test_a_block_may_fill_a_message_exactly(spare: int, granted: list[str]) -> None:
    one = sheet("/a", "x" * 500)
    _, answer = ask(window(), {"/a": one}, "/a", room=size(one) + spare)
    assert [grant.path for grant in answer.grants if grant.parts == 1] == granted


@pytest.mark.parametrize("spare, granted", [(0, ["/a", "/b"]), (-1, ["/a"])])
def test_what_stands_between_two_blocks_counts(spare: int, granted: list[str]) -> None:
    sheets: dict[str, Sheet | Refusal] = {"/a": sheet("/a", "x" * 300), "/b": sheet("/b", "y" * 300)}
    room = sum(size(one) for one in sheets.values() if isinstance(one, Sheet)) + len(BETWEEN) + spare
    _, answer = ask(window(), sheets, "/a", "/b", room=room)
    assert [grant.path for grant in answer.grants] == granted and units(answer.text) <= room


def test_parts_are_delivered_in_their_order() -> None:
    """The first part does not fit beside another file: the second, which may be smaller, waits for it."""
    sheets: dict[str, Sheet | Refusal] = {
        "/small": sheet("/small", "s" * 1000),
        "/large": sheet("/large", "line\n" * 700),
    }
    after, answer = ask(window(), sheets, "/small", "/large", reason=f"{DIRECTIVE}/x")
    parts = [grant.part for grant in answer.grants if grant.path == "/large"]
    assert parts == list(range(1, len(parts) + 1)) and "/large" in after.pending


# --- order ----------------------------------------------------------------------------------------


def test_a_file_of_two_parts_waits_for_whole_ones() -> None:
    sheets: dict[str, Sheet | Refusal] = {"/two": sheet("/two", "w" * 2500), "/one": sheet("/one")}
    _, answer = ask(window(), sheets, "/two", "/one", reason="standards")
    assert answer.grants[0].path == "/one"


def test_files_of_a_gate_wait_for_the_one_before_them() -> None:
    sheets: dict[str, Sheet | Refusal] = {path: sheet(path) for path in ("/b", "/c")}
    sheets["/a"] = sheet("/a", "w" * 5000)
    after, answer = ask(window(), sheets, "/a", "/b", "/c", reason="context")
    assert {grant.path for grant in answer.grants} == {"/a"} and list(after.pending) == ["/a", "/b", "/c"]
    _, answer = ask(after, {**sheets, "/r": sheet("/r")}, "/r", reason=f"{DIRECTIVE}/x")
    assert "/r" in {grant.path for grant in answer.grants}, "a rule does not wait for them"


# --- the same rules -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "first, second, same",
    [
        ("/p/x/.directives/AGENTS.md", "/p/y/.directives/AGENTS.md", True),
        ("/p/x/.directives/AGENTS.md", "/p/x/AGENTS.md", False),  # of the same directory
        ("/p/x/AGENTS.md", "/p/y/AGENTS.md", True),
        ("/p/x/.directives/AGENTS.md", "/p/x/.directives/INVARIANTS.md", False),
    ],
)
def test_one_line_where_it_speaks_for_another_directory(first: str, second: str, same: bool) -> None:
    before, _ = ask(window(), {first: sheet(first, "rules", "1:1")}, first, reason=f"{DIRECTIVE}/p/x")
    after, answer = ask(before, {second: sheet(second, "rules", "1:2")}, second, reason=f"{DIRECTIVE}/p/y")
    assert bool(answer.grants) is same
    assert "same" not in before.files[first]
    if same:
        assert after.files[second]["same"] == first and answer.grants[0].same == first
