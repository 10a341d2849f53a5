"""What the rows of a window say: blocks in their order, lines that refer to a text, files that the client shows."""

from __future__ import annotations

import pytest
from transcript_lines import DIGEST, call, denied, injection, line, ours, window

from handbill.core.pack import block, same_rules
from handbill.digest import digest_of

FIRST, SECOND = ("/a", digest_of("one"), 1, 1), ("/a", digest_of("two"), 1, 1)


@pytest.mark.parametrize(
    "rows",
    [
        injection("1", None, ours("/a", "one")) + injection("2", "1", ours("/a", "two")),
        call("1", None, "t1", "Write") + denied("2", "1", "t1", ours("/a", "one"))
        + injection("3", "2", ours("/a", "two")),
        injection("1", None, ours("/a", "one")) + call("2", "1", "t1", "Write")
        + denied("3", "2", "t1", ours("/a", "two")),
    ],
    ids=["both injected", "first in a denial", "second in a denial"],
)  # fmt: skip
def test_of_two_states_of_a_file_the_later_one_counts(rows: bytes) -> None:
    found = window(rows)
    assert found.newest({FIRST, SECOND}) == {SECOND}
    assert [title for _, title in found.in_order()] == [FIRST, SECOND]


@pytest.mark.parametrize(
    "text, is_there",
    [
        ("", False),
        (block("/b", DIGEST, "the beginning", 1, 2), False),  # a part of the text is not the text
        (ours("/b", "rules"), True),
    ],
)
def test_a_line_that_refers_to_a_text_needs_all_of_that_text(text: str, is_there: bool) -> None:
    reference = block("/c", digest_of("rules") if is_there else DIGEST, same_rules("/b"))
    found = window(injection("1", None, text, reference))
    assert ("/c" in {title[0] for title in found.blocks}) is is_there


@pytest.mark.parametrize("tool, files", [("Read", {"/x": "text"}), ("Bash", {}), ("mcp__it__read", {})])
def test_only_the_file_tools_of_the_client_show_files(tool: str, files: dict[str, str]) -> None:
    shown = {"file": {"filePath": "/x", "content": "text", "numLines": 1, "startLine": 1, "totalLines": 1}}
    blocks = [{"tool_use_id": "t1", "type": "tool_result", "content": "text"}]
    row = line("user", "2", "1", message={"content": blocks}, toolUseResult=shown)
    assert window(call("1", None, "t1", tool) + row).files == files
