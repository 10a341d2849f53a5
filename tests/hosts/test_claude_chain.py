"""Which rows of a transcript are in a window: compactions, leaves, branches, and what is beside the chain."""

from __future__ import annotations

import pytest
from transcript_lines import NEW, OLD, answer, boundary, call, injection, line, prompt, result

from handbill.hosts.claude_chain import (
    Loader,
    beside_chain,
    chain_from,
    drop_foreign_compactions,
    leaf_of,
    preserved,
    relinked,
)
from handbill.hosts.claude_rows import Rows, read

Metadata = dict[str, object]

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
        (prompt("p0", None) + PLAIN + call("x", "s", "t9"), False),  # it leads through the compaction
        (prompt("p0", None) + PLAIN + prompt("u", "s") + call("x", "p0", "t9") + answer("v", "u"), True),
        (prompt("p0", None) + PLAIN + call("x", "p0", "t1"), True),  # without a mark of its own: by the newest row
        (prompt("p0", None) + injection("i", "p0", "x") + boundary("b", "p0", "p0", uuids=["p0"]) + call("x", "i", "t9"),
         False),  # an attachment is not a message
    ],
)  # fmt: skip
def test_a_compaction_of_another_client(data: bytes, foreign: bool) -> None:
    rows = read(data, 0, agent=False)
    assert drop_foreign_compactions(rows, (["t9"],)) is foreign and ("b" in rows.by_id) is not foreign


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

ROWS = prompt("1", None) + answer("2", "1") + prompt("3", "2") + answer("4", "3")


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


# --- the leaf --------------------------------------------------------------------------------------


def leaf(data: bytes, loader: Loader | None, kept: str = "", own: tuple[list[str], ...] = ()) -> str:
    return leaf_of(read(data, 0, agent=False), kept, loader, own)


def noted(leaf: str | None, *, explicit: bool = False) -> bytes:
    mark = b',"explicit":true' if explicit else b""
    name = f'"{leaf}"'.encode() if leaf else b"null"
    return b'{"type":"last-prompt","leafUuid":' + name + mark + b"}\n"


BRANCHES = ROWS + prompt("5", "2") + answer("6", "5")


@pytest.mark.parametrize(
    "data, kept, expected",
    [
        (ROWS, "", "4"),
        (ROWS, "4", "4"),
        (prompt("1", None) + prompt("2", "1"), "1", "2"),  # said since
        (prompt("2", None) + prompt("1", "2") + b"", "1", "1"),
        (prompt("1", None) + answer("2", "1") + prompt("1", None), "2", "2"),  # written again: it is in what was kept
        (b"", "", ""),
    ],
)
def test_the_leaf_of_a_running_client(data: bytes, kept: str, expected: str) -> None:
    assert leaf(data, None, kept) == expected


def test_a_running_client_whose_last_row_is_out_of_its_window() -> None:
    rows = read(ROWS, 0, agent=False)
    del rows.by_id["4"]
    assert leaf_of(rows, "2", None) == "2"


@pytest.mark.parametrize(
    "own, expected",
    [
        ((), "6"),
        (([],), "6"),
        ((["p-3"],), "4"),  # its branch ends there
        ((["p-5"],), "6"),
        (([], ["p-3"]), "4"),
        ((["nowhere"], ["p-3"]), "4"),
        ((["p-5"], ["p-3"]), "6"),  # the surest group first
        ((["p-1"],), "6"),  # before both
    ],
)
def test_the_branch_of_this_client_when_another_one_writes(own: tuple[list[str], ...], expected: str) -> None:
    assert leaf(BRANCHES, None, own=own) == expected


@pytest.mark.parametrize(
    "data, kept, expected",
    [
        (ROWS + injection("7", "4", "x"), "", "4"),  # a message, not an attachment
        (BRANCHES + noted("4"), "", "4"),
        (BRANCHES + noted("2"), "", "6"),  # the conversation went on from there
        (BRANCHES + noted("2", explicit=True), "", "2"),
        (BRANCHES + noted("2", explicit=True), "6", "2"),
        (BRANCHES + noted("4"), "6", "4"),  # of several ends the one that was noted
        (BRANCHES + noted("2"), "4", "6"),
        (BRANCHES + noted("nowhere", explicit=True), "6", "6"),
        (BRANCHES + noted("nowhere"), "", "6"),
        (BRANCHES + noted(None, explicit=True), "", ""),
        (injection("1", None, "x"), "", ""),
    ],
)
def test_the_leaf_that_a_loader_takes(data: bytes, kept: str, expected: str) -> None:
    assert leaf(data, OLD, kept) == expected


def at(second: int) -> dict[str, str]:
    return {"timestamp": f"2026-01-01T00:00:{second:02}.000Z"}


