"""What the bytes of a transcript say by themselves: who wrote them, and how far they go."""

from __future__ import annotations

import pytest
from transcript_lines import answer, call, line, prompt, result

from handbill.core.event import PROMPT_SUBMITTED, SUBAGENT_STARTED, TOOL_BATCH_FINISHED, Event, Tool
from handbill.hosts.claude_transcript import reaches, version_in


@pytest.mark.parametrize(
    "versions, expected",
    [((), ()), (("2.1.197",), (2, 1, 197)), (("2.1.197", "2.1.325"), (2, 1, 325)), (("2.1.325", "2.1"), ())],
)
def test_the_version_that_wrote_the_newest_row(versions: tuple[str, ...], expected: tuple[int, ...]) -> None:
    rows = [line("user", str(number), None, version=version) for number, version in enumerate(versions)]
    assert version_in(b"".join(rows) + line("system", "s")) == expected


CALL = prompt("1", None) + call("2", "1", "t1")


@pytest.mark.parametrize("agent", ["", "a1"])
@pytest.mark.parametrize(
    "data, reached", [(b"", False), (CALL, False), (CALL + result("3", "2", "t0"), False), (CALL + result("3", "2", "t1"), True)]
)  # fmt: skip
def test_a_record_reaches_a_batch_with_the_results_of_its_calls(agent: str, data: bytes, reached: bool) -> None:
    event = Event(TOOL_BATCH_FINISHED, "s", agent_id=agent, tools=[Tool("Read", "t1")], raw={"prompt_id": "p-1"})
    event.tools = [Tool("Read", "t0"), *event.tools]  # an earlier call that was missed
    assert reaches(data, event) is reached


@pytest.mark.parametrize(
    "data, reached", [(b"", False), (prompt("1", None), False), (prompt("1", None) + answer("2", "1"), True)]
)
def test_the_record_of_a_subagent_that_is_continued_has_an_answer(data: bytes, reached: bool) -> None:
    assert reaches(data, Event(SUBAGENT_STARTED, "s", agent_id="a1")) is reached


@pytest.mark.parametrize("id, reached", [("p-1", True), ("p-2", False), ("", False), (None, False)])
def test_a_record_reaches_a_prompt_with_its_row(id: str | None, reached: bool) -> None:
    assert reaches(prompt("1", None), Event(PROMPT_SUBMITTED, "s", raw={"prompt_id": id})) is reached
