from __future__ import annotations

from typing import Any

import pytest

from handbill.event import Event
from handbill.hosts import claude_code as host
from handbill.plan import Plan


def parse(raw: dict[str, Any], environ: dict[str, str]) -> Event | None:
    caller = host.identify(raw, environ)
    caller.client = caller.client or 1
    return host.parse(raw, caller, environ)


def parsed(name: str, environ: dict[str, str] | None = None, **raw: Any) -> Event:
    event = parse({"hook_event_name": name, "session_id": "s", "cwd": "/p", **raw}, environ or {})
    assert event is not None
    return event


@pytest.mark.parametrize("name", host.KINDS)
def test_every_known_event_is_parsed_and_answered(name: str) -> None:
    event = parsed(name)
    assert event.kind == host.KINDS[name]
    assert host.render(event, "", None) == {}
    if name in ("PreToolUse", "Stop"):
        return  # they carry no context, only reasons not to go on
    assert host.render(event, "text", None)["hookSpecificOutput"] == {
        "hookEventName": name,
        "additionalContext": "text",
    }


@pytest.mark.parametrize("raw", [{}, {"hook_event_name": 7}, {"hook_event_name": "New"}, {"hook_event_name": None}])
def test_unknown_events_are_not_ours(raw: dict[str, Any]) -> None:
    assert parse(raw, {}) is None


@pytest.mark.parametrize(
    "call, files, places",
    [
        ({"tool_name": "Read", "tool_input": {"file_path": "/p/a/x.py"}}, ("/p/a/x.py",), ()),
        ({"tool_name": "Edit", "tool_input": {"file_path": "a/../b/x.py"}}, ("/p/b/x.py",), ()),
        ({"tool_name": "NotebookEdit", "tool_input": {"notebook_path": "n.ipynb"}}, ("/p/n.ipynb",), ()),
        ({"tool_name": "Grep", "tool_input": {"pattern": "x", "path": "src"}}, (), ("/p/src",)),
        ({"tool_name": "Grep", "tool_input": {"pattern": "a/b"}}, (), ("/p",)),
        ({"tool_name": "Glob", "tool_input": {"pattern": "src/lib/**/*.py"}}, (), ("/p", "/p/src/lib")),
        ({"tool_name": "Glob", "tool_input": {"pattern": "*.py", "path": "/p/src"}}, (), ("/p/src",)),
        ({"tool_name": "Bash", "tool_input": {"command": "cat src/a.py && make"}}, (), ("/p/src/a.py",)),
        ({"tool_name": "Agent", "tool_input": {"prompt": "/p/x"}}, (), ()),
        ({"tool_name": "Read", "tool_input": {"file_path": 7}}, (), ()),
        ({"tool_name": "Read", "tool_input": None}, (), ()),
        ({"tool_name": None}, (), ()),
        ({"name": "Read", "id": "t9", "input": {"file_path": "/x"}}, ("/x",), ()),  # as the transcript has it
    ],
)
def test_what_a_tool_call_touches(call: dict[str, Any], files: tuple[str, ...], places: tuple[str, ...]) -> None:
    tool = parsed("PostToolBatch", tool_calls=[call]).tools[0]
    assert (tool.files, tool.paths) == (files, places)


def test_identity() -> None:
    environ = {"CLAUDE_PROJECT_DIR": "/p/", "AI_AGENT": "claude-code_2-1-325_harness"}
    event = parsed("PostToolBatch", environ, agent_id="a1", transcript_path="/t/s.jsonl")
    assert event.window == ("s", "a1")
    assert event.project == "/p"
    assert event.version == (2, 1, 325)
    assert event.transcript == "/t/s/subagents/agent-a1.jsonl"
    assert parsed("PostToolBatch", transcript_path="/t/s.jsonl").transcript == "/t/s.jsonl"


@pytest.mark.parametrize(
    "value, version",
    [("claude-code_2-1-197_agent", (2, 1, 197)), ("", ()), ("x_1-2", ()), ("claude-code", ()), ("claude-code_a-b", ())],
)
def test_version(value: str, version: tuple[int, ...]) -> None:
    assert host.version_of({"AI_AGENT": value}) == (version or None)


def test_a_gate_denies_and_nothing_ever_approves() -> None:
    plan = Plan()
    plan.gate("block", "read this first")
    answer = host.render(parsed("PreToolUse"), "", plan)["hookSpecificOutput"]
    assert answer["permissionDecision"] == "deny"
    assert answer["permissionDecisionReason"] == "read this first"
    plan = Plan()
    plan.gate("warn", "x")
    assert "permissionDecision" not in str(host.render(parsed("PreToolUse"), "text", plan))
