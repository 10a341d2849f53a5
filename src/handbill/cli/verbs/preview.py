"""`engine preview`: what would be delivered now, and why.

It runs the real pipeline on a copy of the window.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict
from typing import TYPE_CHECKING

from handbill.cli.checks.wiring import registrations
from handbill.cli.project import choose_window, here, project_option
from handbill.cli.result import Result
from handbill.cli.screen import count, safe, short, table
from handbill.errors import HandbillError
from handbill.reports.preview import LATER, NO_WINDOW, NOW, Occasion, preview
from handbill.text.tokens import of_length

if TYPE_CHECKING:
    from rich.console import Console

    from handbill.cli.parser import VerbParser
    from handbill.ledger.window import Window
    from handbill.project import Project
    from handbill.reports.preview import Preview
    from handbill.store.api import Key


def configure(parser: VerbParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="FILE", help="as if the agent read these now")
    parser.only_one_of("--write", "--skill", "--phase", "--start")
    parser.add_argument("--write", metavar="FILE", help="as if it wrote this new file")
    parser.add_argument("--skill", metavar="NAME", help="as if that skill began")
    parser.add_argument("--phase", metavar="LABEL", help="as if the session moved to this phase")
    parser.add_argument("--start", action="store_true", help="as if a new window began")
    parser.add_argument("--session", metavar="ID", help="whose window (default: yours, or the newest)")
    parser.add_argument("--agent", metavar="ID", help="a subagent's window instead of the main one")
    project_option(parser)


def run(args: argparse.Namespace) -> Result:
    project = here(args.project)
    for path in args.paths:
        if not os.path.exists(path):
            raise HandbillError(f"there is no {path}", "name files that the agent could read")
    occasion = Occasion(args.paths, args.write or "", args.skill or "", args.phase or "", args.start)
    # In the agent's own shell, this variable contains the client's version.
    found = preview(project, *_window(project, args), occasion, os.environ.get("AI_AGENT", ""))
    warnings = [] if registrations(project) else ["no hooks are registered for this project: engine install"]
    next_step = "engine window: what is there now"
    return Result(
        asdict(found), lambda screen: _show(screen, found, project.root), next_step=next_step, warnings=warnings
    )


def _window(project: Project, args: argparse.Namespace) -> tuple[Key, Window | None]:
    """Return the chosen window. If none is known or named, return one that has just begun."""
    try:
        key = choose_window(project, args.session, args.agent)
        return key, project.store.read(key)
    except HandbillError:
        if args.session or args.agent:
            raise
        return NO_WINDOW, None


_STYLE = {NOW: "bold green", LATER: "yellow", "refused": "red"}


def _show(screen: Console, found: Preview, project: str) -> None:
    screen.print(f"[dim]window {safe(found.window)}; a preview delivers and changes nothing[/]")
    if not found.files:
        screen.print("nothing would be delivered: nothing applies here, or the window already holds it")
        return
    if found.held:
        screen.print("the call would be held once, with these pages as the reason:")
    made = table("when|n", "file|p", "why|+", "chars|r-")
    for row in found.files:
        style = _STYLE.get(row.when, "dim")
        why = row.why.replace(f"{project}/", "").replace(project, "the project")
        chars = f"{row.chars:,}" if row.chars else ""
        made.add_row(f"[{style}]{row.when}[/]", short(row.file, project), safe(why), chars)
    screen.print(made)
    total = sum(row.chars for row in found.files)
    blocks = count(sum(row.when == NOW for row in found.files), "block")
    screen.print(f"{blocks} now, about {of_length(total):,} tokens")
