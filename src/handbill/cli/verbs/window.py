"""`engine window`: shows the files in a context window, since when, why, and their proof."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from handbill.cli.project import choose_window, here, project_option, read_window
from handbill.cli.result import Result
from handbill.cli.screen import ago, count, listed, safe, short, styled, table, when
from handbill.cli.verbs.audit import audit, audit_all
from handbill.event import MAIN
from handbill.project import session_of
from handbill.reports.cost import session_cost, window_cost
from handbill.reports.receipts import content_of, with_newest_receipts
from handbill.reports.store_files import delivery_log
from handbill.reports.window import PENDING, context_of, described
from handbill.reports.windows import every_window
from handbill.world.processes import is_running

if TYPE_CHECKING:
    from rich.console import Console

    from handbill.ledger.window import Window
    from handbill.project import Project
    from handbill.reports.window import FileState, WindowReport
    from handbill.reports.windows import WindowRow
    from handbill.store.api import Key


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", help="session id or its beginning (default: yours, or the newest)")
    parser.add_argument("--agent", metavar="ID", help="a subagent's window instead of the main one")
    parser.add_argument(
        "--all",
        action="store_true",
        help="list all known windows of this project; with --audit, compare all except ended second terminals",
    )
    parser.add_argument(
        "--audit", action="store_true", help="compare with the client's own record; the next event repairs differences"
    )
    project_option(parser)


def run(args: argparse.Namespace) -> Result:
    project = here(args.project)
    if args.all:
        return audit_all(project, is_running) if args.audit else _list(every_window(project.store, is_running))
    key = choose_window(project, args.session, args.agent)
    window = with_newest_receipts(read_window(project, key), project.world())
    if args.audit:
        return audit(window, content_of(window, project.world()), key, project)
    report, context = described(window, project.root), context_of(window)
    others = [agent for session, agent in project.store.known() if session == key[0] and agent != MAIN]
    subagents = others if key[1] == MAIN else []
    data = {
        **asdict(report), "session": key[0], "subagents": subagents, "context": [asdict(one) for one in context],
    }  # fmt: skip
    if args.json:
        data["cost"] = _cost(window, key, project)
    return Result(
        data, lambda screen: _show(screen, key[0], report, context, subagents),
        next_step="engine why FILE: why it was delivered or not",
    )  # fmt: skip


def _cost(window: Window, key: Key, project: Project) -> dict[str, Any]:
    """Return the cost of the window, and of its session so far.

    Only JSON output needs it, because it requires reading the whole delivery log.
    """
    session = session_cost(delivery_log(project.store), session_of(key))
    return {"window": asdict(window_cost(window)), "session": asdict(session)}


def _show(screen: Console, session: str, report: WindowReport, context: list[FileState], subagents: list[str]) -> None:
    name = session if report.agent == MAIN else f"{session} · subagent {report.agent}"
    screen.print(f"[bold]{safe(name)}[/]")
    compactions = f"{count(report.epoch, 'compaction or rewind', 'compactions and rewinds')}, " if report.epoch else ""
    directories = f"{report.directories} {'directory' if report.directories == 1 else 'directories'}"
    screen.print(f"[dim]since {when(report.created)}, {compactions}{directories} looked at[/]")
    if report.work.get("skill"):
        within = f" in {short(report.work['session'], report.project)}" if report.work.get("session") else ""
        phase = safe(report.work.get("phase") or "–")
        screen.print(f"[dim]active skill:[/] {safe(report.work['skill'])}, phase {phase}{within}")
    if context:
        there = sum(one.state in ("in the window", "read") for one in context)
        files = count(len(context), "file")
        screen.print(f"[dim]context:[/] {there} of {files} in the window or read (engine gate status)")
    _show_files(screen, report)
    if report.unsettled:
        names = listed([short(path, report.project) for path in report.unsettled])
        doubtful = count(len(report.unsettled), "file")
        screen.print(f"after the compaction, {doubtful} may still be there; the next event will show: {names}")
    for agent in subagents:
        screen.print(f"[dim]also:[/] subagent {safe(agent)}: engine window --agent {safe(agent)}")


def _show_files(screen: Console, report: WindowReport) -> None:
    rows = table("file|p", "part|r-", "tokens|r-", "reason|-", "when|n", "state|n")
    for one in report.files:
        part = f"{one.delivered}/{one.parts}" if one.parts > 1 else ""
        lost = f" (lost {one.lost}×)" if one.lost else ""
        rows.add_row(
            short(one.file, report.project), part, f"~{max(one.tokens, 1):,}" if one.chars else "",
            safe(_reason(one.reason)), when(one.at), styled(one.state) + lost,
        )  # fmt: skip
    if report.files:
        screen.print(rows)
    waiting = sum(one.state == PENDING for one in report.files)
    total = sum(one.tokens for one in report.files)
    also = f"; {count(waiting, 'file')} pending" if waiting else ""
    screen.print(f"{count(len(report.files) - waiting, 'file')}, about {total:,} tokens (estimate){also}")


def _reason(reason: str) -> str:
    """Shorten `directive of DIR`, because the file's path already names the directory."""
    return "directive" if reason.startswith("directive of ") else reason


def _list(windows: list[WindowRow]) -> Result:
    data = {"windows": [asdict(one) for one in windows]}
    next_step = "engine window SESSION" if windows else "engine doctor"
    return Result(data, lambda screen: _show_list(screen, windows), next_step=next_step)


def _show_list(screen: Console, windows: list[WindowRow]) -> None:
    rows = table("session|n", "agent", "files|r-", "epoch|r-", "last written|n-", "|+")
    for one in windows:
        rows.add_row(
            safe(one.session), safe(one.agent), str(one.files), str(one.epoch), ago(one.at) if one.at else "",
            f"[red]{safe(one.problem)}[/]" if one.problem else "[dim]ended[/]" if one.ended else "",
        )  # fmt: skip
    screen.print(rows if windows else "Handbill has not seen an agent in this project yet")
