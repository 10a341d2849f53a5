from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handbill.work.dispatch import Dispatch, missing_progress, problems, with_progress, with_result, with_status

GOOD = "# Login\n**Status:** in-progress\n\n## Task\nBuild it.\n\n## Progress\n- one\n\n## Result\n"


def test_what_it_says() -> None:
    found = Dispatch(GOOD)
    assert (found.title, found.status, found.progress) == ("Login", "in-progress", ["- one"])
    assert problems(GOOD) == []


@pytest.mark.parametrize(
    "line", ["Status: done", "**Status**: done", "- Status: `done`", "status: DONE", "**Status:** Done"]
)
def test_ways_to_write_a_status(line: str) -> None:
    assert Dispatch(GOOD.replace("**Status:** in-progress", line)).status == "done"


@pytest.mark.parametrize(
    "text, why",
    [
        (GOOD.replace("# Login\n", ""), "no title"),
        (GOOD.replace("**Status:** in-progress\n", ""), "no status"),
        (GOOD.replace("in-progress", "nearly"), "'nearly'"),
        (GOOD.replace("## Task\nBuild it.", ""), "## Task"),
        (GOOD.replace("Build it.", ""), "## Task"),
        (GOOD.replace("## Progress", "## Steps"), "## Progress"),
        (GOOD.replace("in-progress", "done"), "no `## Result`"),
        ("", "no title"),
        ("```\n# Login\nStatus: done\n## Task\nx\n## Progress\n```", "no title"),
    ],
)
def test_malformed(text: str, why: str) -> None:
    assert any(why in line for line in problems(text))


def test_progress_is_added_in_place() -> None:
    after = with_progress(with_progress(GOOD, "two"), "three")
    assert Dispatch(after).progress == ["- one", "- two", "- three"]
    assert after.index("- three") < after.index("## Result") and problems(after, GOOD) == []
    last = with_progress("# A\nStatus: pending\n\n## Task\nx\n\n## Progress\n", "first")
    assert Dispatch(last).progress == ["- first"]


def test_a_heading_in_a_fence_is_no_section() -> None:
    text = GOOD.replace("Build it.", "```\n## Progress\n- not me\n```\nBuild it.")
    assert Dispatch(with_progress(text, "two")).progress == ["- one", "- two"]


def test_result_and_status() -> None:
    after = with_status(with_result(GOOD, "It works."), "done")
    assert Dispatch(after).status == "done" and Dispatch(after).text_of("result") == "It works."
    assert problems(after, GOOD) == [] and "**Status:** done" in after
    bare = GOOD.replace("\n## Result\n", "")
    assert Dispatch(with_result(bare, "x")).text_of("result") == "x"
    again = with_result(after + "\n## Notes\nkeep\n", "Better.")
    assert Dispatch(again).text_of("result") == "Better." and Dispatch(again).text_of("notes") == "keep"


@pytest.mark.parametrize(
    "after, lost",
    [
        (["- one", "- two"], []),
        (["- one", "- new", "- two"], []),
        (["- one"], ["- two"]),
        (["- two", "- one"], ["- two"]),
        ([], ["- one", "- two"]),
        (["- ONE", "- two"], ["- one", "- two"]),
    ],
)
def test_history_is_not_to_be_removed(after: list[str], lost: list[str]) -> None:
    def text(lines: list[str]) -> str:
        return GOOD.replace("- one", "\n".join(lines))

    found = missing_progress(text(["- one", "- two"]), text(after))
    assert bool(found) is bool(lost)
    assert bool(problems(text(after), text(["- one", "- two"]))) is bool(lost)


@given(st.lists(st.text("ab c", min_size=1, max_size=8).filter(str.strip), max_size=6))
def test_adding_loses_nothing(entries: list[str]) -> None:
    text = GOOD
    for entry in entries:
        after = with_progress(text, entry.strip())
        assert missing_progress(text, after) == [] and len(Dispatch(after).progress) == len(Dispatch(text).progress) + 1
        text = after
