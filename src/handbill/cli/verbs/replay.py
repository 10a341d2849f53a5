"""`engine replay FILE`: plays a recorded stream through the hooks' code.

It prints the deliveries or compares them with the recorded ones. `lab/stream.py` describes the
file.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from typing import TYPE_CHECKING, Any

from handbill.cli.files import read_text
from handbill.cli.project import find_project
from handbill.cli.result import Result
from handbill.cli.screen import count, safe, short, table
from handbill.errors import HandbillError
from handbill.lab.stream import Played, Stream, play

if TYPE_CHECKING:
    from rich.console import Console

_MOST = 64 << 20


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="the recorded stream (JSON lines)")
    parser.add_argument("--project", metavar="DIR", help="the project (default: the recording's files, or this one)")
    parser.add_argument("--update", action="store_true", help="store the deliveries as the expected ones")


def run(args: argparse.Namespace) -> Result:
    stream = _read(args.file)
    folder = os.path.realpath(tempfile.mkdtemp(prefix="handbill-replay-"))
    try:
        if args.project:
            stream.head.pop("files", None)
        root = os.path.join(folder, "project") if stream.has_files else find_project(args.project)
        rows = play(stream, folder, root)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if args.update:
        _write(args.file, rows)
    wrong = [row for row in rows if row.differs]
    data: dict[str, Any] = {"events": [vars(row) for row in rows], "differences": len(wrong)}
    failed = bool(wrong) and not args.update
    return Result(data, lambda screen: _show(screen, rows, failed), exit_code=1 if failed else 0)


def _read(path: str) -> Stream:
    try:
        return Stream(read_text(path, _MOST), path)
    except OSError as error:
        raise HandbillError(
            f"{path}: {error.strerror}", "name a file of JSON lines; engine record writes one"
        ) from error


def _write(path: str, rows: list[Played]) -> None:
    if os.path.islink(path):
        raise HandbillError(f"{path} is a link", "name the recording itself")
    stream = _read(path)
    events = iter(rows)
    for line in stream.lines:
        if "rewind" not in line and "notice" not in line:
            event = dict(line.get("in", line))
            line.clear()
            line.update({"in": event, "out": next(events).delivered})
    with open(path, "w", encoding="utf-8") as file:
        file.write(stream.text())


def _show(screen: Console, rows: list[Played], failed: bool) -> None:
    shown = table("#|r", "event", "window|n-", "delivered|p+", "expected|p+")
    for number, row in enumerate(rows, 1):
        wrong = row.differs and failed
        delivered = "\n".join(short(name) for name in row.delivered) or "[dim]–[/]"
        expected = "\n".join(safe(str(one)) for one in row.expected or ["–"]) if wrong else ""
        name = safe(f"{row.event} {row.about}".strip())
        shown.add_row(str(number), name, safe(row.window), f"[red]{delivered}[/]" if wrong else delivered, expected)
    screen.print(shown)
    compared = sum(row.expected is not None for row in rows)
    if failed:
        screen.print("[red]some deliveries differ from the expected ones[/]; if the new ones are right, use --update")
    elif compared:
        screen.print(f"[green]{count(compared, 'event')} as expected[/]")
