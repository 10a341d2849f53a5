"""Recovers the notices that `engine session` left for the hooks, from the command's output."""

from __future__ import annotations

import re
from typing import Any

_BEGUN = re.compile(r"Session (?:activated|re-activated|switched): (\S+) \(skill: (\S+)\)")
_CONTINUED = re.compile(r"Session continued: (\S+)\n  Skill: (\S+)\n  Phase: ([^\n]*)")
_ENDED = re.compile(r"Session (idle|deactivated): (\S+) ")
_PHASE = re.compile(r"^Phase: ([^:\n]+)", re.MULTILINE)
_MOVED = re.compile(r"engine session phase (\S+)")


def notice_of(call: dict[str, Any], skill: str) -> dict[str, Any] | None:
    """Return the notice that a call left for the hooks; None if it left none.

    `skill`: the one that a command began last.
    """
    command = call["tool_input"].get("command") if call["tool_name"] == "Bash" else None
    printed = str(call.get("tool_response", ""))
    if not isinstance(command, str) or "engine session " not in command:
        return None
    phase = _PHASE.search(printed)
    label = phase[1].strip() if phase else ""
    if found := _BEGUN.search(printed):
        return _notice("activate", found[1], found[2], label, found[0])
    if found := _CONTINUED.search(printed):
        return _notice("continue", found[1], found[2], found[3].partition(":")[0], found[0].partition("\n")[0])
    if found := _ENDED.search(printed):
        verb = "idle" if found[1] == "idle" else "deactivate"
        return _notice(verb, found[2], skill, "", printed.partition("\n")[0])
    moved = _MOVED.search(command)
    if moved and printed.startswith("Phase: ") and skill:
        return _notice(
            "phase", f"sessions/{moved[1].rstrip('/').rpartition('/')[2]}", skill, label, printed.partition("\n")[0]
        )
    return None


def _notice(verb: str, session: str, skill: str, phase: str, line: str) -> dict[str, Any]:
    folder = session if session.startswith("/") else f"$PROJECT/{session}"
    return {"verb": verb, "session": folder, "skill": skill, "phase": phase, "line": line}
