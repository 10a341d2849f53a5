"""`engine uninstall`: remove exactly what install added."""

from __future__ import annotations

import argparse
import os
import shutil
from typing import TYPE_CHECKING, Any

from handbill.cli import settings_file, trust
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
    parser.add_argument("--reformat", action="store_true", help="allow the settings file to be reformatted")


def run(args: argparse.Namespace) -> Result:
    project = find_project(args.project)
    path = settings_file.path_for(project, user=args.user)
    if not args.user:
        require_inside(path, project)
    state = state_roots(project, os.environ)[0]
    backup = settings_file.backup_of(path, state)
    original = settings_file.read(backup)
    change = settings_file.planned(path, None, reformat=args.reformat, original=original)
    # `{}` that only we ever filled is no file of the user's
    ours_alone = change.needed and change.after.strip() == "{}"
    folders = [state] if os.path.isdir(state) else []
    data: dict[str, Any] = {
        "settings": path, "changed": change.needed, "dry_run": args.dry_run, "diff": change.diff(),
        "removed": folders if args.state else [], "kept": [] if args.state else folders, "file_removed": ours_alone,
    }  # fmt: skip
    if not args.dry_run:
        if change.needed:
            settings_file.carry_out(change, state, "" if args.user else project)
            trust.forget(path)
            if ours_alone:
                os.unlink(path)
                if not os.listdir(os.path.dirname(path)):
                    os.rmdir(os.path.dirname(path))
        for folder in data["removed"]:
            shutil.rmtree(folder)
    return Result(data, lambda screen: _show(screen, data))


def _show(screen: Console, data: dict[str, Any]) -> None:
    if not data["changed"]:
        screen.print(f"Handbill has no hooks in {safe(data['settings'])}", soft_wrap=True)
    elif data["dry_run"]:
        screen.print(data["diff"], markup=False, soft_wrap=True)
    else:
        what = "and deleted the file, which contained nothing else" if data["file_removed"] else ""
        screen.print(f"removed Handbill's hooks from {safe(data['settings'])} {what}", soft_wrap=True)
    for folder in data["kept"]:
        screen.print(f"ledgers, logs and backups stay in {safe(folder)}; --state removes them", soft_wrap=True)
    for folder in data["removed"]:
        screen.print(f"{'would remove' if data['dry_run'] else 'removed'} {safe(folder)}", soft_wrap=True)
