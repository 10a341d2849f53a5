"""`engine find-sessions`: sessions by day, topic or state."""

from __future__ import annotations

import argparse
import datetime
import os
import re
from typing import Any

from handbill.cli.clean import one_line
from handbill.cli.project import here, project_option
from handbill.cli.result import Result
from handbill.cli.screen import count, moment_of
from handbill.cli.verbs.session.continue_ import artifacts
from handbill.cli.verbs.session.listing import described, show
from handbill.errors import HandbillError
from handbill.store import sessions

# what to look for -> how many words follow
KINDS = {"today": 0, "yesterday": 0, "recent": 0, "date": 1, "range": 2, "topic": 1, "active": 0, "all": 0}
RECENT = 7  # days


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "kind", choices=KINDS, metavar="|".join(KINDS), help=f"which sessions to find (recent: the last {RECENT} days)"
    )
    parser.add_argument(
        "words",
        nargs="*",
        metavar="WORD",
        help="DAY for date, DAY DAY for range, TEXT for topic; write a DAY as 2026-01-31",
    )
    parser.add_argument("--files", action="store_true", help="list the documents in them, newest first")
    project_option(parser)


def run(args: argparse.Namespace) -> Result:
    if len(args.words) != KINDS[args.kind] and not (args.kind == "topic" and args.words):
        wanted = count(KINDS[args.kind], "word")
        raise HandbillError(f"{args.kind} takes {wanted}, not {len(args.words)}", "see --help")
    root = os.path.join(here(args.project).root, "sessions")
    rows = [row for row in map(_row, sessions.folders(root)) if _matches(row, args.kind, args.words)]
    rows.sort(key=lambda row: (row["day"], row["changed"], row["name"]), reverse=True)
    if args.files:
        return _files(rows)
    return Result(
        {"sessions": rows}, lambda screen: show(screen, rows, "no session matches"), exit_code=0 if rows else 1,
        next_step="engine session status NAME" if rows else "engine session list --all",
    )  # fmt: skip


def _row(folder: str) -> dict[str, Any]:
    row = described(folder)
    row["day"] = day_of(row)
    row["words"] = " ".join((row["name"], row["task"], row["skill"], *_keywords(folder))).lower()
    return row


def _keywords(folder: str) -> list[str]:
    try:
        state = sessions.read(folder) or {}
    except HandbillError:
        return []  # shown as broken
    return [str(state.get("sessionDescription", "")), *map(str, state.get("searchKeywords", ()))]


def day_of(row: dict[str, Any]) -> str:
    """By its name, else by when it began, else by when it was changed; as 2026-01-31."""
    named = re.match(r"(\d{4})[_-](\d{2})[_-](\d{2})(?:[_-]|$)", row["name"])
    if named:
        return "-".join(named.groups())
    try:
        return datetime.date.fromtimestamp(moment_of(row["started"]) or row["changed"]).isoformat()
    except (ValueError, OverflowError, OSError):
        return ""  # a file may claim any time


def _matches(row: dict[str, Any], kind: str, words: list[str]) -> bool:
    today = datetime.date.today()
    if kind == "topic":
        return all(word in row["words"] for word in " ".join(words).lower().split())
    if kind == "active":
        return bool(row["state"] == "active")
    if kind == "all":
        return True
    first, last = {
        "today": (today, today), "yesterday": (today - _DAY, today - _DAY),
        "recent": (today - _DAY * (RECENT - 1), today),
    }.get(kind) or (_day(words[0]), _day(words[-1]))  # fmt: skip
    return bool(first.isoformat() <= row["day"] <= last.isoformat())


_DAY = datetime.timedelta(days=1)


def _day(text: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(text.replace("_", "-"))
    except ValueError:
        raise HandbillError(f"{text!r} is not a date", "write it as 2026-01-31") from None


def _files(rows: list[dict[str, Any]]) -> Result:
    found = [path for row in rows for path in artifacts(row["path"])]
    found.sort(key=os.path.getmtime, reverse=True)
    return Result({"files": found}, text="\n".join(map(one_line, found)) or "no documents", exit_code=0 if found else 1)
