"""`engine session list`: the sessions of this project."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from handbill.cli.result import Result
from handbill.cli.screen import safe, shortened, table
from handbill.cli.session.desk import alive, desk
from handbill.core.session import holder_of
from handbill.errors import HandbillError
from handbill.store import sessions

if TYPE_CHECKING:
    from rich.console import Console

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
        next_step=f"{hidden} older ones: --all" if hidden else "" if rows else "engine session activate NAME SKILL",
    )


def described(folder: str) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": os.path.basename(folder), "path": folder, "lifecycle": "–", "skill": "", "phase": "", "held": "",
        "task": "", "problem": "", "changed": os.path.getmtime(folder), "started": "",
    }  # fmt: skip
    try:
        state = sessions.read(folder)
    except HandbillError as error:
        return {**row, "lifecycle": "broken", "problem": str(error)}
    if state is None:
        return row
    holder = holder_of(state)
    row["changed"] = os.path.getmtime(os.path.join(folder, sessions.FILE))
    row["held"] = str(holder.pid) if holder.pid and alive(holder) else ""
    row["task"] = str(state.get("taskSummary") or state.get("sessionDescription") or "")
    row.update(
        lifecycle=str(state.get("lifecycle", "–")), skill=str(state.get("skill", "")),
        phase=str(state.get("currentPhase", "")), started=str(state.get("startedAt", "")),
    )  # fmt: skip
    return row


_STYLE = {"active": "green", "idle": "yellow", "broken": "red"}


def show(screen: Console, rows: list[dict[str, Any]]) -> None:
    if not rows:
        screen.print("no sessions here")
        return
    made = table("session|n", "state|n", "skill|n", "phase", "pid|n", "task")
    for row in rows:
        style = _STYLE.get(row["lifecycle"], "dim")
        made.add_row(
            safe(row["name"]), f"[{style}]{safe(row['lifecycle'])}[/]", safe(row["skill"]), safe(row["phase"]),
            safe(row["held"]), safe(row["problem"] or shortened(row["task"], 60)),
        )  # fmt: skip
    screen.print(made)
