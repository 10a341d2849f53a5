from __future__ import annotations

import pytest

from handbill.event import PROMPT_SUBMITTED, READS, SKILL_EXPANDED, TOOL_BATCH_FINISHED, Event, Tool


@pytest.mark.parametrize(
    "kind, tools, batch, same",
    [
        (PROMPT_SUBMITTED, [], "prompt_submitted::p1", True),
        (SKILL_EXPANDED, [], "prompt_submitted::p1", True),
        (SKILL_EXPANDED, [], "prompt_submitted::p2", False),
        # The prompt was taken before this batch.
        (TOOL_BATCH_FINISHED, ["t1", "t2"], "prompt_submitted::p1", False),
        (TOOL_BATCH_FINISHED, ["t1", "t2"], "t1", True),
        (TOOL_BATCH_FINISHED, ["t1", "t2"], "t3", False),
    ],
)
def test_events_of_one_moment(kind: str, tools: list[str], batch: str, same: bool) -> None:
    event = Event(kind, "s", tools=[Tool(READS, id) for id in tools], prompt_id="p1")
    assert event.is_moment(batch) is same


def test_prompts_without_an_id_are_not_one_moment() -> None:
    assert not Event(SKILL_EXPANDED, "s").is_moment("prompt_submitted::")
