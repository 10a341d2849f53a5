"""`engine discover-directives DIR`: the directives that apply to a directory, nearest first."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from handbill.cli.project import here, marked_project, project_option
from handbill.cli.result import Result
from handbill.cli.screen import safe, short, table
from handbill.errors import HandbillError
from handbill.library.directive_levels import present
from handbill.library.directive_search import root_of, walk_up
from handbill.paths import under
from handbill.text.document import Refusal

if TYPE_CHECKING:
    from rich.console import Console


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", nargs="?", default=".", help="a directory or a file in it (default: here)")
    parser.add_argument("--core", action="store_true", help="only types that are always delivered")
    parser.add_argument(
        "--type", action="append", metavar="NAME", help="only this type, e.g. PITFALLS.md; may be repeated"
    )
    parser.add_argument("--root", metavar="DIR", help="do not look above this directory")
    parser.add_argument("--walk-up", action="store_true", help="also look in the directories above (always done)")
    project_option(parser)


def run(args: argparse.Namespace) -> Result:
    target = os.path.abspath(args.directory)
    directory = target if os.path.isdir(target) else os.path.dirname(target)
    if not os.path.exists(target):
        raise HandbillError(f"there is no {args.directory}", "name a folder, or a file in it")
    folder = args.project or marked_project(directory)
    if not folder:
        raise HandbillError(
            f"{directory} is not in a project", "rules apply only inside a project: name a folder in one"
        )
    project = here(folder)
    world = project.world()
    root = root_of(directory, world, project.settings)
    if not root:
        raise HandbillError(
            f"{directory} is outside of {project.root}, or below an excluded folder",
            "rules apply only inside a project; use --project DIR to choose another one",
        )
    if args.root:
        limit = os.path.abspath(args.root)
        if not under(directory, limit):
            raise HandbillError(f"{limit} is not above {directory}", "--root names a directory above it")
        root = limit if under(limit, root) else root
    found: list[dict[str, Any]] = []
    for level in walk_up(directory, root):
        for path, name in present(level, world, project.settings)[0]:
            core = name in project.settings.core_types
            if (args.core and not core) or (args.type and name not in args.type):
                continue
            document = world.load(path)
            found.append({
                "file": path, "type": name,
                "delivered": "refused" if isinstance(document, Refusal) else "always" if core else "skill-filtered",
                "chars": 0 if isinstance(document, Refusal) else len(document.text),
                "problem": document.why if isinstance(document, Refusal) else "",
            })  # fmt: skip
    data = {"directory": directory, "root": root, "directives": found}

    def show(screen: Console) -> None:
        rows = table("directive|p", "delivered|n", "chars|r-", "|+")
        for one in found:
            rows.add_row(
                short(one["file"], project.root), one["delivered"], f"{one['chars']:,}",
                f"[red]{safe(one['problem'])}[/]" if one["problem"] else "",
            )  # fmt: skip
        screen.print(rows if found else f"no directives from {safe(directory)} up to {safe(root)}")
        if any(one["delivered"] == "skill-filtered" for one in found):
            screen.print("[dim]skill-filtered: delivered when a skill requests it, or `directives.always` names it[/]")

    return Result(data, show, exit_code=0 if found else 1)
