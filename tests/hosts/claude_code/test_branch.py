"""Which rows are this window's, if a second client writes to the same transcript."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from transcript_lines import ROWS, answer, call, line, prompt, result

from builders import window
from handbill.event import Event
from handbill.hosts import claude_code
from handbill.hosts.claude_code.branch import drop_rows_of_others, is_marked, row_before
from handbill.hosts.claude_code.rows import read
from handbill.ledger.own_rows import OwnRows
from handbill.ledger.window import JOINED, OWN_ROWS
from handbill.world import World

A = prompt("a1", "4") + call("a2", "a1", "ta") + result("a3", "a2", "ta")
B = prompt("b1", "4") + call("b2", "b1", "tb") + result("b3", "b2", "tb")


def compacted(uuid: str, before: str | None, tail: str = "") -> bytes:
    kept = {"preservedSegment": {"headUuid": "x", "tailUuid": tail}} if tail else {}
    row = line("system", uuid, None, subtype="compact_boundary", logicalParentUuid=before, compactMetadata=kept)
    return row + line("user", f"{uuid}-summary", uuid, message={"content": "what was said"})


AT = len(ROWS)
BOTH = A + B


@pytest.mark.parametrize(
    "data, marks, compacted_at, expected",
    [
        (BOTH, [], -1, ""),  # it said nothing since
        (BOTH, [["ta"]], -1, "a1 a2 a3"),
        (BOTH, [["tb"]], -1, "b1 b2 b3"),
        (BOTH, [["p-b1"]], -1, "b1 b2 b3"),
        (BOTH, [["not written yet"], ["ta"]], -1, "a1 a2 a3"),
        (BOTH, [["t1"]], -1, ""),  # a call from before
        (BOTH + answer("a4", "a3"), [["ta"]], -1, "a1 a2 a3 a4"),
        (BOTH + result("a5", "a2", "tx"), [["ta"]], -1, "a1 a2 a3 a5"),  # beside the chain
        (A + B + prompt("a4", "a3"), [["p-a4"]], -1, "a1 a2 a3 a4"),
        (A + prompt("c1", "2") + B, [["p-c1"], ["ta"]], -1, "c1"),  # a rewind to before both
        (A + compacted("c", "a3") + B, [["ta"]], -1, "a1 a2 a3 c c-summary"),  # its own compaction
        (A + compacted("c", "a3") + B, [["tb"]], -1, "b1 b2 b3"),
        (A + compacted("c", "a3") + B + prompt("a4", "c-summary"), [["p-a4"]], -1, "a1 a2 a3 c c-summary a4"),
        (A + compacted("c", "4") + B, [], AT, "c c-summary"),  # the first thing it did
        (B + A + compacted("c", "4", "a3"), [["ta"]], -1, "a1 a2 a3 c c-summary"),  # it keeps what follows its 4
        (B + A + compacted("c", "4", "a3"), [["tb"]], -1, "b1 b2 b3"),
        (B + A + compacted("c", "4", "unknown"), [["ta"]], -1, "a1 a2 a3"),
        (B + A + compacted("c", "4", "4"), [["ta"]], AT + len(B + A), "c c-summary"),  # it undoes what follows its 4
        (
            B + A + compacted("c", "4", "4") + answer("a4", "a3"),
            [["ta"]],
            AT + len(B + A),
            "c c-summary",
        ),  # written late
        (compacted("c", "4") + prompt("a4", "4"), [["p-a4"]], AT, "a4"),  # a rewind to before its compaction
        (prompt("a4", "4") + compacted("c", "4"), [["p-a4"]], AT, "a4"),
        (B + A + compacted("c", "b3"), [["ta"]], AT + len(B + A), "a1 a2 a3"),  # the other one's
        (A + compacted("c", "4") + prompt("a4", "c-summary") + B, [["p-a4"]], AT + len(A), "c c-summary a4"),
        (A + compacted("c", "4") + B, [], AT - 1, ""),  # a compaction from before
        (A + compacted("c", "4") + B + compacted("d", "b3"), [], AT, "c c-summary"),  # then the other one, too
        (compacted("x", "4") + A + compacted("c", "4"), [], AT + 1, "c c-summary"),
        (A + B, [], AT, ""),  # it was called off
        (A + compacted("c", None) + prompt("a4", "c-summary"), [["p-a4"]], -1, "c c-summary a4"),
        (prompt("a1", "a2") + prompt("a2", "a1"), [["p-a2"]], -1, "a1 a2"),  # a circle
    ],
)
def test_rows_behind_the_byte_where_sharing_began(
    data: bytes, marks: list[list[str]], compacted_at: int, expected: str
) -> None:
    rows = read(ROWS + data)
    before = [uuid for uuid in rows.by_id if rows.at[uuid] < AT]
    drop_rows_of_others(rows, OwnRows(marks, (AT,), compacted_at))
    assert " ".join(uuid for uuid in rows.by_id if uuid not in before) == expected
    assert [uuid for uuid in rows.by_id if uuid in before] == before
    assert rows.last == (expected.split() or before)[-1]


def test_a_transcript_of_one_client() -> None:
    rows = read(ROWS + BOTH)
    drop_rows_of_others(rows, OwnRows([["ta"]]))
    assert "b3" in rows.by_id and rows.last == "b3"


def test_a_row_of_a_subagent_is_not_the_last() -> None:
    rows = read(ROWS + A + line("user", "s", "a3", isSidechain=True, message={"content": "x"}))
    drop_rows_of_others(rows, OwnRows([["ta"]], (AT,)))
    assert "s" in rows.by_id and rows.last == "a3"


@pytest.mark.parametrize(
    "row, marked",
    [
        ({"promptId": "m"}, True),
        ({"uuid": "m"}, True),
        ({"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "m"}]}}, True),
        ({"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "m"}]}}, False),
        ({"promptId": "other", "uuid": "u"}, False),
    ],
)
def test_a_row_that_is_marked(row: dict[str, Any], marked: bool) -> None:
    assert is_marked(row, {"m"}) is marked


@pytest.mark.parametrize(
    "row, before",
    [
        (prompt("5", "4"), "4"),
        (line("system", "5", None, subtype="compact_boundary", logicalParentUuid="3"), "3"),
        (line("system", "5", "4", subtype="compact_boundary", logicalParentUuid="3"), "4"),
        (line("system", "5", None, subtype="compact_boundary", logicalParentUuid=7), ""),
        (line("system", "5", None, subtype="other", logicalParentUuid="3"), ""),
        (line("system", "5", None, subtype="compact_boundary"), ""),
    ],
)
def test_the_row_before(row: bytes, before: str) -> None:
    assert row_before(read(ROWS + row), "5") == before


def test_all_of_the_shared_part_is_read(tmp_path: Path) -> None:
    """Much may lie between the last row that is known to be this window's and what is asked for."""
    early = ROWS + prompt("a1", "4") + call("a2", "a1", "ta") + result("a3", "a2", "ta", "x" * 200_000)
    path = tmp_path / "t.jsonl"
    path.write_bytes(early + answer("a4", "a3") + prompt("b1", "4") + call("b2", "b1", "tb"))
    own = window(flags={JOINED: [AT], OWN_ROWS: ["ta"]})
    event = Event("stopping", "s", transcript=str(path), version=(2, 1, 325))
    found = claude_code.window_now(event, World([str(tmp_path)]), since=len(early), window=own)
    assert found is not None and "ta" in found.calls and "tb" not in found.calls and found.last_answer == len(early)


def test_the_row_before_a_compaction_may_be_of_another_kind() -> None:
    """The client also writes rows about the progress of a call; the conversation leads through them."""
    rows = read(ROWS + A + line("progress", "pr", "a3") + compacted("c", "pr"))
    drop_rows_of_others(rows, OwnRows([["ta"]], (AT,)))
    assert "c-summary" in rows.by_id


def test_a_row_that_is_written_before_its_parent() -> None:
    late = prompt("a1", "4") + result("a3", "a2", "ta") + call("a2", "a1", "ta") + answer("a4", "a3")
    rows = read(ROWS + late)
    drop_rows_of_others(rows, OwnRows([["ta"]], (AT,)))
    assert {"a1", "a2", "a3", "a4"} <= set(rows.by_id)


def test_the_first_row_that_another_client_could_have_written() -> None:
    """It begins exactly where the transcript ended when that client joined."""
    rows = read(ROWS + prompt("a1", "4") + prompt("b1", "4"))
    drop_rows_of_others(rows, OwnRows((["p-a1"],), (len(ROWS),)))
    assert list(rows.by_id)[-1] == "a1" and rows.last == "a1"
