from __future__ import annotations

from typing import Any

import pytest

from handbill.event import DONE, FAILED, HELD, REFUSED
from handbill.hosts.claude_code.tools import is_denial, tool

BY_US = "[Held by Handbill] web/new.js was not written"


@pytest.mark.parametrize(
    "name, response, outcome",
    [
        # as 2.1.197, 2.1.260 and 2.1.325 say it
        ("Read", None, DONE),
        ("Read", "1\tprint('a')\n2\t", DONE),
        ("Read", "50\tline", DONE),
        ("Read", "     1→line", DONE),
        ("Read", "Wasted call — file unchanged since your last Read. Refer to that earlier tool_result instead.", DONE),
        ("Read", "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>", DONE),
        ("Read", [{"type": "image", "source": {}}], DONE),
        ("Read", [{"type": "text", "text": '<cell id="cell-0">x=1</cell id="cell-0">'}], DONE),
        ("Read", "File does not exist. Note: your current working directory is /p.", FAILED),
        ("Read", "File content (527.3KB) exceeds maximum allowed size (256KB). Use offset", FAILED),
        ("Read", "EISDIR: illegal operation on a directory, read '/p/sub'", FAILED),
        ("Read", "12 monkeys", FAILED),
        ("Read", "\t", FAILED),
        (
            "Read",
            "<system-reminder>Warning: the file exists but is shorter than the provided offset (50). The file has 2 "
            "lines.</system-reminder>",
            FAILED,
        ),
        ("Read", "<tool_use_error>File is in a directory that is denied by your permission settings.", REFUSED),
        ("Read", "Permission to use Read has been denied.", REFUSED),
        ("Read", "The user doesn't want to proceed with this tool use.", REFUSED),
        ("Bash", "PreToolUse:Bash hook error: [some-hook]: no way", REFUSED),
        ("Bash", "PreToolUse: said the program", DONE),
        ("Read", BY_US, HELD),
        ("Write", f"PreToolUse:Write hook error: {BY_US}", HELD),
        ("Bash", f"it says {BY_US}", DONE),
        ("Bash", "(Bash completed with no output)", DONE),
        ("Bash", "Exit code 1\ncat: nope: No such file or directory", FAILED),
        ("Edit", "Exit code 1", DONE),
        ("Skill", "Launching skill: do", DONE),
        ("Skill", "That did not work", FAILED),
    ],
)
def test_what_became_of_a_call(name: str, response: Any, outcome: str) -> None:
    call = {"tool_name": name, "tool_use_id": "t1", "tool_input": {}, "tool_response": response}
    assert tool(call, "/p").outcome == outcome


@pytest.mark.parametrize(
    "text, held",
    [
        (BY_US, True),
        (f"PreToolUse:Bash hook error: {BY_US}", True),
        (f"PostToolUse:Bash hook error: {BY_US}", False),
        (f"[other] hook error: {BY_US}", False),
        (f"PreToolUse:Bash hook error: no. {BY_US}", False),
        ("", False),
    ],
)
def test_is_denial(text: str, held: bool) -> None:
    assert is_denial(text) is held
