"""`engine skills [NAME]`: lists the skills, or shows one skill's phases and their files."""

from __future__ import annotations

import argparse
import os
import shutil
from typing import TYPE_CHECKING

from handbill.cli.files import require_inside
from handbill.cli.parser import like
from handbill.cli.project import here, project_option
from handbill.cli.result import Result
from handbill.cli.screen import labelled, safe, short, shortened, table
from handbill.errors import HandbillError
from handbill.library.skills import skill_file
from handbill.paths import SHIPPED_SKILLS
from handbill.reports.skills import described, names

if TYPE_CHECKING:
    from rich.console import Console

    from handbill.cli.table import Table
    from handbill.project import Project
    from handbill.reports.skills import PhaseReport, SkillReport
    from handbill.world import World


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="one skill, with its phases, pages and templates")
    parser.add_argument(
        "--copy",
        action="store_true",
        help="copy a shipped skill into .claude/skills, so that the client knows it as /NAME",
    )
    project_option(parser)


def run(args: argparse.Namespace) -> Result:
    project = here(args.project)
    world = project.world()
    if args.copy:
        return _copied(args.name, project)
    if args.name:
        return _one(args.name, project, world)
    rows = [described(name, project, world) for name in names(project)]
    return Result(
        {"skills": rows}, lambda screen: _show(screen, rows, project.root), next_step="engine skills NAME",
        exit_code=1 if any(row["problems"] for row in rows) else 0,
    )  # fmt: skip


def _copied(name: str | None, project: Project) -> Result:
    source = os.path.join(SHIPPED_SKILLS, name or "")
    if not name or not os.path.isdir(source):
        what = f"{name!r} is not one of them" if name else "name one of them"
        raise HandbillError(f"only shipped skills can be copied; {what}", "engine skills lists what there is")
    target = os.path.join(project.root, ".claude", "skills", name)
    require_inside(target, project.root)
    if os.path.lexists(target):
        raise HandbillError(f"{target} already exists", "that copy is yours; to copy the skill again, remove it first")
    shutil.copytree(source, target)
    return Result({"skill": name, "path": target}, text=f"copied to {target}", next_step=f"type /{name} to your agent")


def _show(screen: Console, rows: list[SkillReport], project: str) -> None:
    if not rows:
        screen.print("no skills")
        return
    made = table("skill|n", "phases|r-", "where|p-", "about")
    for row in rows:
        about = f"[red]{safe(row['problems'][0])}[/]" if row["problems"] else safe(shortened(row["about"], 80))
        where = short(os.path.dirname(os.path.dirname(row["path"])), project)
        made.add_row(safe(row["name"]), str(len(row["phases"]) or "–"), where, about)
    screen.print(made)


def _one(name: str, project: Project, world: World) -> Result:
    if not skill_file(name, world):
        raise HandbillError(
            f"there is no skill {name!r}{like(name, names(project))}", "engine skills lists what there is"
        )
    row = described(name, project, world, most=1000)

    def show(screen: Console) -> None:
        screen.print(f"[bold]{safe(name)}[/]  {short(row['path'], project.root)}")
        if row["about"]:
            screen.print(f"  {safe(row['about'])}")
        if row["phases"]:
            screen.print(_phases(row["phases"], project.root))
            if any(phase["proof"] for phase in row["phases"]):
                screen.print(_proof(row["phases"]))
        else:
            screen.print("  no phases")
        for file in row["templates"]:
            labelled(screen, "  template    ", short(file, project.root))
        for label, words in (
            ("directives", row["directives"]), ("modes", list(row["modes"])), ("nextSkills", row["nextSkills"]),
        ):  # fmt: skip
            if words:
                labelled(screen, f"  {label:<11} ", safe(", ".join(words)))
        for problem in row["problems"]:
            labelled(screen, "[red]problem[/]  ", safe(problem))
        for hint in row["hints"]:
            labelled(screen, "[yellow]note[/]  ", safe(hint))

    return Result({**row}, show, exit_code=1 if row["problems"] else 0)


def _phases(phases: list[PhaseReport], root: str) -> Table:
    made = table("phase", "pages|p", "no page of its own|n-")
    for phase in phases:
        files = "\n".join(short(file, root) for file in phase["files"])
        made.add_row(safe(f"{phase['label']}: {phase['name']}"), files, safe("\n".join(phase["without"])))
    return made


def _proof(phases: list[PhaseReport]) -> Table:
    """Return a table of the proof that leaving each phase requires."""
    made = table("to leave|n", "proof|n", "type", "meaning|+")
    for phase in phases:
        for field in phase["proofFields"]:
            about = field["about"] + ("" if field["required"] else " (optional)")
            made.add_row(safe(phase["label"]), safe(field["name"]), safe(field["kind"]), safe(about.strip()))
    return made
