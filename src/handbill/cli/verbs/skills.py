"""`engine skills [NAME]`: the skills there are; of one, its phases and which files they mean."""

from __future__ import annotations

import argparse
import os
import shutil
from typing import TYPE_CHECKING, Any

from handbill.cli.files import require_inside
from handbill.cli.json_fields import proof_rows
from handbill.cli.parser import like
from handbill.cli.project import Project, here, project_option
from handbill.cli.result import Result
from handbill.cli.screen import labelled, safe, short, shortened, table
from handbill.errors import HandbillError
from handbill.library.pages import page
from handbill.library.skills import pages_of, proof_of, skill_at, skill_file, template
from handbill.text.document import Document
from handbill.text.references import references
from handbill.world import World

if TYPE_CHECKING:
    from rich.console import Console

    from handbill.cli.table import Table


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
    source = os.path.join(project.settings.shipped_skills, name or "")
    if not name or not os.path.isdir(source):
        what = f"{name!r} is not one of them" if name else "name one of them"
        raise HandbillError(f"only shipped skills can be copied; {what}", "engine skills lists what there is")
    target = os.path.join(project.root, ".claude", "skills", name)
    require_inside(target, project.root)
    if os.path.lexists(target):
        raise HandbillError(f"{target} already exists", "that copy is yours; to copy the skill again, remove it first")
    shutil.copytree(source, target)
    return Result({"skill": name, "path": target}, text=f"copied to {target}", next_step=f"type /{name} to your agent")


def names(project: Project) -> list[str]:
    folders = (
        f"{project.root}/.claude/skills",
        f"{project.settings.user_library}/skills",
        project.settings.shipped_skills,
    )
    found = set()
    for folder in folders:
        for entry in os.scandir(folder) if os.path.isdir(folder) else ():
            if os.path.isfile(os.path.join(entry.path, "SKILL.md")):
                found.add(entry.name)
    return sorted(found)


def described(name: str, project: Project, world: World, most: int = 5, *, path: str = "") -> dict[str, Any]:
    """`path`: of this SKILL.md, even if another one of its name comes first."""
    path = path or skill_file(name, world, project.settings)
    skill, problems = skill_at(path, world, most) if path else (None, [f"{name!r} is not a valid skill name"])
    row: dict[str, Any] = {
        "name": name, "path": path, "about": "", "phases": [], "templates": [], "modes": {}, "nextSkills": [],
        "directives": [], "problems": problems, "hints": [],
    }  # fmt: skip
    if skill is None:
        return row
    row["about"] = skill.about.get("description", "")
    row["hints"] = [f"{path}, line {line}: {what}" for line, what in skill.hints[:most]]
    row.update(directives=skill.directives, nextSkills=skill.values.get("nextSkills", []))
    missing = [one for one in row["nextSkills"] if not skill_file(one, world, project.settings)]
    row["hints"] += [f"{path}: nextSkills names {one}, and there is no such skill" for one in missing]
    row["modes"] = {
        mode: template(path, str(one.get("file", "")), project.settings)
        for mode, one in skill.values.get("modes", {}).items()
    }
    for phase in skill.phases:
        files, without = pages_of(phase, path, world, project.settings)
        proof = proof_of(phase, path, world, project.settings)
        found = [*proof.problems, *(f"phase {phase}: {why}" for why in proof.contradictions().values())]
        row["problems"] += [problem for problem in found if problem not in row["problems"]]
        row["phases"].append({
            "label": phase.label, "name": phase.name, "gate": phase.gate, "files": files, "without": without,
            "proof": list(proof.fields), "proofFields": [row._asdict() for row in proof_rows(proof)],
        })  # fmt: skip
    named = [template(path, written, project.settings) for written in skill.templates()]
    row["templates"] = named
    for file in (*named, *row["modes"].values()):
        if not os.path.isfile(file):
            row["problems"].append(f"{path} names {file}, which does not exist")
    document = world.load(path)
    for page_used in references(document.text) if isinstance(document, Document) else ():
        if not page(page_used, path, world, project.settings) and not page_used.startswith("CMD_"):
            row["hints"].append(f"{path} uses §{page_used}, which has no file")
    return row


def _show(screen: Console, rows: list[dict[str, Any]], project: str) -> None:
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
    if not skill_file(name, world, project.settings):
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
        for words in ("directives", "modes", "nextSkills"):
            if row[words]:
                labelled(screen, f"  {words:<11} ", safe(", ".join(row[words])))
        for problem in row["problems"]:
            labelled(screen, "[red]problem[/]  ", safe(problem))
        for hint in row["hints"]:
            labelled(screen, "[yellow]note[/]  ", safe(hint))

    return Result(row, show, exit_code=1 if row["problems"] else 0)


def _phases(phases: list[dict[str, Any]], root: str) -> Table:
    made = table("phase", "pages|p", "no page of its own|n-")
    for phase in phases:
        files = "\n".join(short(file, root) for file in phase["files"])
        made.add_row(safe(f"{phase['label']}: {phase['name']}"), files, safe("\n".join(phase["without"])))
    return made


def _proof(phases: list[dict[str, Any]]) -> Table:
    """What an agent must hand in to leave each phase."""
    made = table("to leave|n", "proof|n", "type", "meaning|+")
    for phase in phases:
        for field in phase["proofFields"]:
            about = field["about"] + ("" if field["required"] else " (optional)")
            made.add_row(safe(phase["label"]), safe(field["name"]), safe(field["kind"]), safe(about.strip()))
    return made
