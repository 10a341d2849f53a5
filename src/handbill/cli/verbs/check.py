"""`engine check`: checks the project's rules, pages, skills and settings, without an agent."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from handbill.cli.checks.repository import ERROR, Checked, Problem
from handbill.cli.project import here, project_option
from handbill.cli.result import Result
from handbill.cli.screen import count, labelled, safe, short

if TYPE_CHECKING:
    from rich.console import Console

_MOST = 200  # problems that are shown


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--strict", action="store_true", help="exit with 1 for warnings as well")
    project_option(parser)


def run(args: argparse.Namespace) -> Result:
    found = Checked(here(args.project)).run()
    errors = [one for one in found.problems if one.level == ERROR]
    data: dict[str, Any] = {
        "project": found.project.root, "problems": [one._asdict() for one in found.problems],
        "errors": len(errors), "warnings": len(found.problems) - len(errors), "checked": found.counts,
    }  # fmt: skip
    failed = bool(found.problems if args.strict else errors)
    shown = errors if args.quiet and not args.strict else found.problems

    def show(screen: Console) -> None:
        for problem in shown[:_MOST]:
            _show_one(screen, problem, found.project.root)
        if len(shown) > _MOST:
            screen.print(f"and {count(len(shown) - _MOST, 'more problem')}: --json lists them all")
        if not args.quiet:
            screen.print(_summary(data))

    return Result(data, show, exit_code=1 if failed else 0)


def _show_one(screen: Console, problem: Problem, project: str) -> None:
    """Print a problem. Its first line has the form that compilers use, which CI tools recognise."""
    place = short(problem.file, project) + (f":{problem.line}" if problem.line else "")
    place = f"./{place}" if place.startswith("::") else place  # CI tools take such a line for a command
    style = "red" if problem.level == ERROR else "yellow"
    labelled(screen, "", f"{place}: [{style}]{problem.level}:[/] {safe(problem.text)}", whole_paths=True)
    labelled(screen, "    [cyan]fix:[/] ", safe(problem.fix), whole_paths=True)


def _summary(data: dict[str, Any]) -> str:
    looked = ", ".join(count(number, kind) for kind, number in data["checked"].items())
    if not data["problems"]:
        return f"{looked}: [green]no problems found[/]"
    return f"{looked}: {count(data['errors'], 'error')}, {count(data['warnings'], 'warning')}"
