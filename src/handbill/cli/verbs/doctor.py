"""`engine doctor`: is everything as it should be? Exit 1 and the fix, where it is not."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from handbill.cli.checks import gates, installation, work
from handbill.cli.project import Project, here, project_option
from handbill.cli.result import Result
from handbill.cli.screen import count, labelled
from handbill.errors import HandbillError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

_SIGN = {installation.OK: "[green]✓[/]", installation.NOTE: "[yellow]·[/]", installation.BAD: "[red]✗[/]"}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--forget", action="store_true", help="mark all errors so far as fixed")
    project_option(parser)


def _findings(
    check: Callable[[Project], Iterator[installation.Finding]], project: Project
) -> list[installation.Finding]:
    """One that cannot be made must not hide the others: a project may have caused it."""
    found = []
    try:
        for finding in check(project):
            found.append(finding)
    except (HandbillError, OSError, ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        name = check.__name__.replace("_", " ")
        found.append(
            installation.Finding(
                name, installation.BAD, f"cannot be checked: {error}", "look at the file that it names"
            )
        )
    return found


def run(args: argparse.Namespace) -> Result:
    project = here(args.project)
    if args.forget:
        for root in (project.store.root, project.store.spare):
            path = f"{root}/.engine/errors.jsonl"
            if root and os.path.exists(path):
                os.replace(path, f"{root}/.engine/errors.seen.jsonl")
                os.utime(f"{root}/.engine/errors.seen.jsonl")  # its time says since when all is dealt with
    found = [one for check in (*installation.ALL, *work.ALL, *gates.ALL) for one in _findings(check, project)]
    bad = [finding for finding in found if finding.state == installation.BAD]
    data = {"project": project.root, "checks": [finding.plain() for finding in found], "problems": len(bad)}

    def show(screen: Console) -> None:
        from rich.markup import escape

        if not args.quiet:
            screen.print(f"[bold]{escape(project.root)}[/]", soft_wrap=True)
        for finding in bad if args.quiet else found:
            sign = f"{_SIGN[finding.state]} [dim]{finding.check:<12}[/]"
            labelled(screen, sign, escape(" ".join(finding.text.split())), whole_paths=True)
            if finding.fix:
                screen.print(f"               [cyan]fix:[/] {escape(finding.fix)}", soft_wrap=True)
        if not args.quiet:
            screen.print(f"[red]{count(len(bad), 'problem')} to fix[/]" if bad else "[green]no problems found[/]")

    return Result(data, show, exit_code=1 if bad else 0)
