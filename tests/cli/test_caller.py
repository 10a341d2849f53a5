from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from handbill.cli import calling_agent
from handbill.hosts import claude_code
from handbill.hosts.claude_code.past import runs_now


def row(**values: Any) -> bytes:
    return json.dumps(values, separators=(",", ":")).encode() + b"\n"


CALL = row(type="assistant", uuid="u1", message={"role": "assistant", "content": [
    {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "engine compaction restore"}}]})  # fmt: skip
DONE = row(
    type="user",
    uuid="u2",
    message={"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "x"}]},
)


def test_a_command_runs_until_its_result_is_there() -> None:
    assert runs_now(CALL, "compaction restore") and not runs_now(CALL + DONE, "compaction restore")
    assert not runs_now(CALL, "compaction report")


def test_nobody_can_tell_if_two_windows_run_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s")
    monkeypatch.setattr(calling_agent, "_runs", lambda *_: True)
    place = SimpleNamespace(host=claude_code, store=SimpleNamespace(known=lambda: [("s", "main"), ("s", "a1")]))
    assert calling_agent.calling_agent(place, "compaction restore") is None  # type: ignore[arg-type]
