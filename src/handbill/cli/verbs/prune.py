"""`engine prune`: remove ledgers of windows that ended long ago."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from handbill.cli.launcher import remove_unused
from handbill.cli.project import here, project_option
from handbill.cli.result import Result
from handbill.cli.screen import count
from handbill.errors import HandbillError
from handbill.store.prune import DAYS, prune

if TYPE_CHECKING:
    from rich.console import Console


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--days", type=float, default=DAYS, help=f"older than this many days (default {DAYS})")
    project_option(parser)


def run(args: argparse.Namespace) -> Result:
    if args.days < 0:
        raise HandbillError("--days cannot be negative")
    project = here(args.project)
    removed = [name for root in (project.store.root, project.store.spare) if root for name in prune(root, args.days)]
    launchers = remove_unused(args.days)
    windows = [name for name in removed if name.endswith(".jsonl")]

    def show(screen: Console) -> None:
        age = f"{args.days:g} {'day' if args.days == 1 else 'days'}"
        screen.print(f"removed {count(len(windows), 'ledger')} older than {age}")
        if launchers:
            screen.print(f"removed {count(len(launchers), 'launcher')} that no installation uses")

    return Result({"removed": removed, "launchers": launchers}, show)
