"""The skills that an agent can use here, and their problems."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypedDict

from handbill.library.pages import page
from handbill.library.skills import pages_of, proof_of, skill_at, skill_file, template
from handbill.paths import SHIPPED_SKILLS
from handbill.reports.json_fields import proof_rows
from handbill.text.document import Document
from handbill.text.references import references

if TYPE_CHECKING:
    from handbill.project import Project
    from handbill.work.skill_file import Skill
    from handbill.world import World


class PhaseReport(TypedDict):
    label: str
    name: str
    gate: Any  # as declared in the skill
    files: list[str]  # its pages
    without: list[str]  # steps without a page
    proof: list[str]  # fields of the proof that leaving the phase requires
    proofFields: list[dict[str, Any]]  # the same fields with their types and meanings


class SkillReport(TypedDict):
    name: str
    path: str  # its SKILL.md; empty if it does not exist
    about: str
    phases: list[PhaseReport]
    templates: list[str]
    modes: dict[str, str]  # mode -> its file
    nextSkills: list[str]
    directives: list[str]  # types of directives that it requests
    problems: list[str]
    hints: list[str]  # suggestions of what was meant


def names(project: Project) -> list[str]:
    folders = (
        f"{project.root}/.claude/skills",
        f"{project.world().user_library}/skills",
        SHIPPED_SKILLS,
    )
    found = set()
    for folder in folders:
        for entry in os.scandir(folder) if os.path.isdir(folder) else ():
            if os.path.isfile(os.path.join(entry.path, "SKILL.md")):
                found.add(entry.name)
    return sorted(found)


def described(name: str, project: Project, world: World, most: int = 5, *, path: str = "") -> SkillReport:
    """Return the report of a skill.

    `most`: the maximum number of problems and hints. `path`: the SKILL.md to describe, even if
    another skill with the same name is in use.
    """
    path = path or skill_file(name, world)
    skill, problems = skill_at(path, world, most) if path else (None, [f"{name!r} is not a valid skill name"])
    row = SkillReport(
        name=name, path=path, about="", phases=[], templates=[], modes={}, nextSkills=[], directives=[],
        problems=problems, hints=[],
    )  # fmt: skip
    if skill is None:
        return row
    row["about"] = skill.about.get("description", "")
    row["directives"], row["nextSkills"] = skill.directives, skill.values.get("nextSkills", [])
    row["templates"] = [template(path, written, project.world()) for written in skill.templates()]
    row["modes"] = {
        mode: template(path, str(one.get("file", "")), project.world())
        for mode, one in skill.values.get("modes", {}).items()
    }
    row["hints"] = [f"{path}, line {line}: {what}" for line, what in skill.hints[:most]]
    missing = [one for one in row["nextSkills"] if not skill_file(one, world)]
    row["hints"] += [f"{path}: nextSkills names {one}, and there is no such skill" for one in missing]
    _add_phases(row, skill, project, world)
    for file in (*row["templates"], *row["modes"].values()):
        if not os.path.isfile(file):
            row["problems"].append(f"{path} names {file}, which does not exist")
    document = world.load(path)
    for page_used in references(document.text) if isinstance(document, Document) else ():
        if not page(page_used, path, world) and not page_used.startswith("CMD_"):
            row["hints"].append(f"{path} uses §{page_used}, which has no file")
    return row


def _add_phases(row: SkillReport, skill: Skill, project: Project, world: World) -> None:
    for phase in skill.phases:
        files, without = pages_of(phase, row["path"], world)
        proof = proof_of(phase, row["path"], world, project.settings)
        found = [*proof.problems, *(f"phase {phase}: {why}" for why in proof.contradictions().values())]
        row["problems"] += [problem for problem in found if problem not in row["problems"]]
        row["phases"].append({
            "label": phase.label, "name": phase.name, "gate": phase.gate, "files": files, "without": without,
            "proof": list(proof.fields), "proofFields": [row._asdict() for row in proof_rows(proof)],
        })  # fmt: skip
