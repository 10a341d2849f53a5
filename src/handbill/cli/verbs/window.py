"""`engine window`: what is in a context window, since when, why, and how that is proven."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from handbill.cli.project import (
    Project,
    choose_window,
    here,
    is_ended_terminal,
    project_option,
    read_window,
    window_file,
)
from handbill.cli.result import Result
from handbill.cli.screen import ago, count, listed, safe, short, styled, table, tokens, when
from handbill.cli.verbs.audit import audit, audit_all
from handbill.errors import CorruptState, HandbillError
from handbill.event import MAIN, Event
from handbill.flow.findings import proof_in
from handbill.handlers.load_gate import compliance
from handbill.hosts import claude_code
from handbill.hosts.claude_code.transcript import version_in
from handbill.ledger.epochs import precedes_compaction
from handbill.ledger.receipts import settle
from handbill.ledger.window import state_of
from handbill.world import World

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from handbill.ledger.content import Content
    from handbill.ledger.window import Window
    from handbill.store.api import Key

_NEWEST_ROWS = 64 << 10  # bytes


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", help="session id or its beginning (default: yours, or the newest)")
    parser.add_argument("--agent", metavar="ID", help="a subagent's window instead of the main one")
    parser.add_argument(
        "--all",
        action="store_true",
        help="list every known window of this project; with --audit, compare all but ended second terminals",
    )
    parser.add_argument(
        "--audit", action="store_true", help="compare with the client's own record; the next event repairs differences"
    )
    project_option(parser)


def run(args: argparse.Namespace) -> Result:
    project = here(args.project)
    if args.all:
        return audit_all(_each_window(project), project) if args.audit else _list(project)
    key = choose_window(project, args.session, args.agent)
    window = read_window(project, key)
    window = with_newest_receipts(window, project)
    if args.audit:
        return audit(window, content_of(window, project)[0], key, project)
    data = {**described(window, project.root), "session": key[0]}
    others = [agent for session, agent in project.store.known() if session == key[0] and agent != MAIN]
    data["subagents"] = others if key[1] == MAIN else []
    data["context"] = [{"file": path, "state": how or "not read"} for path, how in compliance(window)]
    return Result(data, lambda screen: _show(screen, data), next_step="engine why FILE: why it was delivered or not")


def content_of(window: Window, project: Project) -> tuple[Content | None, Event, World]:
    """What the transcript shows of this window by now."""
    agent = "" if window.agent == MAIN else window.agent
    world = project.world()
    version = version_in(world.tail(window.transcript, -_NEWEST_ROWS) or b"") or claude_code.NEWEST
    event = Event("stopping", window.session, agent_id=agent, transcript=window.transcript, version=version)
    return (claude_code.window_now(event, world, window=window) if window.transcript else None), event, world


def _each_window(project: Project) -> Iterator[tuple[Key, Window, Content | None]]:
    for key in project.store.known():
        try:
            window = project.store.read(key)
        except (CorruptState, HandbillError):
            continue  # `engine window --all` and `engine doctor` show it
        if window is not None and window.started and not is_ended_terminal(key, window):
            window = with_newest_receipts(window, project)
            yield key, window, content_of(window, project)[0]


def with_newest_receipts(window: Window, project: Project) -> Window:
    """What the transcript proves by now, for showing; the next hook will write it down."""
    if not window.claims or not window.transcript:
        return window
    content, event, world = content_of(window, project)
    if content is not None and precedes_compaction(window, content.boundary):
        return window  # what was there before the compaction proves nothing
    proof = proof_in(content, window, world.now(), records=claude_code.records_injections(event))
    return settle(window, proof, event, world.now())[0]


def described(window: Window, project: str) -> dict[str, Any]:
    files = [
        {
            "file": path, "parts": len(record["parts"]), "delivered": len(record["parts"]) - record["parts"].count("."),
            "chars": record["chars"], "tokens": tokens(record["chars"]), "reason": record["reason"],
            "at": record["at"], "via": record["via"], "state": state_of(record), "lost": record.get("lost", 0),
        }
        for path, record in window.files.items()
    ]  # fmt: skip
    files += [
        {
            "file": path, "parts": 0, "delivered": 0, "chars": 0, "tokens": 0, "reason": reason, "at": 0.0,
            "via": "", "state": "pending", "lost": 0,
        }
        for path, reason in window.pending.items() if path not in window.files
    ]  # fmt: skip
    return {
        "session": window.session, "agent": window.agent, "epoch": window.epoch, "created": window.created,
        "project": project, "lifecycle": window.lifecycle, "work": window.work, "directories": len(window.touched),
        "files": files, "unsettled": sorted(window.from_last_epoch),
    }  # fmt: skip


def _show(screen: Console, data: dict[str, Any]) -> None:
    name = data["session"] if data["agent"] == "main" else f"{data['session']} · subagent {data['agent']}"
    screen.print(f"[bold]{safe(name)}[/]")
    compactions = (
        f"{count(data['epoch'], 'compaction or rewind', 'compactions and rewinds')}, " if data["epoch"] else ""
    )
    directories = f"{data['directories']} {'directory' if data['directories'] == 1 else 'directories'}"
    screen.print(f"[dim]since {when(data['created'])}, {compactions}{directories} looked at[/]")
    if data["work"].get("skill"):
        session = f" in {short(data['work']['session'], data['project'])}" if data["work"].get("session") else ""
        phase = safe(data["work"].get("phase") or "–")
        screen.print(f"[dim]active skill:[/] {safe(data['work']['skill'])}, phase {phase}{session}")
    if data["context"]:
        there = sum(one["state"] in ("in the window", "read") for one in data["context"])
        files = count(len(data["context"]), "file")
        screen.print(f"[dim]context:[/] {there} of {files} in the window or read (engine gate status)")
    rows = table("file|p", "part|r-", "tokens|r-", "reason|-", "when|n", "state|n")
    for one in data["files"]:
        part = f"{one['delivered']}/{one['parts']}" if one["parts"] > 1 else ""
        lost = f" (lost {one['lost']}×)" if one["lost"] else ""
        rows.add_row(
            short(one["file"], data["project"]), part, f"~{max(one['tokens'], 1):,}" if one["chars"] else "",
            safe(_reason(one["reason"])), when(one["at"]), styled(one["state"]) + lost,
        )  # fmt: skip
    if data["files"]:
        screen.print(rows)
    waiting = sum(one["state"] == "pending" for one in data["files"])
    total = sum(one["tokens"] for one in data["files"])
    also = f"; {count(waiting, 'file')} pending" if waiting else ""
    screen.print(f"{count(len(data['files']) - waiting, 'file')}, about {total:,} tokens (estimate){also}")
    if data["unsettled"]:
        names = listed([short(path, data["project"]) for path in data["unsettled"]])
        doubtful = count(len(data["unsettled"]), "file")
        screen.print(f"after the compaction, {doubtful} may still be there; the next event will show: {names}")
    for agent in data["subagents"]:
        screen.print(f"[dim]also:[/] subagent {safe(agent)}: engine window --agent {safe(agent)}")


def _reason(reason: str) -> str:
    """`directive of DIR` in short: the file's path says which directory."""
    return "directive" if reason.startswith("directive of ") else reason


