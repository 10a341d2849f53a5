"""`engine discover-directives DIR`: which directives apply to a directory, nearest first."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from handbill.cli.place import here, project_around, project_option
from handbill.cli.result import Result
from handbill.cli.screen import safe, short, table
from handbill.core.sheet import Refusal
from handbill.errors import HandbillError
from handbill.handlers.directives import present, walk_up
from handbill.handlers.roots import root_of
from handbill.world import World

if TYPE_CHECKING:
    from rich.console import Console


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", nargs="?", default=".", help="a directory or a file in it (default: here)")
    parser.add_argument("--core", action="store_true", help="only those that are always delivered")
    project_option(parser)


def run(args: argparse.Namespace) -> Result:
    target = os.path.abspath(args.directory)
    directory = target if os.path.isdir(target) else os.path.dirname(target)
    if not os.path.exists(target):
        raise HandbillError(f"there is no {args.directory}", "name a folder, or a file in it")
    place = here(args.project or project_around(directory))
    world = World(place.config.roots)
    root = root_of(directory, world, place.config)
    found: list[dict[str, Any]] = []
    for level in walk_up(directory, root) if root else ():
        for path, name in present(level, world, place.config)[0]:
            core = name in place.config.core_types
            if args.core and not core:
                continue
            sheet = world.load(path)
            found.append({
                "file": path, "type": name,
                "delivered": "refused" if isinstance(sheet, Refusal) else "always" if core else "skill-filtered",
                "chars": 0 if isinstance(sheet, Refusal) else len(sheet.text),
                "problem": sheet.why if isinstance(sheet, Refusal) else "",
            })  # fmt: skip
    data = {"directory": directory, "root": root, "directives": found}

    def show(screen: Console) -> None:
        if not root:
            screen.print(f"{short(directory, place.project)}: outside the project, or below an excluded folder")
            return
        rows = table("directive", "delivered", "chars|r", "")
        for one in found:
            rows.add_row(
                short(one["file"], place.project), one["delivered"], f"{one['chars']:,}",
                f"[red]{safe(one['problem'])}[/]" if one["problem"] else "",
            )  # fmt: skip
        screen.print(rows if found else f"no directives from {safe(directory)} up to {safe(root)}")
        if any(one["delivered"] == "skill-filtered" for one in found):
            screen.print("[dim]skill-filtered: delivered when a skill asks for it, or `directives.always` names it[/]")

    return Result(data, show, exit_code=0 if found else 1)
