from __future__ import annotations

from typing import Any

import pytest
from transcript_lines import line

from handbill.flow.event_context import Asked
from handbill.hosts.claude_code.signs import line_around, search


@pytest.mark.parametrize(
    "data, at, expected",
    [
        (b"ab\ncd\nef\n", 0, (0, 2)), (b"ab\ncd\nef\n", 3, (3, 5)), (b"ab\ncd\nef\n", 7, (6, 8)), (b"ab\ncd", 4, (3, 5)),
        (b"\nab\n", 2, (1, 3)), (b"", 0, (0, 0)),
    ],
)  # fmt: skip
def test_the_line_around_a_byte(data: bytes, at: int, expected: tuple[int, int]) -> None:
    assert line_around(data, at) == expected


@pytest.mark.parametrize("command, ours", [("python -c '# handbill.hook'", True), ("python -m other.hook", False)])
def test_only_our_own_failures_are_looked_for(command: str, ours: bool) -> None:
    asked = Asked()
    failure = {"type": "hook_non_blocking_error", "command": command}
    search(line("attachment", "u", None, attachment=failure), 0, asked)
    assert asked.failed is ours


OTHER = line("attachment", "u", None, attachment={"type": "hook_non_blocking_error", "command": "other"})
FINE = line("attachment", "v", None, attachment={"type": "hook_success", "command": "handbill.hook", "exitCode": 0})
OURS = line("attachment", "w", None, attachment={"type": "hook_cancelled", "command": "handbill.hook"})


@pytest.mark.parametrize(
    "data, ours",
    [
        (OTHER + FINE, False), (FINE + OTHER, False), (OTHER + FINE + OURS, True), (OTHER * 3 + OURS.strip(), True),
        (line("attachment", "x", None, attachment={"command": "handbill.hook", "type": "hook_cancelled"}), True),
        (OTHER + OTHER.replace(b'"other"', b'"handbill.hook"'), True),  # both failed in the same way
    ],
)  # fmt: skip
def test_somebody_elses_failure_beside_our_success(data: bytes, ours: bool) -> None:
    asked = Asked()
    search(data, 0, asked)
    assert asked.failed is ours


ID = "a" * 36
ANSWER = line("assistant", ID, "p", message={"content": []})
FIRST = line("user", "p", None, promptId="1", message={"content": "x"})


@pytest.mark.parametrize(
    "data, back",
    [
        (FIRST + ANSWER + line("user", "q", None, promptId="2", message={"content": "y"}), True),
        (FIRST + line("user", "q", None, promptId="2", message={"content": "y"}), False),  # the first one was dropped
        (FIRST + ANSWER + line("user", "q", ID, promptId="2", message={"content": "y"}), False),
        (line("user", "q", ID, promptId="2", message={"content": "y"}), False),  # what is before it was not read
    ],
)
def test_back_to_before_the_first_message(data: bytes, back: bool) -> None:
    asked = Asked()
    search(data, 0, asked)
    assert asked.moved is back


def test_what_was_searched_is_not_searched_again() -> None:
    data = line("attachment", "u", None, attachment={"type": "hook_cancelled", "command": "handbill.hook"})
    asked = Asked()
    search(data, len(data), asked)
    assert not asked


TYPED, TAKEN = line("user", "1", None, promptId="p", message={"content": "see @a"}), b'{"operation":"dequeue"}\n'
PLAIN = line("user", "2", None, promptId="q", message={"content": "go"})


def joined(text: str, mode: str = "prompt") -> bytes:
    """A prompt that waited in the queue and joined the running turn."""
    queued = {"type": "queued_command", "prompt": text, "commandMode": mode}
    return line("attachment", "j", None, attachment=queued, cwd="/home/u/@scope/app")


