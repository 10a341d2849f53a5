"""What the content of a window says about one file, and about a claim."""

from __future__ import annotations

import pytest

from handbill.core.content import Content

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
