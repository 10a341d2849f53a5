"""`engine uninstall`: removes exactly what install added."""

from __future__ import annotations

import argparse
import os
import shutil
from typing import TYPE_CHECKING, Any

from handbill.cli import git_exclude, settings_file, trust
from handbill.cli.files import require_inside
from handbill.cli.project import find_project, project_option
from handbill.cli.result import Result
from handbill.cli.screen import safe
from handbill.settings import state_roots

if TYPE_CHECKING:
    from rich.console import Console


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--user", action="store_true", help="from ~/.claude/settings.json")
    project_option(parser)
    parser.add_argument("--state", action="store_true", help="also remove this project's ledgers, logs and backups")
    parser.add_argument("--dry-run", action="store_true", help="show what would change, without changing it")
    parser.add_argument("-v", "--verbose", action="store_true", help="also show each line of the settings that changes")


def run(args: argparse.Namespace) -> Result:
    project = find_project(args.project)
    path = settings_file.path_for(project, user=args.user)
    if not args.user:
        require_inside(path, project)
    state = state_roots(project, os.environ)[0]
    change = settings_file.removal(path, state)
    folders = [state] if os.path.isdir(state) else []
    data: dict[str, Any] = {
        "settings": path, "changed": change.needed, "dry_run": args.dry_run, "diff": change.diff(),
        "removed": folders if args.state else [], "kept": [] if args.state else folders,
        "file_removed": change.needed and change.after is None, "exclude": "",
    }  # fmt: skip
    if not args.dry_run:
        if change.needed:
            settings_file.carry_out(change, state, "" if args.user else project)
        data["exclude"] = git_exclude.take_back(trust.installed().get(path, {}).get("excluded", ""), project)
        trust.forget(path)
        for folder in data["removed"]:
            shutil.rmtree(folder)
    return Result(data, lambda screen: _show(screen, data, args.verbose))


def _show(screen: Console, data: dict[str, Any], verbose: bool) -> None:
    if verbose:
        screen.print(data["diff"], markup=False, soft_wrap=True)
    if not data["changed"]:
        screen.print(f"Handbill has no hooks in {safe(data['settings'])}", soft_wrap=True)
    else:
        did, deleted = ("would remove", "delete") if data["dry_run"] else ("removed", "deleted")
        what = f" and {deleted} the file, which contained nothing else" if data["file_removed"] else ""
        screen.print(f"{did} Handbill's hooks from {safe(data['settings'])}{what}", soft_wrap=True)
    if data["exclude"]:
        screen.print(f"removed Handbill's line from {safe(data['exclude'])}", soft_wrap=True)
    for folder in data["kept"]:
        screen.print(f"ledgers, logs and backups stay in {safe(folder)}; --state removes them", soft_wrap=True)
    for folder in data["removed"]:
        screen.print(f"{'would remove' if data['dry_run'] else 'removed'} {safe(folder)}", soft_wrap=True)
