"""`engine prune`: removes the ledgers of windows that ended long ago."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from handbill.cli.launcher import remove_unused
from handbill.cli.project import here, project_option
from handbill.cli.result import Result
from handbill.cli.screen import count, safe
from handbill.errors import HandbillError
from handbill.store.prune import DAYS, prune

if TYPE_CHECKING:
    from rich.console import Console


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--days", metavar="DAYS", type=float, default=DAYS, help=f"older than this many days (default {DAYS})"
    )
    parser.add_argument("--dry-run", action="store_true", help="list what would be removed, without removing it")
    project_option(parser)


def run(args: argparse.Namespace) -> Result:
    if not args.days >= 0:  # this also rejects NaN
        raise HandbillError("--days cannot be negative", "name a number of days, such as --days 30")
    project = here(args.project)
    roots = [root for root in (project.store.root, project.store.spare) if root]
    removed = [name for root in roots for name in prune(root, args.days, dry_run=args.dry_run)]
    launchers = remove_unused(args.days, dry_run=args.dry_run)
    data: dict[str, Any] = {
        "removed": removed, "launchers": launchers, "dry_run": args.dry_run, "days": args.days,
    }  # fmt: skip
    next_step = "run without --dry-run to remove them" if args.dry_run and (removed or launchers) else ""
    return Result(data, lambda screen: _show(screen, data), next_step=next_step, is_answer=args.dry_run)


def _show(screen: Console, data: dict[str, Any]) -> None:
    ledgers = [name.removesuffix(".jsonl") for name in data["removed"] if name.endswith(".jsonl")]
    others = len(data["removed"]) - len(ledgers)
    age = f"{data['days']:g} {'day' if data['days'] == 1 else 'days'}"
    did = "would remove" if data["dry_run"] else "removed"
    if data["removed"]:
        also = f" and {count(others, 'file')} that belong to such windows" if others else ""
        screen.print(f"{did} {count(len(ledgers), 'ledger')}{also}, older than {age}")
    else:
        screen.print(f"there is nothing older than {age} to remove")
    if data["launchers"]:
        screen.print(f"{did} {count(len(data['launchers']), 'launcher')} that no installation uses")
    if data["dry_run"]:
        for name in ledgers:
            screen.print(f"  {safe(name)}")
