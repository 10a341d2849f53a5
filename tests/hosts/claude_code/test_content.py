"""What the rows of a window say: blocks in their order, lines that refer to a text, files that the client shows."""

from __future__ import annotations

import pytest
from transcript_lines import DIGEST, call, denied, injection, line, ours, window

from handbill.digest import digest_of
from handbill.text.blocks import block, same_rules

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


# --- skills ----------------------------------------------------------------------------------------

BODY = "Base directory for this skill: /p/.claude/skills/fix\n\n# Fix"


def body(uuid: str, parent: str, text: str = BODY, type: str = "user") -> bytes:
    return line(type, uuid, parent, isMeta=True, message={"content": [{"type": "text", "text": text}]})


def typed(uuid: str, text: str) -> bytes:
    return line("user", uuid, None, message={"content": text})


@pytest.mark.parametrize(
    "first",
    [
        typed("1", "<command-name>/fix</command-name>"),
        typed("1", "<command-message>fix</command-message>\n<command-name>/fix</command-name>"),
        typed("1", "  <command-name>fix</command-name>"),
        call("1", None, "t1", "Skill", skill="fix"),
    ],
    ids=["typed", "with a message before it", "without a slash", "called by the model"],
)
def test_the_body_of_a_skill_that_was_called(first: bytes) -> None:
    found = window(first + body("2", "1"))
    assert found.skills == ["/p/.claude/skills/fix"] and "fix" in found.commands


@pytest.mark.parametrize(
    "rows",
    [
        typed("1", "go") + body("2", "1"),  # nobody called it
        typed("1", "I like <command-name>/fix</command-name>") + body("2", "1"),  # words in a prompt
        typed("1", "<command-message>fix</command-message>") + body("2", "1"),
        typed("1", "<command-name>/fix</command-name>") + body("2", "1", type="system"),
        call("1", None, "t1", "Read", skill="fix") + body("2", "1"),
    ],
)
def test_what_only_looks_like_the_body_of_a_skill(rows: bytes) -> None:
    assert window(rows).skills == []


def test_a_skill_that_a_compaction_put_back() -> None:
    restored = {"type": "invoked_skills", "skills": [{"content": BODY}]}
    assert window(line("attachment", "1", None, attachment=restored)).skills == ["/p/.claude/skills/fix"]


# --- prompts, calls and answers --------------------------------------------------------------------


def test_only_rows_in_the_users_role_are_prompts() -> None:
    other = line("attachment", "1", None, promptId="p-1", attachment={"type": "hook_success"})
    odd = line("user", "2", "1", promptId=7, message={"content": "x"})
    found = window(other + odd + line("assistant", "3", "2", message={"content": []}))
    assert found.prompts == {} and found.typed == set() and found.answered == set()


def test_calls_beside_the_chain_belong_to_the_answer_that_made_them() -> None:
    """Older clients give the second call of a message the same parent as the first."""
    message = {"id": "m", "content": [{"type": "tool_use", "id": "t1", "name": "Read", "input": {}}]}
    beside = line("assistant", "1", None, message=message)
    second = line("assistant", "2", None, message={**message, "content": [{**message["content"][0], "id": "t2"}]})  # type: ignore[dict-item]
    later = line("assistant", "4", "3", message={"id": "n", "content": []})
    data = beside + second + line("user", "3", "2", message={"content": []})
    assert window(data).answered == set()
    assert window(data + later).answered == {"t1", "t2"}


DENIAL = {
    "type": "tool_result", "tool_use_id": "t1", "is_error": True,
    "content": [{"type": "text", "text": "[Held by Handbill] x\n\n" + ours("/a", "one")}],
}  # fmt: skip


@pytest.mark.parametrize(
    "blocks, calls",
    [
        ([DENIAL], ["t1"]),
        ([{"type": "text", "text": "x"}, DENIAL], ["t1"]),
        ([{**DENIAL, "type": "tool_use"}], []),
        ([{**DENIAL, "is_error": False}], []),
        ([{**DENIAL, "tool_use_id": None}], []),
        ([{**DENIAL, "content": ["odd", 3, {"type": "text"}]}], []),
        ([{**DENIAL, "content": ["odd", *DENIAL["content"]]}], ["t1"]),  # type: ignore[misc]
        ([{**DENIAL, "content": "[Held by Handbill] x\n\n[1] a list\n\n" + ours("/a", "one")}], ["t1"]),
    ],
)
def test_results_that_read_like_a_denial(blocks: list[object], calls: list[str]) -> None:
    row = line("user", "2", "1", message={"content": blocks})
    assert list(window(call("1", None, "t1", "Write") + row).denials) == calls
