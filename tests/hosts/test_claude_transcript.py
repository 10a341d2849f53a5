"""What the bytes of a transcript say by themselves: who wrote them, and how far they go."""

from __future__ import annotations

import pytest
from transcript_lines import answer, line, prompt

from handbill.core.event import TOOL_BATCH_FINISHED, Event, Tool
from handbill.hosts.claude_transcript import reaches, version_in


@pytest.mark.parametrize(
    "versions, expected",
    [((), ()), (("2.1.197",), (2, 1, 197)), (("2.1.197", "2.1.325"), (2, 1, 325)), (("2.1.325", "2.1"), ())],
)
def test_the_version_that_wrote_the_newest_row(versions: tuple[str, ...], expected: tuple[int, ...]) -> None:
    rows = [line("user", str(number), None, version=version) for number, version in enumerate(versions)]
    assert version_in(b"".join(rows) + line("system", "s")) == expected


@pytest.mark.parametrize(
    "data, reached", [(b"", False), (prompt("1", None), False), (prompt("1", None) + answer("2", "1"), True)]
)
def test_a_subagents_record_must_have_an_answer(data: bytes, reached: bool) -> None:
    event = Event(TOOL_BATCH_FINISHED, "s", agent_id="a1", tools=[Tool("Read", "t1")], raw={"prompt_id": "p-1"})
    assert reaches(data, event) is reached
