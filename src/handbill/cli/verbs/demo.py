"""`engine demo`: shows a whole agent session in a sample project live, then adds it up."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

from handbill.cli.result import Result
from handbill.cli.screen import console, count, safe, short, table
from handbill.cli.trust import find_program
from handbill.errors import HandbillError
from handbill.text.tokens import of_length

if TYPE_CHECKING:
    from rich.console import Console

    from handbill.lab.demo_live import Step


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--live", action="store_true", help="use the real Claude Code client, with a scripted model")
    parser.add_argument("--client", metavar="PATH", help="the client for --live (default: claude on the PATH)")
    parser.add_argument("--fast", action="store_true", help="do not pause between the events")
    parser.add_argument("--keep", action="store_true", help="keep the sample project, so that you can look at it")


def run(args: argparse.Namespace) -> Result:
    live = args.live or bool(args.client)
    binary = _client(args.client) if live else ""
    folder = os.path.realpath(tempfile.mkdtemp(prefix="handbill-demo-"))
    screen = None if args.json or args.quiet else console()
    try:
        data = _play_live(binary, folder, screen) if live else _play(folder, screen, fast=args.fast)
    finally:
        if not args.keep:
            shutil.rmtree(folder, ignore_errors=True)
    next_step = f"cd {data['project']} && engine window" if args.keep else "in your own project: engine install"
    return Result(
        data, lambda shown: _show_totals(screen or shown, data), exit_code=0 if data["once"] else 1, next_step=next_step
    )


def _play(folder: str, screen: Console | None, *, fast: bool) -> dict[str, Any]:
    from handbill.lab.demo_session import Demo

    demo = Demo(folder)
    if screen:
        screen.print(f"[bold]A session in {demo.project}[/], hooks as real processes\n", soft_wrap=True)
    for row in demo.events():
        if screen:
            _show_row(screen, row, demo.project)
            time.sleep(0 if fast or not sys.stdout.isatty() else 0.35)
    return demo.data


def _show_row(screen: Console, row: dict[str, Any], project: str) -> None:
    place = "" if row["window"] == "main" else " [magenta](subagent)[/]"
    receipt = f"{row['confirmed']} confirmed" + (f", {row['sent']} sent" if row["sent"] else "")
    screen.print(f"[bold]▸ {row['event']}[/]{place}  [dim]{row['milliseconds']:.0f} ms · {receipt}[/]")
    for one in row["delivered"]:
        part = f" [cyan]part {', '.join(map(str, one['parts']))} of {one['of']}[/]" if one["parts"] != [0] else ""
        reason = one["reason"].replace(project + "/", "").replace(project, "the project")
        screen.print(f"    [green]+ {short(one['file'], project)}[/]{part}  [dim]{reason}[/]")
    if not row["delivered"]:
        screen.print("    [dim]nothing new: everything is already in the window[/]")


def _client(named: str | None) -> str:
    binary = os.path.abspath(named) if named else find_program("claude", os.getcwd())
    if not binary or not os.access(binary, os.X_OK):
        raise HandbillError(
            "no Claude Code client was found", "install it (npm: @anthropic-ai/claude-code) or name it with --client"
        )
    try:
        done = subprocess.run([binary, "--version"], capture_output=True, text=True, timeout=30, check=False, cwd="/")
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HandbillError(f"{binary} does not run: {error}", "name the client with --client") from error
    if "Claude Code" not in done.stdout:
        raise HandbillError(f"{binary} is not a Claude Code client", "name the client with --client")
    return binary


def _play_live(binary: str, folder: str, screen: Console | None) -> dict[str, Any]:
    from handbill.lab.demo_live import LiveDemo

    demo = LiveDemo(binary, folder, lambda step: _show_step(screen, step, demo.project) if screen else None)
    if screen:
        screen.print(f"[bold]{safe(binary)} in {demo.project}[/], a scripted model on {demo.url}", soft_wrap=True)
        screen.print("Each request to the model, with the pages that are new in it (+), and the model's answer.\n")
    return demo.play()


def _show_step(screen: Console, step: Step, project: str) -> None:
    if step.about:
        screen.print(f"[bold yellow]▸ {safe(step.about)}[/]")
        return
    place = " [magenta](subagent)[/]" if step.window == "subagent" else ""
    gone = f" · [yellow]no longer there: {count(step.gone, 'block')}[/]" if step.gone else ""
    screen.print(f"[bold]▸ request {step.number}[/]{place}{gone}")
    for path, _, part, parts in step.new:
        label = f" [cyan]part {part} of {parts}[/]" if parts > 1 else ""
        screen.print(f"    [green]+ {short(path, project)}[/]{label}")
    who = "subagent" if step.window == "subagent" else "agent"
    screen.print(f"    [dim]the {who} {safe(step.answer.replace(project + '/', ''))}[/]")


def _show_totals(screen: Console, data: dict[str, Any]) -> None:
    rows = table("window|n", "file|p", "copies|r", "characters|r-", "tokens|r-", title="The windows at the end")
    for window in data["windows"]:
        for one in window["files"]:
            style = "green" if one["copies"] == 1 else "red"
            rows.add_row(
                "main" if window["window"] == "main" else "subagent", short(one["file"], data["project"]),
                f"[{style}]{one['copies']}[/]", f"{one['characters']:,}", f"~{of_length(one['characters']):,}",
            )  # fmt: skip
    screen.print(rows)
    verdict = "[green]every file exactly once per window[/]" if data["once"] else "[red]a file is in a window twice[/]"
    screen.print(verdict)
    if "median_milliseconds" in data:
        screen.print(
            f"time added per event: {data['median_milliseconds']:.0f} ms median, "
            f"{data['slowest_milliseconds']:.0f} ms slowest, process start included"
        )
