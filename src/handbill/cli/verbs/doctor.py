"""`engine doctor`: checks the installation. Exits with 1 and shows the fix if it is faulty."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from handbill.cli.checks import installation
from handbill.cli.project import here, project_option
from handbill.cli.result import Result
from handbill.cli.screen import count, labelled
from handbill.reports.findings import BAD, NOTE, OK, collected, gates, hooks, state, work
from handbill.reports.store_files import forget_errors

if TYPE_CHECKING:
    from rich.console import Console

    from handbill.reports.findings import Check

CHECKS: tuple[Check, ...] = (
    installation.wiring, installation.client, state.settings, installation.standards, state.state, hooks.receipts,
    hooks.trace, installation.held_calls, work.skills, work.sessions, work.reports, gates.wording, gates.context,
    gates.resumption, gates.handovers,
)  # fmt: skip
_SIGN = {OK: "[green]✓[/]", NOTE: "[yellow]·[/]", BAD: "[red]✗[/]"}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--forget", action="store_true", help="mark all errors so far as fixed")
    project_option(parser)


def run(args: argparse.Namespace) -> Result:
    project = here(args.project)
    if args.forget:
        forget_errors(project.store)
    found = collected(CHECKS, project)
    bad = [finding for finding in found if finding.state == BAD]
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
