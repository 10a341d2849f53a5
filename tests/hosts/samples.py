"""The same moments in the format of each host: (raw event, environment)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from handbill.event import (
    PROMPT_SUBMITTED,
    READS,
    RUNS,
    SEARCHES,
    SESSION_ENDED,
    SESSION_STARTED,
    TOOL_BATCH_FINISHED,
    TOOL_CALLED,
    WRITES,
)

Raw = tuple[dict[str, Any], dict[str, str]]
Call = tuple[str, str, str]  # the action, its id, the path or command


def claude_code(kind: str, folder: str, *calls: Call, agent: str = "", version: str = "2.1.325") -> Raw:
    tools = {
        READS: ("Read", "file_path"), WRITES: ("Write", "file_path"), RUNS: ("Bash", "command"), SEARCHES: ("Grep", "path"),
    }  # fmt: skip
    names = {
        SESSION_STARTED: "SessionStart", PROMPT_SUBMITTED: "UserPromptSubmit", TOOL_CALLED: "PreToolUse",
        TOOL_BATCH_FINISHED: "PostToolBatch", SESSION_ENDED: "SessionEnd",
    }  # fmt: skip
    made = [
        {"tool_name": tools[does][0], "tool_use_id": id, "tool_input": {tools[does][1]: value}}
        for does, id, value in calls
    ]
    raw: dict[str, Any] = {"hook_event_name": names[kind], "session_id": "s1", "cwd": folder, "prompt": "go"}
    raw |= {"source": "startup"} if kind == SESSION_STARTED else {}
    raw |= {"agent_id": agent} if agent else {}
    raw |= made[0] if kind == TOOL_CALLED and made else {"tool_calls": made} if made else {}
    environ = {"CLAUDE_PROJECT_DIR": folder, "CLAUDE_PID": "77"}
    return raw, environ | ({"AI_AGENT": f"claude-code_{version.replace('.', '-')}_x"} if version else {})


def made_up(kind: str, folder: str, *calls: Call, agent: str = "", version: str = "1.0") -> Raw:
    verbs = {READS: "look", WRITES: "put", RUNS: "shell", SEARCHES: "hunt"}
    names = {
        SESSION_STARTED: "begin", PROMPT_SUBMITTED: "ask", TOOL_CALLED: "before", TOOL_BATCH_FINISHED: "after",
        SESSION_ENDED: "end",
    }  # fmt: skip
    made = [{"verb": verbs[does], "id": id, "line" if does == RUNS else "path": value} for does, id, value in calls]
    raw = {"what": names[kind], "talk": "s1", "folder": folder, "helper": agent, "version": version, "calls": made}
    return raw, {"MADE_UP_PID": "77"}


SAMPLES: dict[str, Callable[..., Raw]] = {"claude-code": claude_code, "made-up": made_up}
