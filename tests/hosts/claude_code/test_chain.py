"""Which rows of a transcript are in a window: compactions, leaves, branches, and what is beside the chain."""

from __future__ import annotations

import pytest
from transcript_lines import NEW, OLD, ROWS, A, answer, boundary, call, injection, line, ours, prompt, titles, window

from handbill.hosts.claude_code.chain import Loader, chain_from, drop_foreign_compactions, relinked
from handbill.hosts.claude_code.rows import Rows, preserved, read
from handbill.ledger.own_rows import OwnRows

# a compaction that kept nothing, and its summary
PLAIN = line("system", "b", None, subtype="compact_boundary") + line("user", "s", "b", message={"content": "sum"})
KEPT = boundary("b", "k0", "k1", uuids=["k0", "k1"])


@pytest.mark.parametrize(
    "data, foreign",
    [
        (KEPT + call("x", "k1", "t9"), False),  # what it kept was not read
        (KEPT + call("x", "other", "t9"), True),
        (
            prompt("p0", None) + answer("a1", "p0") + prompt("u2", "a1")
            + boundary("b", "p0", "a1", uuids=["p0", "a1"]) + call("x", "u2", "t9"),
            True,  # a message of its own leads past it
        ),
        (
            prompt("p0", None) + answer("a1", "p0") + boundary("b", "p0", "a1", uuids=["p0", "a1"]) + call("x", "a1", "t9"),
            False,
        ),
        (prompt("p0", None) + call("x", "p0", "t9") + PLAIN, False),  # nothing was said since
        (
            prompt("p0", None) + PLAIN + prompt("u", "s") + line("system", "c", None, subtype="compact_boundary")
            + call("x", "c", "t9"),
            False,  # an earlier compaction of its own
        ),
        (prompt("p0", None) + PLAIN + call("x", "s", "t9"), False),  # it leads through the compaction
        (prompt("p0", None) + PLAIN + prompt("u", "s") + call("x", "p0", "t9") + answer("v", "u"), True),
        (prompt("p0", None) + PLAIN + call("x", "p0", "t1"), True),  # without a mark of its own: by the newest row
        (prompt("p0", None) + injection("i", "p0", "x") + boundary("b", "p0", "p0", uuids=["p0"]) + call("x", "i", "t9"),
         False),  # an attachment is not a message
    ],
)  # fmt: skip
def test_a_compaction_of_another_client(data: bytes, foreign: bool) -> None:
    rows = read(data, 0, agent=False)
    assert drop_foreign_compactions(rows, OwnRows((["t9"],))) is foreign and ("b" in rows.by_id) is not foreign


@pytest.mark.parametrize(
    "metadata, expected",
    [
        ({"preservedMessages": {"uuids": ["1", 2, "3"]}}, ["1", "3"]),
        ({"preservedMessages": {"uuids": "1"}, "preservedSegment": {"headUuid": "h", "tailUuid": "t"}}, ["h", "t"]),
        ({"preservedSegment": {"headUuid": "h", "tailUuid": 5}}, ["h"]),
        ({"preservedMessages": [], "preservedSegment": []}, []),
        ({}, []),
        (None, []),
        ("odd", []),
    ],
)
def test_what_a_compaction_says_that_it_kept(metadata: object, expected: list[str]) -> None:
    assert preserved({"compactMetadata": metadata}) == expected


# --- the rows that a compaction kept ---------------------------------------------------------------


def linked(data: bytes, *, live: bool = True, partial: bool = False) -> tuple[str | None, Rows]:
    rows = read(data, 0, agent=False)
    return relinked(rows, live=live, partial=partial), rows


@pytest.mark.parametrize(
    "row", [boundary("b", "2", "4", uuids=["2", "3", "4"]), boundary("b", "2", "4")], ids=["a list", "its ends"]
)
@pytest.mark.parametrize("live", [True, False])
def test_kept_rows_follow_the_summary_in_their_order(row: bytes, live: bool) -> None:
    kept, rows = linked(ROWS + row + prompt("5", "s") + prompt("6", "4"), live=live)
    assert kept == "4" and "1" not in rows.by_id
    assert [rows.parent[uuid] for uuid in ("s", "2", "3", "4", "5", "6")] == ["b", "s", "2", "3", "4", "4"]


@pytest.mark.parametrize(
    "live, partial, kept", [(True, False, "4"), (False, False, ""), (True, True, None), (False, True, None)]
)
@pytest.mark.parametrize("row", [boundary("b", "3", "x"), boundary("b", "3", "4", uuids=["3", "4", "x"])])
def test_kept_rows_that_were_never_written(row: bytes, live: bool, partial: bool, kept: str | None) -> None:
    found, rows = linked(ROWS + row, live=live, partial=partial)
    assert found == kept
    assert ("1" in rows.by_id) is (kept != "4"), "a loader leaves everything as it is"


def test_a_live_client_that_kept_nothing_that_was_written() -> None:
    kept, rows = linked(ROWS + boundary("b", "x", "y"))
    assert kept == "" and list(rows.by_id) == ["b", "s"]


