"""`engine find-sessions`: finds sessions by day, topic or state."""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict
from typing import TYPE_CHECKING

from handbill.cli.caller import alive
from handbill.cli.clean import one_line
from handbill.cli.project import here, project_option
from handbill.cli.result import Result
from handbill.cli.screen import count
from handbill.cli.verbs.session.listing import show
from handbill.errors import HandbillError
from handbill.reports.sessions import RECENT, documents, find

if TYPE_CHECKING:
    from handbill.reports.sessions import FoundSession

# Maps each kind of search to the number of words that follow it.
KINDS = {"today": 0, "yesterday": 0, "recent": 0, "date": 1, "range": 2, "topic": 1, "active": 0, "all": 0}


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
    rows = find(os.path.join(here(args.project).root, "sessions"), args.kind, args.words, alive)
    if args.files:
        return _files(rows)
    return Result(
        {"sessions": [asdict(row) for row in rows]}, lambda screen: show(screen, rows, "no session matches"),
        exit_code=0 if rows else 1, next_step="engine session status NAME" if rows else "engine session list --all",
    )  # fmt: skip


def _files(rows: list[FoundSession]) -> Result:
    found = [path for row in rows for path in documents(row.path)]
    found.sort(key=os.path.getmtime, reverse=True)
    return Result({"files": found}, text="\n".join(map(one_line, found)) or "no documents", exit_code=0 if found else 1)
