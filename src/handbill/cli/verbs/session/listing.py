"""`engine session list`: the sessions of this project."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from handbill.cli.caller import alive, desk
from handbill.cli.result import Result
from handbill.cli.screen import safe, shortened, table
from handbill.errors import HandbillError
from handbill.store import sessions
from handbill.work.session import ACTIVE, holder_of

if TYPE_CHECKING:
    from rich.console import Console

    from handbill.work.session import State

MOST = 20


def run(args: argparse.Namespace) -> Result:
    at = desk(args.project)
    rows = [described(folder) for folder in sessions.folders(at.root)]
    rows.sort(key=lambda row: (row["changed"], row["name"]), reverse=True)
    shown = rows if args.all else rows[:MOST]
    hidden = len(rows) - len(shown)
    return Result(
        {"sessions": shown, "hidden": hidden},
        lambda screen: show(screen, shown),
        next_step=f"--all shows {hidden} more" if hidden else "" if rows else "engine session activate NAME SKILL",
    )


def described(folder: str) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": os.path.basename(folder), "path": folder, "state": "–", "lifecycle": "–", "skill": "", "phase": "",
        "held": "", "task": "", "problem": "", "changed": os.path.getmtime(folder), "started": "",
    }  # fmt: skip
    try:
        state = sessions.read(folder)
    except HandbillError as error:
        return {**row, "state": "broken", "lifecycle": "broken", "problem": str(error)}
    if state is None:
        return row
    holder = holder_of(state)
    row["changed"] = os.path.getmtime(os.path.join(folder, sessions.FILE))
    row["held"] = str(holder.pid) if holder.pid and alive(holder) else ""
    row["task"] = str(state.get("taskSummary") or state.get("sessionDescription") or "")
    row.update(
        state=condition(state), lifecycle=str(state.get("lifecycle", "–")), skill=str(state.get("skill", "")),
        phase=str(state.get("currentPhase", "")), started=str(state.get("startedAt", "")),
    )  # fmt: skip
    return row


def condition(state: State) -> str:
    """The lifecycle; of an active session, whether anybody is at it. `dead`: its agent's process is gone."""
    lifecycle = str(state.get("lifecycle", "–"))
    if lifecycle != ACTIVE:
        return lifecycle
    holder = holder_of(state)
    if holder.pid:
        return ACTIVE if alive(holder) else "dead"
    return "abandoned" if state.get("lastKnownPid") else ACTIVE  # else a person's terminal, which has no process


_STYLE = {"active": "green", "idle": "yellow", "broken": "red", "dead": "red", "abandoned": "yellow"}


def show(screen: Console, rows: list[dict[str, Any]], none: str = "no sessions here") -> None:
    if not rows:
        screen.print(none)
        return
    made = table("session|n", "state|n", "skill|n", "phase", "pid|n-", "task|+")
    for row in rows:
        style = _STYLE.get(row["state"], "dim")
        made.add_row(
            safe(row["name"]), f"[{style}]{safe(row['state'])}[/]", safe(row["skill"]), safe(row["phase"]),
            safe(row["held"]), safe(row["problem"] or shortened(row["task"], 60)),
        )  # fmt: skip
    screen.print(made)