@pytest.mark.parametrize(
    "data, new, found",
    [
        (joined("see @a"), 0, True),
        (joined("go"), 0, False),  # the path of the project is not a mention
        (joined("see @a", "task-notification"), 0, False),
        (joined("see @a") + PLAIN, len(joined("see @a")), False),
        (
            line(
                "attachment",
                "j",
                None,
                attachment={"commandMode": "prompt", "prompt": "see @a", "type": "queued_command"},
            ),
            0,
            True,
        ),
        (TAKEN + TYPED, 0, True),
        (TAKEN + PLAIN + TAKEN + TYPED, 0, True),
        (TYPED + TAKEN + PLAIN, 0, False),
        (TAKEN + PLAIN + TYPED, 0, False),  # an event announced that one
        (TAKEN, 0, False),
        (b'{"operation":"dequeue","cwd":"/@x"}\n', 0, False),
        (TAKEN + TYPED, len(TAKEN), False),
    ],
)
def test_a_queued_prompt_whose_turn_has_come(data: bytes, new: int, found: bool) -> None:
    asked = Asked()
    search(data, new, asked)
    assert asked.unannounced is found


def searched(data: bytes, new: int = 0, **more: Any) -> Asked:
    asked = Asked()
    search(data, new, asked, **more)
    return asked


def test_a_transcript_without_a_sign_is_searched_again() -> None:
    asked = searched(FIRST + ANSWER + line("user", "q", ID, promptId="2", message={"content": "y"}))
    assert not asked
    assert (asked.failed, asked.unannounced, asked.queued, asked.moved, asked.compacted) == (False,) * 5


def test_a_file_that_became_shorter_is_searched_from_its_beginning() -> None:
    assert searched(OURS, len(OURS) + 1).failed


@pytest.mark.parametrize("size, noted", [(256 << 10, False), ((256 << 10) + 1, True), (1 << 20, True)])
def test_a_long_search_without_a_result_is_noted(size: int, noted: bool) -> None:
    data = b"x" * (size - 1) + b"\n"
    assert searched(data).scanned == (size if noted else 0)
    assert searched(b"x" * 99 + b"\n" + data, 100).scanned == (size + 100 if noted else 0)  # only what is new counts


@pytest.mark.parametrize("unfinished", [b"", b'{"type":"assis'])
def test_the_place_behind_a_sign_is_the_end_of_the_last_whole_line(unfinished: bytes) -> None:
    assert searched(OURS + FINE + unfinished).scanned == len(OURS + FINE)


def test_a_failure_is_found_in_the_line_that_is_being_written() -> None:
    assert searched(FINE + OURS.rstrip(b"\n")).failed


def test_an_interruption_is_a_sign_only_once() -> None:
    interrupted = line("user", "i", ID, message={"content": "[Request interrupted by user for tool use]"})
    assert searched(FIRST + interrupted).unannounced
    assert not searched(FIRST + interrupted, len(FIRST + interrupted) - 1).unannounced


@pytest.mark.parametrize(
    "submitted, new, queued",
    [
        ("1", 0, True),
        ("", 0, False),
        ("2", 0, False),
        ("12", 0, False),  # the id of another prompt begins with this one
        ("1", len(FIRST), False),  # searched before
    ],
)
def test_a_prompt_that_the_record_knows_already_is_queued(submitted: str, new: int, queued: bool) -> None:
    assert searched(FIRST + ANSWER, new, prompt=submitted).queued is queued
    long = FIRST.replace(b'"promptId":"1"', b'"promptId":"123"')
    assert not searched(long, prompt="1").queued
    nameless = FIRST.replace(b'"promptId":"1"', b'"promptId":""')
    assert not searched(nameless).queued  # nothing is being submitted


def test_a_compaction_is_a_sign_where_it_is_new() -> None:
    row = line("system", "b", None, subtype="compact_boundary")
    assert searched(FIRST + row).compacted
    assert not searched(FIRST + row + ANSWER, len(FIRST + row)).compacted
    assert not searched(FIRST + line("user", "u", "p", message={"content": "a compact_boundary"})).compacted


