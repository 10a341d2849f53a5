"""`engine deliveries`: the log, filtered, followed, or searched for duplicates."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from handbill.cli.place import here, project_option
from handbill.cli.result import Result
from handbill.cli.screen import console, safe, short, table, when

if TYPE_CHECKING:
    from rich.console import Console

    from handbill.store.files import FileStore

DELIVERED = ("direct-deliver", "claim-deliver", "updated")
_STYLE = {**dict.fromkeys(DELIVERED, "bold green"), "confirmed": "green", "lost": "red", "refused": "red"}
# names of the log, and what they mean to people
WORDS = {
    "direct-deliver": "delivered", "claim-deliver": "delivered", "updated": "delivered anew", "confirmed": "confirmed",
    "assumed": "assumed", "truncated": "cut by host", "lost": "lost", "queue-pending": "waiting", "refused": "refused",
    "skip-dedup": "already there", "skip-inode": "same file", "skip-content": "same text", "seed": "host loaded",
    "same-rules": "same rules", "resolve-ref": "named by a page",
    "new-window": "new window", "new-epoch": "compacted",
}  # fmt: skip


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--session", metavar="ID", help="only windows whose id begins like this")
    parser.add_argument("--file", metavar="TEXT", help="only files whose path contains this")
    names = ", ".join(dict.fromkeys(WORDS.values()))
    parser.add_argument(
        "--event", metavar="NAME", action="append", choices=(*WORDS, *WORDS.values()),
        help=f"only these decisions: {names} (or the names in the log: {', '.join(WORDS)})",
    )  # fmt: skip
    parser.add_argument("--last", type=_count, default=40, metavar="N", help="how many lines (default 40; 0: all)")
    parser.add_argument("--follow", action="store_true", help="go on as new lines come, until ^C")
    parser.add_argument("--duplicates", action="store_true", help="files delivered more than once into one window")
    project_option(parser)


def _count(text: str) -> int:
    number = int(text) if text.isdecimal() else -1
    if number < 0:
        raise argparse.ArgumentTypeError(f"must be a number, not {text!r}")
    return number


def run(args: argparse.Namespace) -> Result:
    place = here(args.project)
    paths = [f"{root}/.engine/deliveries.jsonl" for root in (place.store.spare, place.store.root) if root]
    paths = [path for path in paths if os.path.exists(path)]
    if args.duplicates:
        return _duplicates([line for path in paths for line in _lines(path) if matches(line, args)], place.project)
    found: list[dict[str, Any]] = []
    for path in paths:
        # the end of a long log is enough for the last few lines
        start = max(0, os.path.getsize(path) - (args.last * 4096 + 65536)) if args.last else 0
        found += [line for line in _lines(path, start) if matches(line, args)]
    found.sort(key=lambda line: float(line.get("ts", 0)))
    found = found[-args.last :] if args.last else found
    if args.follow:
        _follow(paths[-1] if paths else f"{place.store.root}/.engine/deliveries.jsonl", found, args, place.project)
    return Result(
        {"deliveries": found},
        lambda screen: _show(screen, found, place.project) if not args.follow else None,
        next_step="" if found or paths else "start the agent; engine doctor tells if hooks are installed",
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


_AT = {
    "session_started": "start", "prompt_submitted": "prompt", "tool_batch_finished": "tools",
    "subagent_started": "agent", "skill_expanded": "skill", "tool_called": "held", "session_ended": "end",
    "instructions_loaded": "host",
}  # fmt: skip


def _row(line: dict[str, Any], project: str) -> tuple[str, ...]:
    name = str(line.get("event", ""))
    window = str(line.get("window", ""))
    session, _, agent = window.partition(".")
    reason = str(line.get("source", "")).replace(f"{project}/", "").replace(project, "the project")
    chars = f", {int(line['chars']):,} characters" if line.get("chars") else ""
    at = str(line.get("handler", ""))
    place = safe(session[:8]) + ("" if agent == "main" else f".{safe(agent[-6:])}")
    return (
        when(float(line.get("ts", 0))), place, _AT.get(at, safe(at)),
        f"[{_STYLE.get(name, 'dim')}]{WORDS.get(name, safe(name))}[/]",
        f"{short(str(line.get('file', '')), project)}  [dim]· {safe(reason)}{chars}[/]",
    )  # fmt: skip


def _show(screen: Console, lines: list[dict[str, Any]], project: str) -> None:
    if not lines:
        screen.print("nothing of that is in the log")
        return
    rows = table("when|n", "window|n", "at|n", "decision|n", "file and reason")
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


def duplicates_of(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Files with more deliveries into one window than the log explains.

    A copy that was lost, or an epoch that was compacted away, makes room for the next one.
    """
    count: dict[tuple[str, str, str], int] = {}
    where: dict[tuple[str, str, str], list[str]] = {}
    for line in lines:
        part = str(line.get("source", "")).rpartition(" (part ")[2] if " (part " in str(line.get("source", "")) else ""
        key = (str(line.get("window")), str(line.get("file")), part)
        if line.get("event") == "updated":  # in the place of the one before
            count[key] = 1
            where.setdefault(key, []).append(str(line.get("handler")))
        elif line.get("event") in DELIVERED:
            count[key] = count.get(key, 0) + 1
            where.setdefault(key, []).append(str(line.get("handler")))
        elif line.get("event") == "lost":
            for other in count:
                if other[:2] == key[:2]:
                    count[other] = max(0, count[other] - 1)
        elif line.get("event") in ("new-epoch", "new-window"):
            for other in count:
                if other[0] == key[0]:
                    count[other] = 0
    return [
        {"window": key[0], "file": key[1], "part": key[2], "copies": copies, "handlers": where[key]}
        for key, copies in count.items() if copies > 1
    ]  # fmt: skip


def _duplicates(lines: list[dict[str, Any]], project: str) -> Result:
    found = duplicates_of(lines)
    delivered = sum(1 for line in lines if line.get("event") in DELIVERED)

    def show(screen: Console) -> None:
        if not found:
            screen.print(f"[green]no duplicates[/] among {delivered:,} deliveries")
            return
        rows = table("window|n", "file", "copies|r", "by")
        for one in found:
            rows.add_row(
                one["window"][:13], short(one["file"], project), str(one["copies"]), ", ".join(one["handlers"])
            )
        screen.print(rows)

    return Result({"duplicates": found, "deliveries": delivered}, show, exit_code=1 if found else 0)
