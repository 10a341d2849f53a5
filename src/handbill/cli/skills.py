"""`engine skills [NAME]`: the skills there are; of one, its phases and which files they mean."""

from __future__ import annotations

import argparse
import os
import shutil
from typing import TYPE_CHECKING, Any

from handbill.cli.place import Place, here, project_option
from handbill.cli.result import Result
from handbill.cli.screen import safe, short, table
from handbill.errors import HandbillError
from handbill.handlers.skills import pages_of, skill_at, skill_file, template
from handbill.world import World

if TYPE_CHECKING:
    from rich.console import Console


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="one skill, with its phases, pages and templates")
    parser.add_argument(
        "--copy",
        action="store_true",
        help="copy a shipped skill into .claude/skills, so that the client knows it as /NAME",
    )
    project_option(parser)


def run(args: argparse.Namespace) -> Result:
    place = here(args.project)
    world = World(place.config.roots)
    if args.copy:
        return _copied(args.name, place, world)
    if args.name:
        return _one(args.name, place, world)
    rows = [described(name, place, world) for name in names(place)]
    return Result(
        {"skills": rows}, lambda screen: _show(screen, rows, place.project), next_step="engine skills NAME",
        exit_code=1 if any(row["problems"] for row in rows) else 0,
    )  # fmt: skip


def _copied(name: str | None, place: Place, world: World) -> Result:
    path = skill_file(name or "", world, place.config)
    if not name or not path.startswith(place.config.shipped_skills + "/"):
        what = f"{name!r} is none of them" if name else "a name is needed"
        raise HandbillError(f"only shipped skills are copied; {what}", "engine skills lists what there is")
    target = os.path.join(place.project, ".claude", "skills", name)
    shutil.copytree(os.path.dirname(path), target)
    return Result({"skill": name, "path": target}, text=f"copied to {target}", next_step=f"type /{name} to your agent")


def names(place: Place) -> list[str]:
    folders = (f"{place.project}/.claude/skills", f"{place.config.user_library}/skills", place.config.shipped_skills)
    found = set()
    for folder in folders:
        for entry in os.scandir(folder) if os.path.isdir(folder) else ():
            if os.path.isfile(os.path.join(entry.path, "SKILL.md")):
                found.add(entry.name)
    return sorted(found)


def described(name: str, place: Place, world: World) -> dict[str, Any]:
    path = skill_file(name, world, place.config)
    skill, problems = skill_at(path, world) if path else (None, [f"{name!r} can be no skill's name"])
    phases: list[dict[str, Any]] = []
    templates: list[dict[str, Any]] = []
    for phase in skill.phases if skill else ():
        files, without = pages_of(phase, path, world, place.config)
        phases.append({"label": phase.label, "name": phase.name, "gate": phase.gate, "files": files, "without": without,
                       "proof": list(phase.proof)})  # fmt: skip
    for written in skill.templates() if skill else ():
        file = template(path, written, place.config)
        templates.append({"file": file, "exists": os.path.isfile(file)})
        if not os.path.isfile(file):
            problems = [*problems, f"{path} names the template {written}, which does not exist"]
    return {
        "name": name, "path": path, "about": skill.about.get("description", "") if skill else "", "phases": phases,
        "templates": templates, "directives": skill.directives if skill else [], "problems": problems,
    }  # fmt: skip


def _show(screen: Console, rows: list[dict[str, Any]], project: str) -> None:
    if not rows:
        screen.print("no skills")
        return
    made = table("skill|n", "phases|r", "where", "about")
    for row in rows:
        about = f"[red]{safe(row['problems'][0])}[/]" if row["problems"] else safe(row["about"][:70])
        made.add_row(safe(row["name"]), str(len(row["phases"]) or "–"), short(row["path"], project), about)
    screen.print(made)


def _one(name: str, place: Place, world: World) -> Result:
    if not skill_file(name, world, place.config):
        raise HandbillError(f"there is no skill {name!r}", "engine skills lists what there is")
    row = described(name, place, world)

    def show(screen: Console) -> None:
        screen.print(f"[bold]{safe(name)}[/]  {short(row['path'], place.project)}")
        screen.print(f"  {safe(row['about'])}" if row["about"] else "", end="\n" if row["about"] else "")
        if row["phases"]:
            made = table("phase", "pages", "no page of its own", "proof")
            for phase in row["phases"]:
                made.add_row(
                    safe(f"{phase['label']}: {phase['name']}"),
                    "\n".join(short(file, place.project) for file in phase["files"]),
                    safe("\n".join(phase["without"])), safe(", ".join(phase["proof"])),
                )  # fmt: skip
            screen.print(made)
        else:
            screen.print("  no phases")
        for one in row["templates"]:
            screen.print(f"  template    {short(one['file'], place.project)}")
        if row["directives"]:
            screen.print(f"  directives  {safe(', '.join(row['directives']))}")
        for problem in row["problems"]:
            screen.print(f"[red]problem[/]  {safe(problem)}")

    return Result(row, show, exit_code=1 if row["problems"] else 0)
