"""Which rows of a transcript, or of its newest part, make a window."""

from __future__ import annotations

import pytest
from transcript_lines import NEW, OLD, answer, boundary, call, line, prompt, result

from handbill.hosts.claude_code.chain import Loader
from handbill.hosts.claude_code.rows import read
from handbill.hosts.claude_code.window import BIG, Selection, select
from handbill.ledger.own_rows import OwnRows

# Two calls at once: the result of the first one is beside the chain.
AT_ONCE = (
    call("1", "0", "t1")
    + call("2", "1", "t2")
    + result("beside", "1", "t1")
    + result("3", "2", "t2")
    + answer("4", "3")
)


def selected(data: bytes, loader: Loader | None = None, *, size: int = 0, partial: bool = False) -> Selection | None:
    return select(read(data, 0, agent=False), OwnRows(), loader, size=size, partial=partial)


@pytest.mark.parametrize(
    "loader, before, size, is_there",
    [
        (OLD, prompt("0", None), BIG, True),
        (OLD, prompt("0", None), BIG + 1, False),
        (OLD, prompt("9", None) + prompt("k", "9") + boundary("b", "k", "k") + prompt("0", "k"), BIG + 1, True),
        (NEW, prompt("0", None), BIG + 1, True),
        (None, prompt("0", None), BIG + 1, True),
    ],
    ids=["a file of the limit", "a large file", "a compaction kept rows", "a newer client", "a running client"],
)
def test_what_is_beside_the_chain_of_a_large_file(
    loader: Loader | None, before: bytes, size: int, is_there: bool
) -> None:
    found = selected(before + AT_ONCE, loader, size=size)
    assert found is not None and ("beside" in found.inside) is is_there and {"0", "3", "4"} <= found.inside


@pytest.mark.parametrize(
    "first, partial, whole",
    [
        ("", False, True),
        ("", True, True),  # the window begins in what was read
        ("older", True, False),
        ("older", False, True),  # a row that was never written
    ],
)
def test_a_window_is_whole_unless_it_leads_back_past_what_was_read(first: str, partial: bool, whole: bool) -> None:
    found = selected(prompt("0", first or None) + AT_ONCE, partial=partial)
    assert found is not None and found.whole is whole and found.chain[0] == "0"


def test_a_branch_that_leads_back_past_a_compaction_needs_all_rows() -> None:
    data = line("system", "b", None, subtype="compact_boundary") + prompt("0", "older") + AT_ONCE
    assert selected(data, OLD, partial=True) is None
    assert selected(data, OLD) is not None
