"""`engine why FILE`: shows when and where a file was delivered, or why it was not."""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict
from typing import TYPE_CHECKING

from handbill.cli.project import here, project_option
from handbill.cli.result import Result
from handbill.cli.screen import count, safe, short, styled, table, when
from handbill.errors import HandbillError
from handbill.event import MAIN
from handbill.handlers.standards import find
from handbill.library.pages import page
from handbill.paths import PACKAGE
from handbill.reports.deliveries import DECISIONS
from handbill.reports.why import why
from handbill.reports.windows import readable
from handbill.text.references import page_name

if TYPE_CHECKING:
    from rich.console import Console

    from handbill.project import Project
    from handbill.reports.why import Why
    from handbill.world import World


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="a path, a name as `engine window` shows it, or a page (§CMD_X)")
    parser.add_argument("--session", metavar="ID", default="", help="only windows whose id begins with this")
    project_option(parser)


def run(args: argparse.Namespace) -> Result:
    project = here(args.project)
    found = why(_meant(args.file, project, project.world()), project, args.session)
    code = 0 if found.windows or found.decisions else 1
    return Result(asdict(found), lambda screen: _show(screen, found, project.root), exit_code=code)


def _meant(word: str, project: Project, world: World) -> str:
    library = f"{PACKAGE}/data"
    if word.startswith("library:"):  # as `engine window` prints it
        inside = word.removeprefix("library:")
        return next((p for p in (f"{library}/directives/{inside}", f"{library}/{inside}") if os.path.exists(p)), inside)
    if "/" not in word and not os.path.exists(word):
        found = [path for path in _delivered(project) if path.endswith(f"/{word}")] or [
            find(word, world, project.settings)
        ]
        if len(found) > 1:
            names = [short(path, project.root) for path in found[:8]]
            more = f" and {len(found) - 8} more" if len(found) > 8 else ""
            raise HandbillError(f"{word} means {len(found)} files", f"name one of them: {', '.join(names)}{more}")
        if found[0]:
            return found[0]
    name = page_name(word)
    if name and not os.path.exists(word):
        path = page(name, f"{project.root}/x", world)
        if not path:
            raise HandbillError(
                f"there is no page {name}", f"looked in .directives/ of {project.root} and the libraries"
            )
        return path
    return os.path.abspath(word)


def _delivered(project: Project) -> list[str]:
    """Return files of the known windows, the newest last."""
    return list({path: None for _, window in readable(project.store) for path in (*window.files, *window.pending)})


def _window_name(session: str, agent: str) -> str:
    """Return a name that is short enough for a table and unique among the windows of a session."""
    id, second, process = session.partition("~")
    return f"{id[:8]}{second}{process} {agent if agent == MAIN else f'agent {agent[:8]}'}"


def _show(screen: Console, found: Why, project: str) -> None:
    screen.print(f"[bold]{short(found.file, project)}[/]")
    if found.windows:
        made = table("window|n", "state|n", "since|n", "why|+")
        for row in found.windows:
            made.add_row(
                safe(_window_name(row.session, row.agent)), styled(row.state), when(row.at),
                safe(row.reason.replace(f"{project}/", "")),
            )  # fmt: skip
        screen.print(made)
        if found.more_windows:
            more = count(found.more_windows, "older window")
            screen.print(f"[dim]and in {more}: --session ID shows one of them[/]")
    else:
        screen.print("not in any window of that session" if found.session else "not in any window")
    for reason in found.why_not:
        screen.print(f"  why: {safe(reason)}")
    if found.decisions:
        made = table("when|n", "window|n", "decision|n", "why|+")
        for line in found.decisions:
            made.add_row(
                when(float(line.get("ts", 0))), safe(_window_name(*str(line.get("window", "")).partition(".")[::2])),
                DECISIONS.get(str(line.get("event")), safe(str(line.get("event")))),
                safe(str(line.get("source", "")).replace(f"{project}/", "")),
            )  # fmt: skip
        screen.print(made)
