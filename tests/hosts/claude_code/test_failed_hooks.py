"""Hooks of ours that failed, by the client's own record."""

from __future__ import annotations

from typing import Any

import pytest
from transcript_lines import line

from handbill.hosts.claude_code.failed_hooks import failures

MARK = b"handbill.hook"


def row(uuid: str, type: str, command: str = "python -c handbill.hook", **more: Any) -> bytes:
    return line("attachment", uuid, None, attachment={"type": type, "command": command, "hookEvent": "Stop", **more})


@pytest.mark.parametrize(
    "data, how",
    [
        (row("1", "hook_non_blocking_error", exitCode=137), "ended without an answer (exit code 137)"),
        (row("1", "hook_cancelled", timedOut=True, durationMs=60000), "timed out after 60000 ms"),
        (row("1", "hook_cancelled"), "was cancelled by the client"),
        (row("1", "hook_success", exitCode=1), "failed after the client had read its answer (exit code 1)"),
    ],
)
def test_what_happened(data: bytes, how: str) -> None:
    assert failures(data, MARK) == [("1", "Stop", how)]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        row("1", "hook_success", exitCode=0),
        row("1", "hook_non_blocking_error", command="other", exitCode=1),
        row("1", "another_type", about="hook_cancelled handbill.hook"),
        row("1", "another_type", quoted={"type": "hook_cancelled"}),
        line("user", "1", None, message={"content": '"hook_cancelled" handbill.hook'}),
        row("1", "hook_cancelled").rstrip(b"\n"),  # being written
    ],
)
def test_what_is_no_failure_of_ours(data: bytes) -> None:
    assert failures(data, MARK) == []


def test_those_behind_one_that_is_not_ours_are_found() -> None:
    data = row("1", "hook_cancelled", command="other") + row("2", "hook_success", exitCode=0)
    data += row("3", "hook_cancelled") + row("4", "hook_success", exitCode=9)
    assert [uuid for uuid, _, _ in failures(data, MARK)] == ["3", "4"]
