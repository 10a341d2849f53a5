"""The leaf of a window, its chain, and what is beside it."""

from __future__ import annotations

import pytest
from transcript_lines import NEW, OLD, ROWS, answer, injection, line, prompt, result

from handbill.hosts.claude_code.chain import Loader, beside_chain, chain_from, leaf_of
from handbill.hosts.claude_code.rows import read


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
        (BRANCHES + noted("3"), "", "3"),  # it went back, and said nothing since
        (BRANCHES + noted("3"), "6", "6"),
        (BRANCHES + noted("3", explicit=True), "6", "3"),
        (ROWS + injection("7", "4", "x"), "1", "4"),
        (prompt("1", None) + answer("2", "1") + injection("3", "1", "x"), "1", "2"),
    ],
)
def test_the_leaf_that_a_loader_takes(data: bytes, kept: str, expected: str) -> None:
    assert leaf(data, OLD, kept) == expected


def parallel(uuid: str, id: str, parent: str) -> bytes:
    blocks = [{"type": "tool_use", "id": id, "name": "Read", "input": {}}]
    return line("assistant", uuid, parent, message={"id": "m", "content": blocks})


AT_ONCE = (
    prompt("0", None)
    + parallel("1", "t1", "0")
    + parallel("2", "t2", "1")
    + result("3", "1", "t1")
    + result("4", "2", "t2")
)


@pytest.mark.parametrize(
    "data, loader, expected",
    [
        (AT_ONCE + answer("5", "4") + noted("3"), OLD, "3"),
        (AT_ONCE + answer("5", "4") + noted("3"), NEW, "5"),  # another result of the same answer led on
        (AT_ONCE + answer("5", "4") + noted("3", explicit=True), NEW, "3"),
        (AT_ONCE + answer("5", "4") + noted("4"), OLD, "5"),
        (AT_ONCE + prompt("6", "0") + answer("7", "6") + noted("3"), NEW, "3"),
        (BRANCHES + noted("4"), NEW, "4"),
        (result("1", None, "t1") + answer("2", None) + noted("1"), NEW, "1"),
    ],
)
def test_calls_made_at_once_of_which_one_was_noted(data: bytes, loader: Loader, expected: str) -> None:
    assert leaf(data, loader) == expected


def test_a_message_that_goes_on_below_an_attachment_is_not_an_end() -> None:
    data = prompt("1", None) + result("2", "1", "t1") + injection("3", "2", "x") + answer("4", "3")
    assert leaf(data + noted("2"), OLD, kept="1") == "4"


def test_the_chain_leads_through_rows_of_an_unknown_type() -> None:
    rows = read(prompt("1", None) + line("branch", "2", "1") + answer("3", "2"))
    assert rows.parent["3"] == "1" and chain_from(rows, "3", live=True) == ["1", "3"]


def at(second: int) -> dict[str, str]:
    return {"timestamp": f"2026-01-01T00:00:{second:02}.000Z"}


def test_of_several_ends_the_one_that_was_written_last() -> None:
    spoken = line("user", "1", None, **at(1)) + line("user", "2", "1", **at(9)) + line("user", "3", "1", **at(5))
    side = line("user", "4", "1", isSidechain=True, **at(20))
    assert leaf(spoken, OLD, kept="1") == "3", "by the newest row"
    rows = read(spoken + side, 0, agent=False)
    rows.last = "gone"
    assert leaf_of(rows, "1", OLD) == "2", "by the clock, without side chains"
    rows = read(spoken + injection("9", None, "x"), 0, agent=False)
    assert leaf_of(rows, "1", OLD) == "2", "the newest row belongs to nobody"
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


def test_a_noted_prompt_that_a_rewind_took_back() -> None:
    """Only of calls made at once, another one's result says that the conversation went on."""
    data = ROWS + prompt("5", "4") + answer("6", "5") + prompt("7", "4") + answer("8", "7") + noted("5")
    assert leaf(data, NEW) == "5"


@pytest.mark.parametrize("loader", [OLD, NEW])
def test_attachments_in_a_circle(loader: Loader) -> None:
    data = injection("1", "2", "x") + injection("2", "1", "y")
    assert leaf(data, loader) == ""


def test_the_first_row_has_no_parent_to_be_looked_for() -> None:
    at = {"timestamp": "2026-01-01T00:00:00Z"}
    other = line("user", "x", None, message={"content": "of another conversation"}, **at)
    data = other + line("user", "1", None, message={"content": "go"}, **at)
    assert chain_from(read(data), "1", live=False) == ["1"]