def test_of_several_ends_the_one_that_was_written_last() -> None:
    spoken = line("user", "1", None, **at(1)) + line("user", "2", "1", **at(9)) + line("user", "3", "1", **at(5))
    side = line("user", "4", "1", isSidechain=True, **at(20))
    assert leaf(spoken, OLD, kept="1") == "3", "by the newest row"
    rows = read(spoken + side, 0, agent=False)
    rows.last = "gone"
    assert leaf_of(rows, "1", OLD) == "2", "by the clock, without side chains"
    agent = read(spoken + side, 0, agent=True)
    agent.last = "gone"
    assert leaf_of(agent, "1", OLD) == "4", "in a subagent's file every row is of a side chain"


def test_an_end_that_is_only_an_attachment_below_a_message_that_went_on() -> None:
    data = prompt("1", None) + injection("2", "1", "x") + answer("3", "1") + injection("4", "1", "y")
    rows = read(data, 0, agent=False)
    rows.last = "gone"
    assert leaf_of(rows, "1", OLD) == "3"


# --- the chain -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "second, live, expected",
    [
        (10, False, ["1", "2", "4"]),  # at the same moment
        (15, False, ["1", "2", "4"]),
        (16, False, ["4"]),  # more than five seconds later
        (9, False, ["1", "4"]),  # 2 came after it
        (15, True, ["4"]),
    ],
)
def test_a_parent_that_was_never_written(second: int, live: bool, expected: list[str]) -> None:
    """The loader takes what came just before; a running client has its own."""
    data = (
        line("user", "1", None, **at(8)) + line("user", "2", "1", **at(10)) + line("user", "3", None, timestamp="odd")
    )
    rows = read(data + line("user", "4", "lost", **at(second)), 0, agent=False)
    assert chain_from(rows, "4", live=live) == expected


def test_a_chain_with_two_gaps_or_without_a_clock() -> None:
    data = (
        line("user", "1", "lost", **at(8))
        + line("user", "2", "gone", **at(10))
        + line("user", "3", "missing", **at(12))
    )
    assert chain_from(read(data, 0, agent=False), "3", live=False) == ["1", "2", "3"]
    data = line("user", "1", None, **at(8)) + line("user", "2", "gone")
    assert chain_from(read(data, 0, agent=False), "2", live=False) == ["2"]
    assert chain_from(read(data, 0, agent=False), "", live=False) == []


def test_a_chain_in_a_circle_ends() -> None:
    rows = read(prompt("1", "3") + prompt("2", "1") + prompt("3", "2"), 0, agent=False)
    assert chain_from(rows, "3", live=True) == ["1", "2", "3"]


# --- beside the chain ------------------------------------------------------------------------------


def beside(data: bytes, chain: list[str], loader: Loader | None) -> set[str]:
    return beside_chain(read(data, 0, agent=False), set(chain), chain, loader)


TWO = prompt("1", None) + answer("2", "1") + prompt("3", "2")
START = line("attachment", "x", "1", attachment={"hookEvent": "SessionStart"})


@pytest.mark.parametrize(
    "more, live, new, old",
    [
        (injection("x", "1", "y"), {"x"}, {"x"}, set()),
        (injection("x", "3", "y"), {"x"}, {"x"}, {"x"}),  # below the leaf
        (injection("x", "3", "y") + injection("z", "x", "y"), {"x", "z"}, {"x", "z"}, {"x", "z"}),
        (injection("x", "1", "y") + injection("z", "x", "y"), {"x", "z"}, {"x", "z"}, set()),
        (START, set(), {"x"}, set()),  # of another process's start
        (result("x", "1", "t1"), {"x"}, {"x"}, {"x"}),
        (result("x", "nowhere", "t1"), set(), set(), set()),
        (result("x", "3", "t1") + injection("z", "x", "y"), {"x", "z"}, {"x", "z"}, {"x"}),
        (prompt("x", "1"), set(), set(), set()),
        (prompt("x", "1") + injection("z", "x", "y"), set(), set(), set()),
        (answer("x", "1", id="m-2"), {"x"}, {"x"}, {"x"}),  # another row of the same answer
        (answer("x", "1", id="m-9"), set(), set(), set()),
        (line("assistant", "x", "1", message={}), set(), set(), set()),
        (line("system", "x", "1", subtype="compact_boundary"), set(), set(), set()),
        (line("system", "x", "1", subtype="info"), {"x"}, {"x"}, set()),
    ],
)
def test_what_is_beside_the_chain(more: bytes, live: set[str], new: set[str], old: set[str]) -> None:
    found = [beside(TWO + more, ["1", "2", "3"], loader) for loader in (None, NEW, OLD)]
    assert found == [live, new, old]


def test_an_answer_without_a_name_is_not_another_ones() -> None:
    data = prompt("1", None) + line("assistant", "2", "1", message={}) + line("assistant", "x", "1", message={})
    assert beside(data, ["1", "2"], NEW) == set()
    data = line("user", "1", None, message={"id": "m-x", "content": "a"}) + answer("x", "1")
    assert beside(data, ["1"], NEW) == set(), "only answers have a name"
