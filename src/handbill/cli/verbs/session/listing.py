"""`engine session list`: lists the sessions of this project."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from handbill.cli.caller import alive, desk
from handbill.cli.result import Result
from handbill.cli.screen import safe, shortened, table
from handbill.reports.sessions import every_session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from handbill.reports.sessions import SessionRow

MOST = 20


def run(args: argparse.Namespace) -> Result:
    at = desk(args.project)
    rows = every_session(at.root, alive)
    shown = rows if args.all else rows[:MOST]
    hidden = len(rows) - len(shown)
    return Result(
        {"sessions": [asdict(row) for row in shown], "hidden": hidden},
        lambda screen: show(screen, shown),
        next_step=f"--all shows {hidden} more" if hidden else "" if rows else "engine session activate NAME SKILL",
    )


_STYLE = {"active": "green", "idle": "yellow", "broken": "red", "dead": "red", "abandoned": "yellow"}


def show(screen: Console, rows: Sequence[SessionRow], none: str = "no sessions here") -> None:
    if not rows:
        screen.print(none)
        return
    made = table("session|n", "state|n", "skill|n", "phase", "pid|n-", "task|+")
    for row in rows:
        style = _STYLE.get(row.state, "dim")
        made.add_row(
            safe(row.name), f"[{style}]{safe(row.state)}[/]", safe(row.skill), safe(row.phase), safe(row.held),
            safe(row.problem or shortened(row.task, 60)),
        )  # fmt: skip
    screen.print(made)
