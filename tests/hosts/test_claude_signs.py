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


def test_what_was_searched_is_not_searched_again() -> None:
    data = line("attachment", "u", None, attachment={"type": "hook_cancelled", "command": "handbill.hook"})
    asked = Asked()
    search(data, len(data), asked)
    assert not asked


TYPED, TAKEN = line("user", "1", None, promptId="p", message={"content": "see @a"}), b'{"operation":"dequeue"}\n'
PLAIN = line("user", "2", None, promptId="q", message={"content": "go"})


@pytest.mark.parametrize(
    "data, new, found",
    [
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
