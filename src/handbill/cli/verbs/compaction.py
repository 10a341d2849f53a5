"""`engine compaction`: what a window's last compaction removed, kept and got back.

It also restores the rest.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

from handbill.cli.calling_agent import calling_agent
from handbill.cli.project import choose_window, here
from handbill.cli.result import Result
from handbill.cli.screen import count, safe, short, table, when_written
from handbill.cli.subcommands import AGENT, SESSION, Action
from handbill.errors import HandbillError
from handbill.project import Project, session_of
from handbill.reports.compaction import NOT_THERE, compaction_report, holds_for_certain, restorable

if TYPE_CHECKING:
    from rich.console import Console

    from handbill.reports.compaction import CompactionReport
    from handbill.store.api import Key

ACTIONS: dict[str, Action] = {
    "report": Action(
        "show what was in the window before, and what was kept, delivered again or lost", (SESSION, AGENT),
        ("engine compaction report",),
    ),
    "restore": Action(
        "deliver the lost files again, with the next event",
        (("files", {"nargs": "*", "metavar": "FILE", "help": "only these (default: all lost deliveries)"}), SESSION),
        ("engine compaction restore",), confirms=True,
    ),
}  # fmt: skip

_PATIENCE = 2.0  # seconds to wait until the client records a compaction
_STYLE = {**dict.fromkeys(NOT_THERE, "yellow"), "gone": "red"}


def run(args: argparse.Namespace) -> Result:
    project = here(args.project)
    agent = getattr(args, "agent", None)
    if agent is None and not args.session:
        agent = calling_agent(project, f"compaction {args.action}")
    key = choose_window(project, args.session, agent)
    report = compaction_report(project, key, _PATIENCE)
    if args.action == "restore":
        return _restore(args, project, key, report)
    next_step = "engine compaction restore" if report.lost else ""
    return Result(asdict(report), lambda screen: _show(screen, report), next_step=next_step)


def _restore(args: argparse.Namespace, project: Project, key: Key, report: CompactionReport) -> Result:
    wanted = {os.path.abspath(name) for name in args.files}
    lost = restorable(report, wanted)
    unknown = sorted(wanted - set(lost))
    if unknown:
        raise HandbillError(
            f"{unknown[0]} was not removed by the compaction", "engine compaction report lists what was removed"
        )
    window = project.store.read(key)
    there = [path for path in lost if holds_for_certain(window, path)]
    files = [path for path in lost if path not in there]
    text = f"restoring {count(len(files), 'file')}" if files else "no delivered file is missing"
    if files:
        session = session_of(key)
        by = "agent" if project.host.shell(os.environ).session_id == session else "terminal"
        project.store.post(session, {
            "verb": "restore", "files": files, "line": text, "at": time.time(), "by": by, "window": key[0],
        })  # fmt: skip
        text += ", with the next event of this window:\n" + "\n".join(f"  {path}" for path in files)
    return Result({"window": ".".join(key), "files": files}, text=text)


def _show(screen: Console, report: CompactionReport) -> None:
    size = f", {report.tokens_before:,} tokens before" if report.tokens_before else ""
    size += f", {report.tokens_after:,} after" if report.tokens_after else ""
    screen.print(f"[bold]{safe(report.window)}[/]")
    screen.print(f"[dim]compacted {safe(when_written(report.at))} ({safe(report.trigger)}){size}[/]")
    rows = table("file|p", "how it arrived|-", "now|n")
    for row in report.files:
        style = _STYLE.get(row.fate, "green")
        rows.add_row(short(row.file, report.project), safe(row.came), f"[{style}]{safe(row.fate)}[/]")
    screen.print(rows)
    screen.print(", ".join(f"{number} {name}" for name, number in report.counts.items()) or "the window was empty")
    if report.new:
        screen.print(f"[dim]and new since:[/] {', '.join(short(path, report.project) for path in report.new)}")
