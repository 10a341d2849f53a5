"""Which compactions are in a window, by the branch that its own calls are on."""

from __future__ import annotations

import pytest
from transcript_lines import answer, boundary, call, prompt

from handbill.hosts.claude_chain import drop_foreign_compactions
from handbill.hosts.claude_rows import read

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
    ],
)  # fmt: skip
def test_a_compaction_of_another_client(data: bytes, foreign: bool) -> None:
    rows = read(data, 0, agent=False)
    assert drop_foreign_compactions(rows, (["t9"],)) is foreign and ("b" in rows.by_id) is not foreign
