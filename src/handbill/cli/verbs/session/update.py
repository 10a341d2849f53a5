"""`engine session update`: sets one field of the state, even while others write to it."""

from __future__ import annotations

import argparse
from typing import Any

from handbill.cli.caller import Caller, NotAllowed, desk
from handbill.cli.result import Result
from handbill.fast_json import loads
from handbill.library.skills import skill_file, template
from handbill.store import sessions
from handbill.work.session import STATIC, State

_VERB_OF = {
    **dict.fromkeys(STATIC, "SKILL.md"),
    **dict.fromkeys(("v", "pid", "pidStarted", "sessionId"), "engine session continue"),
    **dict.fromkeys(("currentPhase", "phaseHistory"), "engine session phase"),
    **dict.fromkeys(("skill", "startedAt", "skillHistory"), "engine session activate"),
    **dict.fromkeys(("lifecycle", "completedSkills", "completedAt"), "engine session idle or deactivate"),
    "approvals": "--user-approved",
}  # fmt: skip


def run(args: argparse.Namespace) -> Result:
    at = desk(args.project)
    folder = at.folder(args.session)
    at.required(folder)
    if args.field in _VERB_OF:
        raise NotAllowed(f"{args.field} is set by {_VERB_OF[args.field]}", "update is for fields of your own")
    value = args.value if args.text else typed(args.value)

    def change(state: State | None) -> tuple[State, State]:
        at.refuse_if_held(state, person_may=True)
        new = at.taken_over({**(state or {}), args.field: value})[0]
        return new, new

    mode = _mode_file(at, at.required(folder), value) if args.field == "mode" else ""
    before = at.find()
    state = sessions.update(folder, change)
    line = f"Updated {args.field}={args.value} in {at.shown(folder)}"
    warnings = at.take(folder) + at.tell(state, "continue", line, folder) if at.window and before != folder else []
    warnings += at.tell(state, "update", line, folder, files=[mode], why=f"mode {value}") if mode else []
    return Result({"session": folder, "field": args.field, "value": value}, text=line, warnings=warnings)


def typed(text: str) -> Any:
    """Parse true, 12, null, [..] and {..} as JSON; return anything else as text."""
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return text


def _mode_file(at: Caller, state: State, value: Any) -> str:
    """Return the page of the chosen mode, if any. Raises if the skill does not declare the mode."""
    modes = state.get("modes") or {}
    if not modes:
        raise NotAllowed(f"{state.get('skill')} has no modes", "a field of your own needs another name")
    if not isinstance(value, str) or value not in modes:
        raise NotAllowed(f"{state.get('skill')} has no mode {value!r}", f"declared: {', '.join(modes)}")
    path = skill_file(str(state.get("skill")), at.world)
    file = modes[value].get("file", "")
    return template(path, file, at.world) if path and isinstance(file, str) and file else ""
