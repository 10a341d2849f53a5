"""`engine deliveries`: filters the log, follows it, or adds it up."""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

from handbill.cli.project import here, project_option
from handbill.cli.result import Result
from handbill.cli.screen import console, count, safe, short, table, when
from handbill.reports.deliveries import DECISIONS, DELIVERED, MOMENTS, Chosen, is_delivery, newest, summary
from handbill.reports.duplicates import duplicates
from handbill.reports.store_files import delivery_log, growing_delivery_log, has_delivery_log, new_lines

if TYPE_CHECKING:
    from rich.console import Console

    from handbill.cli.table import Table
    from handbill.reports.deliveries import Summary
    from handbill.reports.duplicates import Duplicate
    from handbill.reports.store_files import Line

_STYLE = {**dict.fromkeys(DELIVERED, "bold green"), "confirmed": "green", "lost": "red", "refused": "red"}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--session", metavar="ID", help="only windows whose id begins with this")
    parser.add_argument("--file", metavar="TEXT", help="only files whose path contains this")
    names = ", ".join(dict.fromkeys(DECISIONS.values()))
    parser.add_argument(
        "--event", metavar="NAME", action="append", choices=list(dict.fromkeys((*DECISIONS, *DECISIONS.values()))),
        help=f"only these decisions: {names} (or the names in the log: {', '.join(DECISIONS)})",
    )  # fmt: skip
    parser.add_argument("--last", type=_count, default=40, metavar="N", help="how many lines (default 40; 0: all)")
    parser.add_argument("--follow", action="store_true", help="keep printing new lines until Ctrl-C")
    parser.add_argument("--duplicates", action="store_true", help="files that one window got more than once")
    parser.add_argument(
        "--summary", action="store_true", help="totals: deliveries, files, skips, duplicates, and deliveries per event"
    )
    project_option(parser)


def _count(text: str) -> int:
    number = int(text) if text.isdecimal() else -1
    if number < 0:
        raise argparse.ArgumentTypeError(f"must be 0 or a larger whole number, not {text!r}")
    return number


def run(args: argparse.Namespace) -> Result:
    project = here(args.project)
    chosen = Chosen(args.session or "", args.file or "", args.event or ())
    if args.duplicates or args.summary:
        lines = [line for line in delivery_log(project.store) if chosen.includes(line)]
        return (_summary if args.summary else _duplicates)(lines, project.root)
    found = newest(project.store, chosen, args.last)
    if args.follow:
        _follow(growing_delivery_log(project.store), found, chosen, args, project.root)
    is_empty = not found and not has_delivery_log(project.store)
    return Result(
        {"deliveries": found},
        lambda screen: _show(screen, found, project.root) if not args.follow else None,
        next_step="start the agent; engine doctor shows whether hooks are installed" if is_empty else "",
    )


def _summary(lines: list[Line], project: str) -> Result:
    found, copies = summary(lines), duplicates(lines)
    data = {**asdict(found), "duplicates": [asdict(one) for one in copies]}
    return Result(data, lambda screen: _show_summary(screen, found, copies, project), exit_code=1 if copies else 0)


def _duplicates(lines: list[Line], project: str) -> Result:
    copies, delivered = duplicates(lines), sum(map(is_delivery, lines))

    def show(screen: Console) -> None:
        if copies:
            screen.print(_copies(copies, project))
        else:
            screen.print(f"[green]no duplicates[/] among {count(delivered, 'delivery', 'deliveries')}")

    data = {"duplicates": [asdict(one) for one in copies], "deliveries": delivered}
    return Result(data, show, exit_code=1 if copies else 0)


def _show_summary(screen: Console, found: Summary, copies: list[Duplicate], project: str) -> None:
    screen.print(
        f"[bold]{count(found.deliveries, 'delivery', 'deliveries')}[/] of {count(found.files, 'file')} "
        f"into {count(found.windows, 'window')}, {found.characters:,} characters", soft_wrap=True,
    )  # fmt: skip
    for label, value in (
        ("confirmed", found.confirmed), ("assumed", found.assumed), ("lost, sent again", found.lost),
        ("refused", found.refused), ("already there", found.skipped),
        ("without a session", found.without_session), ("duplicates", len(copies)),
    ):  # fmt: skip
        screen.print(f"  {label:<18} {value:,}")
    if found.per_handler:
        rows = table("at|n", "deliveries|r")
        for handler, number in sorted(found.per_handler.items(), key=lambda one: -one[1]):
            rows.add_row(MOMENTS.get(handler, safe(handler)), f"{number:,}")
        screen.print(rows)
    if copies:
        screen.print(_copies(copies, project))


def _copies(found: list[Duplicate], project: str) -> Table:
    rows = table("window|n", "file", "copies|r", "by")
    for one in found:
        handlers = ", ".join(MOMENTS.get(handler, safe(handler)) for handler in one.handlers)
        rows.add_row(safe(one.window[:13]), short(one.file, project), str(one.copies), handlers)
    return rows


def _row(line: Line, project: str) -> tuple[str, ...]:
    name = str(line.get("event", ""))
    window = str(line.get("window", ""))
    session, _, agent = window.partition(".")
    reason = str(line.get("source", "")).replace(f"{project}/", "").replace(project, "the project")
    chars = f", {int(line['chars']):,} characters" if line.get("chars") else ""
    at = str(line.get("handler", ""))
    place = safe(session[:8]) + ("" if agent == "main" else f".{safe(agent[-6:])}")
    return (
        when(float(line.get("ts", 0))), place, MOMENTS.get(at, safe(at)),
        f"[{_STYLE.get(name, 'dim')}]{DECISIONS.get(name, safe(name))}[/]",
        short(str(line.get("file", "")), project), f"[dim]{safe(reason)}{chars}[/]",
    )  # fmt: skip


def _show(screen: Console, lines: list[Line], project: str) -> None:
    if not lines:
        screen.print("the log has no matching entries")
        return
    rows = table("when|n", "window|n", "at|n-", "decision|n", "file|p+", "reason|+")
    for line in lines:
        rows.add_row(*_row(line, project))
    screen.print(rows)


def _follow(path: str, found: list[Line], chosen: Chosen, args: argparse.Namespace, project: str) -> None:
    screen = console()
    if not args.json:
        _show(screen, found, project)
    position = os.path.getsize(path) if os.path.exists(path) else 0
    try:
        while True:
            new, position = new_lines(path, position)
            for line in new:
                if chosen.includes(line):
                    cells = "  ".join(cell for cell in _row(line, project) if cell)
                    print(json.dumps(line), flush=True) if args.json else screen.print(cells)
            time.sleep(0.2)
    except KeyboardInterrupt:
        return
