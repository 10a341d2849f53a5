"""What the content of a window says about one file, and about a claim."""

from __future__ import annotations

import pytest

from handbill.ledger.content import Content

OLD, NEW = ("/a", "0" * 16, 1, 1), ("/a", "f" * 16, 1, 1)


@pytest.mark.parametrize("old, new, expected", [(3, 10, NEW), (10, 3, OLD)])
def test_the_newest_state_of_a_file_may_have_come_with_a_denial(old: int, new: int, expected: object) -> None:
    content = Content()
    content.blocks, content.denials = {OLD: 5}, {"c1": {NEW: 5}}
    content.order = {("", OLD): old, ("c1", NEW): new}
    assert content.newest({OLD, NEW}) == {expected}


@pytest.mark.parametrize("whole", [False, True])
def test_only_a_whole_record_shows_that_a_prompt_was_skipped(whole: bool) -> None:
    content = Content(whole=whole)
    content.prompts, content.answered = {"p2": 100}, {"p2"}
    assert content.skipped({"batch": "prompt_submitted::p1", "offset": 50}) is whole
    assert not content.skipped({"batch": "prompt_submitted::p1", "offset": 101}), "that prompt is older than the claim"


PROMPT, CALL = "prompt_submitted::p1", "tool_batch_finished::c1"


@pytest.mark.parametrize(
    "batch, prompts, calls, answered, expected",
    [
        (PROMPT, {"p2": 100}, [], {"p2"}, True),
        (PROMPT, {"p2": 50}, [], {"p2"}, True),  # exactly behind the claim
        (PROMPT, {"p2": 100}, [], set(), False),  # not answered yet: the claim's own may follow
        (PROMPT, {"p1": 60, "p2": 100}, [], {"p2"}, False),  # it is there
        (CALL, {"p2": 100}, ["c1"], {"p2"}, False),
        (CALL, {"p2": 100}, ["c2"], {"p2"}, True),
        ("session_started:startup:", {"p2": 100}, [], {"p2"}, False),  # a start has neither
    ],
)
def test_a_claim_whose_prompt_or_batch_is_not_in_the_window(
    batch: str, prompts: dict[str, int], calls: list[str], answered: set[str], expected: bool
) -> None:
    content = Content()
    content.prompts, content.calls, content.answered = prompts, calls, answered
    assert content.skipped({"batch": batch, "offset": 50}) is expected


@pytest.mark.parametrize(
    "batch, answered, last_answer, boundary, expected",
    [
        (PROMPT, {"p1"}, -1, -1, True),
        (PROMPT, {"p2"}, 99, -1, False),
        ("session_started:startup:", set(), 50, -1, True),
        ("session_started:startup:", set(), 49, -1, False),
        ("session_started:compact:1", set(), 60, 50, True),
        ("session_started:compact:1", set(), 50, 50, False),
        ("session_started:compact:1", set(), 60, 49, True),  # it was recorded before the claim
        ("session_started:compact:1", set(), 49, 48, False),
    ],
)
def test_when_the_model_went_past_a_claim(
    batch: str, answered: set[str], last_answer: int, boundary: int, expected: bool
) -> None:
    content = Content()
    content.answered, content.last_answer, content.boundary = answered, last_answer, boundary
    assert content.went_past({"batch": batch, "offset": 50}) is expected


def test_a_record_without_an_answer_or_a_compaction() -> None:
    content = Content()
    assert not content.went_past({"batch": "session_started:startup:", "offset": 0})
    content.last_answer = 5
    assert not content.went_past({"batch": "session_started:compact:1", "offset": 0})


def test_blocks_of_unknown_place_come_first() -> None:
    content = Content()
    content.blocks, content.order = {NEW: 5, OLD: 5}, {("", NEW): 0}
    assert content.in_order() == [("", OLD), ("", NEW)]
    assert content.newest({OLD, NEW}) == {NEW}
    content.order = {}
    assert content.newest({OLD, NEW}) == {OLD, NEW}


@pytest.mark.parametrize("text_too, expected", [(False, {OLD}), (True, set())])
def test_a_title_with_only_a_line_about_another_file(text_too: bool, expected: object) -> None:
    """A denial that brought something else says nothing about it."""
    content = Content()
    content.blocks, content.same = {OLD: 5}, {("", OLD): "/other"}
    content.denials = {"c1": {OLD: 5} if text_too else {NEW: 5}}
    assert content.lines() == expected
