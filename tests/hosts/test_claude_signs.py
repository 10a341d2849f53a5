from __future__ import annotations

import pytest
from transcript_lines import line

from handbill.hosts.claude_signs import search
from handbill.turn import Asked


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
        (TAKEN + TYPED, len(TAKEN), False),
    ],
)
def test_a_queued_prompt_whose_turn_has_come(data: bytes, new: int, found: bool) -> None:
    asked = Asked()
    search(data, new, asked)
    assert asked.unannounced is found