def named(letter: str) -> str:
    return letter * 36


def prompt(letter: str, parent: str | None, **more: Any) -> bytes:
    return line("user", named(letter), parent and named(parent), promptId=f"p{letter}", **more)


def reply(letter: str, parent: str) -> bytes:
    return line("assistant", named(letter), named(parent), message={"content": []})


def result(letter: str, parent: str) -> bytes:
    block = {"type": "tool_result", "tool_use_id": "t", "content": "x"}
    return prompt(letter, parent, message={"content": [block]})


A, B, C = prompt("a", None), reply("b", "a"), prompt("c", "b")
HOOK = line("attachment", named("h"), named("a"), attachment={"type": "hook_success"})
SUMMARY = line("user", named("s"), named("x"), isCompactSummary=True, message={"content": "summary"})


@pytest.mark.parametrize(
    "before, newest, back",
    [
        (A + B, C, False),
        (A + B + C + reply("d", "c"), prompt("e", "d"), False),
        (A + B + C + reply("d", "c"), prompt("e", "b"), True),
        (A + B + C, prompt("e", "b"), True),  # a prompt that has no answer was taken back
        (A + HOOK, prompt("e", "a"), False),  # what hooks write is not a message
        (A + B, prompt("e", "z"), True),  # its parent is further back than what was read
        (A + B, result("e", "a"), False),  # the results of parallel calls have earlier parents
        (A + B, prompt("e", "a").replace(b'"type":"user"', b'"type":"attachment"'), False),
        (SUMMARY, prompt("e", "s"), True),  # a compaction may have kept messages between the two
        (A + B, prompt("e", "b").rstrip(b"\n"), False),  # a line that is being written
        (A + B, prompt("e", "a").rstrip(b"\n"), False),
        (A + B, prompt("e", "a") + result("f", "e") + prompt("g", "f"), True),
        (A + B, prompt("e", "b") + reply("f", "e") + prompt("g", "b"), True),
        (A + B, result("e", "b") + prompt("g", "b"), True),
        (b"", prompt("e", None), False),
        (A + B, prompt("e", None), True),
        (A, prompt("e", None), False),  # nothing was answered, so nothing can be taken back
        (A + B, line("user", named("e"), None, promptId="pe", text='quoted "parentUuid": x'), True),
    ],
)
def test_a_prompt_that_does_not_follow_the_newest_message(before: bytes, newest: bytes, back: bool) -> None:
    assert searched(before + newest, len(before)).moved is back
    assert searched(b'{"type":"mode"}\n' + before + newest, len(before) + 16).moved is back
    assert not searched(before + newest, len(before), agent=True).moved  # a subagent's window is never rewound


def test_prompts_that_were_searched_before_are_not_judged_again() -> None:
    data = A + B + C + prompt("e", "a")
    assert searched(data, len(A + B)).moved
    assert not searched(data + reply("f", "e"), len(data)).moved


def test_the_first_row_of_a_piece_may_have_lost_its_beginning() -> None:
    """What is read begins somewhere inside of a line."""
    assert not searched(prompt("c", "z")[20:] + reply("d", "c")).moved


@pytest.mark.parametrize("text, mention", [("mail me", False), ("see @a", True), ("@a", True)])
@pytest.mark.parametrize("before", [b"", b'{"type":"mode"}\n'])
@pytest.mark.parametrize("after", [b"", PLAIN])
def test_where_a_queued_prompt_stands_does_not_matter(text: str, mention: bool, before: bytes, after: bytes) -> None:
    typed = line("user", "1", None, promptId="p", message={"content": text})
    assert searched(before + TAKEN + typed + after).unannounced is mention
    assert searched(before + joined(text) + after).unannounced is mention


def test_a_joined_prompt_without_a_text_is_not_a_mention() -> None:
    assert not searched(joined("x").replace(b'"prompt":"x"', b'"prompt":[]')).unannounced
