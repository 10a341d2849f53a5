"""`engine session activate`: begins a skill in a session that this window then holds."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from handbill.cli.caller import Caller, desk, refused
from handbill.cli.parser import like
from handbill.cli.result import Result
from handbill.cli.screen import stamp
from handbill.cli.stdin import BadInput, as_object, piped
from handbill.cli.verbs.session.finish import left_undone
from handbill.cli.verbs.session.phase_text import as_data, lines_of, proof_of
from handbill.errors import HandbillError
from handbill.library.skills import skill_at, skill_file
from handbill.reports.skills import names
from handbill.store import sessions
from handbill.work import schema
from handbill.work.session import STATIC, Refused, State, activated, label_of
from handbill.work.stdin_fields import PARAMETERS

if TYPE_CHECKING:
    from handbill.work.skill_file import Skill


class NoSkill(HandbillError):
    code = "no-skill"


def run(args: argparse.Namespace) -> Result:
    at = desk(args.project)
    folder = at.folder(args.session)
    skill, warnings = _skill(args.skill, at)
    given = piped()
    params, notes = parameters(as_object(given.text, "parameters")) if given.text.strip() else ({}, [])
    warnings += given.note + notes
    if args.fast_track:
        params["fastTrack"] = True
    if args.target_file:
        params["targetFile"] = os.path.abspath(args.target_file)
    holder, now = at.me(), stamp()

    def change(state: State | None) -> tuple[State, tuple[State, str]]:
        at.refuse_if_held(state)
        other = state is not None and state.get("skill") != args.skill
        left = left_undone(at, folder, state, args.user_approved, warnings) if state is not None and other else {}
        new, what = activated(state, args.skill, skill, params, holder, now, args.user_approved, left)
        return new, (new, what)

    try:
        aside: list[str] = []
        state, happened = sessions.update(folder, change, make=True, aside=aside)
        warnings += [f"{error}; the file was renamed, and the session starts over" for error in aside]
    except Refused as error:
        raise refused(error) from None
    line = f"Session {happened}: {at.shown(folder)} (skill: {args.skill})"
    dirs = [os.path.normpath(os.path.join(at.project.root, place)) for place in params.get("directoriesOfInterest", ())]
    warnings += [f"directoriesOfInterest: there is no {place}" for place in dirs if not os.path.isdir(place)]
    warnings += at.take(folder) + at.tell(state, "activate", line, folder, dirs=dirs)
    return _result(at, folder, state, skill, line, warnings)


def _skill(name: str, at: Caller) -> tuple[Skill, list[str]]:
    path = skill_file(name, at.world)
    if not path:
        raise NoSkill(
            f"there is no skill {name!r}{like(name, names(at.project))}",
            f"looked in {at.shown(f'{at.project.root}/.claude/skills')}, ~/.claude/skills, plugins and the library; "
            "engine skills lists what there is",
        )
    skill, problems = skill_at(path, at.world)
    if skill is None or skill.broken:  # the session would lack the skill's phases and proof
        raise NoSkill(problems[0], f"correct the file; engine skills {name} shows how Handbill reads it")
    return skill, problems


def parameters(given: State) -> tuple[State, list[str]]:
    """Check the task's parameters. Return those that SKILL.md does not define, and warnings."""
    static = [name for name in STATIC if name in given]
    params = {name: value for name, value in given.items() if name not in static}
    found = schema.problems(params, PARAMETERS)
    if found:
        raise BadInput(f"the parameters on stdin: {'; '.join(found)}", "correct them, then run the command again")
    return params, [f"{', '.join(static)}: taken from SKILL.md, not from stdin"] if static else []


def _result(at: Caller, folder: str, state: State, skill: Skill, line: str, warnings: list[str]) -> Result:
    lines = [line]
    data: dict[str, Any] = {"session": folder, "skill": state["skill"], "state": state}
    phase = skill.phase(label_of(state))
    if phase is not None:
        proof = proof_of(phase, state["skill"], at)
        warnings += proof.problems
        lines += [f"Phase: {phase}", *lines_of(phase, proof)]
        data["phase"] = as_data(phase, proof)
    elif not skill.phases:
        lines.append("This skill has no phases.")
    lines += at.next_skills(state)
    return Result(data, text="\n".join(lines), warnings=warnings)
