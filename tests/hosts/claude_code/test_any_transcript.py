"""Whatever a row of a transcript holds: every reader answers."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from handbill.flow.event_context import Asked
from handbill.hosts.claude_code import failed_hooks, signs, transcript
from handbill.hosts.claude_code.chain import Loader
from handbill.hosts.claude_code.compaction import last_compaction
from handbill.hosts.claude_code.rows import calls_in
from handbill.hosts.claude_code.window import content
from handbill.ledger.own_rows import OwnRows

RECORDINGS = sorted((Path(__file__).parent / "recordings").glob("*.jsonl"))
ODD: tuple[Any, ...] = ({}, [], None, 1, "x", [1], {"a": []}, True, "2026-01-01T00:00:00", -1.5, "12k")


def spoil(rows: list[Any], chance: random.Random) -> set[int]:
    """Odd values in some rows; which ones."""
    spoilt = {chance.randrange(len(rows)) for _ in range(chance.randint(1, 8))}
    for number in spoilt:
        at: Any = rows[number]
        while at:
            key = chance.choice(list(at) if isinstance(at, dict) else range(len(at)))
            if isinstance(at[key], (dict, list)) and chance.random() < 0.7:
                at = at[key]
            else:
                at[key] = chance.choice(ODD)
                break
    return spoilt


def as_lines(rows: list[Any]) -> bytes:
    return b"".join(json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in rows)


def read_all(rows: list[Any], own: OwnRows) -> None:
    data = as_lines(rows)
    half = len(data) // 2
    content(data)
    content(data, own=own)
    content(data[half:], start=half, own=own)
    content(data, Loader(siblings=True))
    content(data, Loader(siblings=False))
    last_compaction(data, OwnRows())
    transcript.calls(data, None)
    transcript.prompts(data)
    transcript.answers(data)
    failed_hooks.failures(data, b"handbill.hook")
    signs.search(data, 0, Asked(), prompt="x")


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_rows_with_odd_values(path: Path) -> None:
    text = path.read_text()
    for seed in range(12):
        chance = random.Random(f"{path.name}{seed}")
        rows = [json.loads(line) for line in text.splitlines()][:-1]
        spoilt = spoil(rows, chance)
        whole = [row for number, row in enumerate(rows) if number not in spoilt]
        names = [row["uuid"] for row in rows if isinstance(row.get("uuid"), str)]
        own = OwnRows(([chance.choice(names)],), [chance.randint(0, len(text))], chance.choice([-1, 0, 100]))
        read_all(rows, own)
        made = {call["id"] for row in whole for call in calls_in(row)}
        assert made <= {call["id"] for call in transcript.calls(as_lines(rows), made)}, "a broken row costs only itself"


@pytest.mark.parametrize("odd", ODD, ids=str)
@pytest.mark.parametrize("name", ["promptId", "timestamp", "preTokens", "input", "logicalParentUuid"])
def test_a_compaction_with_an_odd_value(name: str, odd: Any) -> None:
    call = {"type": "tool_use", "id": "t", "name": "Read", "input": odd if name == "input" else {"file_path": "/a"}}
    rows: list[dict[str, Any]] = [
        {"uuid": "a", "parentUuid": None, "type": "user", "message": {"content": "go"}},
        {"uuid": "b", "parentUuid": "a", "type": "assistant", "message": {"content": [call]}},
        {"uuid": "c", "parentUuid": None, "logicalParentUuid": "b", "type": "system", "subtype": "compact_boundary",
         "compactMetadata": {"preTokens": odd if name == "preTokens" else 7}},
        {"uuid": "d", "parentUuid": "c", "type": "user", "isCompactSummary": True, "message": {"content": "s"}},
        {"uuid": "e", "parentUuid": None, "type": "system"},
    ]  # fmt: skip
    for row in rows[:3]:
        row["timestamp"] = "2026-01-01T00:00:00Z"
        if name in ("promptId", "timestamp", "logicalParentUuid"):
            row[name] = odd
    read_all(rows, OwnRows((["d"],), [0]))
    found = last_compaction(as_lines(rows[:-1]), OwnRows())  # without the row that follows nothing
    tokens = (odd if isinstance(odd, int) else 0) if name == "preTokens" else 7
    assert found is not None and found.tokens == (tokens, 0)