def _list(project: Project) -> Result:
    windows = []
    for key in project.store.known():
        path = window_file(project.store, key)
        try:
            window = project.store.read(key)
        except (CorruptState, HandbillError) as error:
            windows.append(
                {
                    "session": key[0],
                    "agent": key[1],
                    "files": 0,
                    "epoch": 0,
                    "at": 0.0,
                    "problem": str(error),
                    "ended": False,
                }
            )
            continue
        if window is not None and path:
            windows.append({
                "session": key[0], "agent": key[1], "files": len(window.files), "epoch": window.epoch,
                "at": os.path.getmtime(path), "problem": "", "ended": is_ended_terminal(key, window),
            })  # fmt: skip
    windows.sort(key=lambda one: -float(str(one["at"])))

    def show(screen: Console) -> None:
        rows = table("session|n", "agent", "files|r-", "epoch|r-", "last written|n-", "|+")
        for one in windows:
            moment = float(str(one["at"]))
            rows.add_row(
                safe(str(one["session"])), safe(str(one["agent"])), str(one["files"]), str(one["epoch"]),
                ago(moment) if moment else "",
                f"[red]{safe(str(one['problem']))}[/]" if one["problem"] else "[dim]ended[/]" if one["ended"] else "",
            )  # fmt: skip
        screen.print(rows if windows else "Handbill has not seen an agent in this project yet")

    return Result({"windows": windows}, show, next_step="engine window SESSION" if windows else "engine doctor")
