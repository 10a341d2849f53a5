"""`engine gate status`: what each gate required of a window, and what the agent did."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from handbill.cli.needed_hooks import needed
from handbill.cli.project import choose_window, here, read_window
from handbill.cli.result import Result
from handbill.cli.screen import labelled, safe, short, table
from handbill.cli.subcommands import AGENT, Action
from handbill.reports.gates import Status, statuses

if TYPE_CHECKING:
    from rich.console import Console


ACTIONS: dict[str, Action] = {
    "status": Action(
        "show what each gate requested in this window, and what the agent did",
        (
            ("session", {"nargs": "?", "help": "session id or its beginning (default: yours, or the newest)"}),
            AGENT,
        ),
        ("engine gate status",),
    ),
}


def run(args: argparse.Namespace) -> Result:
    project = here(args.project)
    key = choose_window(project, args.session, args.agent)
    window = read_window(project, key)
    found = statuses(window, project, lambda: needed(project.world(), project.settings).every)
    data = {"window": ".".join(key), "project": project.root, "gates": [gate.plain() for gate in found]}
    return Result(
        data,
        lambda screen: _show(screen, ".".join(key), found, project.root),
        next_step="engine window: everything that is in it",
    )


def _show(screen: Console, window: str, found: list[Status], project: str) -> None:
    screen.print(f"[bold]{safe(window)}[/]")
    for gate in found:
        labelled(screen, f"[bold]{gate.gate}[/] [dim]{safe(gate.setting)}[/]  ", safe(gate.state))
        for name, words in (gate.said or {}).items():
            labelled(screen, f"  the agent reported as {name}: ", safe(words) or "nothing")
        if gate.files:
            rows = table("file|p", "state|n")
            for one in gate.files:
                rows.add_row(short(one.file, project), safe(one.state))
            screen.print(rows)