def test_a_compaction_that_kept_nothing_after_one_that_did() -> None:
    data = ROWS + boundary("b", "2", "4") + prompt("5", "4") + line("system", "c", "5", subtype="compact_boundary")
    kept, rows = linked(data + prompt("6", "5") + prompt("7", "c"), partial=True)
    assert kept == "" and list(rows.by_id) == ["c", "6", "7"] and rows.parent["6"] == "5"


def test_rows_that_lost_their_parent_follow_what_was_kept() -> None:
    more = prompt("5", "1") + answer("6", "1") + injection("7", "1", "x") + prompt("8", None) + prompt("9", "5")
    kept, rows = linked(ROWS + boundary("b", "2", "4", uuids=["2", "3", "4"]) + more)
    assert kept == "4"
    assert [rows.parent[uuid] for uuid in "56789"] == ["4", "4", "1", "", "5"]


def test_kept_rows_whose_summary_is_not_there() -> None:
    _, rows = linked(ROWS + boundary("b", "2", "4", anchor="x", uuids=["2", "3", "4"]))
    assert rows.parent["2"] == "x" and chain_from(rows, "4", live=True) == ["2", "3", "4"]


def test_kept_rows_in_a_circle() -> None:
    data = prompt("1", "2") + answer("2", "1") + boundary("b", "0", "2")
    assert linked(data, live=False)[0] == ""


def test_a_list_of_kept_rows_need_not_be_a_chain() -> None:
    _, rows = linked(ROWS + boundary("b", "2", "4", uuids=["2", "4"]))
    assert list(rows.by_id) == ["2", "4", "b", "s"] and rows.parent["4"] == "2"


def test_a_compaction_that_names_only_the_first_row_that_it_kept() -> None:
    metadata = {"preservedSegment": {"headUuid": "2", "anchorUuid": "b", "tailUuid": 5}}
    kept, rows = linked(ROWS + line("system", "b", None, subtype="compact_boundary", compactMetadata=metadata))
    assert kept == "2" and list(rows.by_id) == ["2", "b"]


def test_kept_rows_that_already_follow_the_anchor() -> None:
    _, rows = linked(ROWS + boundary("b", "2", "4", anchor="1", uuids=["1", "2", "3", "4"][1:]))
    assert [rows.parent[uuid] for uuid in "234"] == ["1", "2", "3"]


def test_a_compaction_that_keeps_the_row_of_an_earlier_one() -> None:
    """Summarize from here, twice: what was said between the two is gone."""
    metadata = {"preservedMessages": {"anchorUuid": "c", "uuids": ["b", "s", "1"]}}
    later = line("system", "c", None, subtype="compact_boundary", compactMetadata=metadata)
    data = prompt("1", None) + boundary("b", "1", "1", uuids=["1"]) + prompt("5", "s") + injection("6", "5", A)
    data += later + line("user", "t", "c", message={"content": "sum"}) + prompt("7", "t")
    assert titles(data) == set() and window(data).calls == []
    assert titles(data[: data.index(later)]) == {"/a"}


@pytest.mark.parametrize("loader, expected", [(None, set()), (OLD, {"/a"}), (NEW, {"/a", "/new"})])
def test_a_rewind_to_before_what_a_compaction_kept(loader: Loader | None, expected: set[str]) -> None:
    """Summarize up to here, and then back to the first prompt that was kept. A loader puts it all back."""
    data = (
        prompt("1", None) + injection("2", "1", A) + answer("3", "2") + boundary("b", "1", "3", uuids=["1", "2", "3"])
    )
    data += injection("i", "s", ours("/new", "x")) + prompt("4", "i") + answer("5", "4")
    assert titles(data, loader) == {"/a", "/new"}
    assert titles(data + prompt("6", "s") + answer("7", "6"), loader) == expected


def test_a_compaction_before_the_window_was_resumed_is_never_another_clients() -> None:
    """The loader has applied it, whoever was compacted."""
    data = ROWS + PLAIN + prompt("5", "4")
    for resumed_at, foreign in ((0, True), (len(data), False)):
        rows = read(data)
        assert drop_foreign_compactions(rows, OwnRows((["p-5"],), resumed_at=resumed_at)) is foreign


def test_a_window_that_begins_with_a_compaction_of_its_own() -> None:
    """The other client was compacted later."""
    own = line("system", "a", None, subtype="compact_boundary") + prompt("1", "a") + answer("2", "1")
    rows = read(own + PLAIN + prompt("3", "2"))
    assert drop_foreign_compactions(rows, OwnRows((["p-3"],))) and list(rows.by_id) == ["a", "1", "2", "s", "3"]


def test_a_compaction_that_is_being_written_does_not_hide_what_is_before_it() -> None:
    before = prompt("1", None) + injection("2", "1", A) + PLAIN + injection("3", "s", A)
    unfinished = boundary("c", "3", "3", uuids=["3"]).partition(b"\n")[0]
    assert titles(before + unfinished) == titles(before) == {"/a"}
