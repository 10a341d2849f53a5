"""`engine deliveries`: the log, filtered, followed, or added up."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from handbill.cli.project import here, project_option
from handbill.cli.result import Result
from handbill.cli.screen import console, safe, short, table, when
from handbill.reports.deliveries import AT, DELIVERED, duplicates, summary

if TYPE_CHECKING:
    from rich.console import Console

    from handbill.store.files import FileStore

_STYLE = {**dict.fromkeys(DELIVERED, "bold green"), "confirmed": "green", "lost": "red", "refused": "red"}
# names of the log, and what they mean to people
WORDS = {
    "direct-deliver": "delivered", "claim-deliver": "delivered", "updated": "delivered again", "confirmed": "confirmed",
    "assumed": "assumed", "truncated": "cut by host", "lost": "lost", "queue-pending": "waiting", "refused": "refused",
    "skip-dedup": "already there", "skip-inode": "same file", "skip-content": "same text", "seed": "host loaded",
    "same-rules": "same rules", "resolve-ref": "named by a page",
    "new-window": "new window", "new-epoch": "compacted or rewound",
}  # fmt: skip


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--session", metavar="ID", help="only windows whose id begins with this")
    parser.add_argument("--file", metavar="TEXT", help="only files whose path contains this")
    names = ", ".join(dict.fromkeys(WORDS.values()))
    parser.add_argument(
        "--event", metavar="NAME", action="append", choices=list(dict.fromkeys((*WORDS, *WORDS.values()))),
        help=f"only these decisions: {names} (or the names in the log: {', '.join(WORDS)})",
    )  # fmt: skip
    parser.add_argument("--last", type=_count, default=40, metavar="N", help="how many lines (default 40; 0: all)")
    parser.add_argument("--follow", action="store_true", help="keep printing new lines until Ctrl-C")
    parser.add_argument("--duplicates", action="store_true", help="files delivered more than once into one window")
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
    paths = [f"{root}/.engine/deliveries.jsonl" for root in (project.store.spare, project.store.root) if root]
    paths = [path for path in paths if os.path.exists(path)]
    if args.duplicates or args.summary:
        lines = [line for line in read_log(project.store) if matches(line, args)]
        return (summary if args.summary else duplicates)(lines, project.root)
    found: list[dict[str, Any]] = []
    for path in paths:
        # the end of a long log is enough for the last few lines
        start = max(0, os.path.getsize(path) - (args.last * 4096 + 65536)) if args.last else 0
        found += [line for line in _lines(path, start) if matches(line, args)]
    found.sort(key=lambda line: float(line.get("ts", 0)))
    found = found[-args.last :] if args.last else found
    if args.follow:
        _follow(paths[-1] if paths else f"{project.store.root}/.engine/deliveries.jsonl", found, args, project.root)
    return Result(
        {"deliveries": found},
        lambda screen: _show(screen, found, project.root) if not args.follow else None,
        next_step="" if found or paths else "start the agent; engine doctor shows whether hooks are installed",
    )


def read_log(store: FileStore) -> Iterator[dict[str, Any]]:
    """Every line there is, the oldest first within each place that holds some."""
    for root in (store.spare, store.root):
        for name in ("deliveries.old.jsonl", "deliveries.jsonl"):
            path = f"{root}/.engine/{name}"
            if root and os.path.exists(path):
                yield from _lines(path)


def matches(line: dict[str, Any], args: argparse.Namespace) -> bool:
    return (
        (not args.session or str(line.get("window", "")).startswith(args.session))
        and (not args.file or args.file in str(line.get("file", "")))
        and (not args.event or line.get("event") in args.event or WORDS.get(str(line.get("event"))) in args.event)
    )


def _lines(path: str, start: int = 0) -> Iterator[dict[str, Any]]:
    with open(path, "rb") as file:
        file.seek(start)
        if start:
            file.readline()  # most likely half a line
        yield from (line for line in map(_parsed, file) if line is not None)


def _row(line: dict[str, Any], project: str) -> tuple[str, ...]:
    name = str(line.get("event", ""))
    window = str(line.get("window", ""))
    session, _, agent = window.partition(".")
    reason = str(line.get("source", "")).replace(f"{project}/", "").replace(project, "the project")
    chars = f", {int(line['chars']):,} characters" if line.get("chars") else ""
    at = str(line.get("handler", ""))
    place = safe(session[:8]) + ("" if agent == "main" else f".{safe(agent[-6:])}")
    return (
        when(float(line.get("ts", 0))), place, AT.get(at, safe(at)),
        f"[{_STYLE.get(name, 'dim')}]{WORDS.get(name, safe(name))}[/]",
        short(str(line.get("file", "")), project), f"[dim]{safe(reason)}{chars}[/]",
    )  # fmt: skip


def _show(screen: Console, lines: list[dict[str, Any]], project: str) -> None:
    if not lines:
        screen.print("the log has no matching entries")
        return
    rows = table("when|n", "window|n", "at|n-", "decision|n", "file|p+", "reason|+")
    for line in lines:
        rows.add_row(*_row(line, project))
    screen.print(rows)


def _follow(path: str, found: list[dict[str, Any]], args: argparse.Namespace, project: str) -> None:
    screen = console()
    if not args.json:
        _show(screen, found, project)
    position = os.path.getsize(path) if os.path.exists(path) else 0
    try:
        while True:
            new, position = _new_lines(path, position)
            for line in new:
                if matches(line, args):
                    cells = "  ".join(cell for cell in _row(line, project) if cell)
                    print(json.dumps(line), flush=True) if args.json else screen.print(cells)
            time.sleep(0.2)
    except KeyboardInterrupt:
        return


def _new_lines(path: str, position: int) -> tuple[list[dict[str, Any]], int]:
    """The whole lines behind a position, and the position behind them."""
    if not os.path.exists(path) or os.path.getsize(path) < position:
        return [], 0  # not made yet, or rotated
    with open(path, "rb") as file:
        file.seek(position)
        data = file.read()
    whole = data[: data.rfind(b"\n") + 1]
    return [line for line in map(_parsed, whole.splitlines()) if line is not None], position + len(whole)


def _parsed(raw: bytes) -> dict[str, Any] | None:
    try:
        line = json.loads(raw)
    except ValueError:
        return None  # torn by a full disk; the lines around it are whole
    return line if isinstance(line, dict) else None
