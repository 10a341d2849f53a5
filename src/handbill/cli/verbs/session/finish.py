"""`engine session idle` and `deactivate`: end the skill, or the whole session."""

from __future__ import annotations

import argparse
import os
from typing import Any

from handbill.cli.caller import Caller, NotAllowed, desk
from handbill.cli.result import Result
from handbill.cli.screen import stamp
from handbill.cli.stdin import BadInput, as_object, piped
from handbill.cli.verbs.session.phase import proven
from handbill.errors import HandbillError
from handbill.library.skills import skill_file
from handbill.library.skills import template as template_path
from handbill.store import sessions
from handbill.work import schema
from handbill.work.session import ACTIVE, COMPLETED, IDLE, SET_DOWN, Ending, State, ahead, debrief_of, ended
from handbill.work.stdin_fields import ENDING


def run(args: argparse.Namespace) -> Result:
    at = desk(args.project)
    folder = at.own(args.session)
    at.required(folder)
    given = piped()
    words = said(given.text, args.action)
    lifecycle = IDLE if args.action == "idle" else COMPLETED
    keywords = [word.strip() for word in args.keywords.split(",") if word.strip()] or words.get("keywords", [])
    warnings = list(given.note)
    now = stamp()

    def change(state: State | None) -> tuple[State, State]:
        state = state or {}
        at.refuse_if_held(state, person_may=True)
        if state.get("lifecycle") == COMPLETED:
            raise NotAllowed("this session is completed already", "engine session activate begins the next skill")
        proof, unproven = words.get("proof", {}), []
        if state.get("lifecycle") in (ACTIVE, SET_DOWN):
            unproven = _may_end(at, state, proof, args.user_approved, warnings)
        _debrief_written(at, folder, state, args.user_approved)
        how = Ending(words["description"], keywords, proof, unproven, args.user_approved)
        new = ended(state, lifecycle, how, now)
        return new, new

    state = sessions.update(folder, change)
    done = "it waits for the next skill" if args.action == "idle" else "completed"
    line = f"Session {'idle' if args.action == 'idle' else 'deactivated'}: {at.shown(folder)} ({done})"
    warnings += at.tell(state, args.action, line, folder)
    lines = [line, *at.next_skills(state)]
    return Result({"session": folder, "state": state}, text="\n".join(lines), warnings=warnings)


_FORM = '{"description": "…", "proof": {}}'


def said(text: str, verb: str) -> dict[str, Any]:
    """Parse the description: plain text, or JSON with keywords and the last phase's proof."""
    if not text.strip():
        raise BadInput(
            "the description is missing: send it on stdin",
            f"e.g. echo 'Login form with tests' | engine session {verb} NAME",
        )
    if not text.lstrip().startswith("{"):
        return {"description": text.strip()}
    words = as_object(text, "description")
    found = schema.problems(words, ENDING)
    if found:
        raise BadInput(f"on stdin: {'; '.join(found)}", '{"description": "…", "keywords": […], "proof": {…}}')
    return words


def _may_end(at: Caller, state: State, proof: State, approved: str, warnings: list[str]) -> list[str]:
    left = ahead(state)
    if left and not approved:
        raise NotAllowed(
            f"{state.get('skill')} is in phase {state.get('currentPhase')}; the next phase is {' or '.join(left)}",
            'finish the phases, or ask the user, then add --user-approved "what the user said"',
        )
    unproven = proven(at, state, proof, warnings, optional=bool(approved), approved=approved, form=_FORM)
    if unproven:
        warnings.append(f"left without proof: {', '.join(unproven)}")
    return unproven


def left_undone(at: Caller, folder: str, state: State, approved: str, warnings: list[str]) -> State:
    """Return what a skill leaves undone when another one begins.

    Raises if anything is undone and the user did not approve.
    """
    if state.get("lifecycle") not in (ACTIVE, SET_DOWN) or not state.get("skill"):
        return {}
    try:
        coming = ahead(state)
        unproven = _may_end(at, state, {}, approved, warnings)
        _debrief_written(at, folder, state, approved)
    except HandbillError as error:
        name = os.path.basename(folder)
        raise NotAllowed(
            f"{state['skill']} is not finished in this session: {error}",
            f'end it first: engine session idle {name}; or ask the user, then add --user-approved "what the user said"',
        ) from None
    found = {"coming": coming, "unproven": unproven}
    undone: State = {name: value for name, value in found.items() if value}
    return {**undone, "approved": approved} if undone and approved else undone


def _debrief_written(at: Caller, folder: str, state: State, approved: str) -> None:
    template, name = str(state.get("debriefTemplate", "")), debrief_of(state)
    if name and not approved and not os.path.isfile(os.path.join(folder, name)):
        path = skill_file(str(state.get("skill", "")), at.world)
        form = at.shown(template_path(path, template, at.world)) if path else template
        raise NotAllowed(
            f"the debrief {at.shown(os.path.join(folder, name))} is not written",
            f"write it from the template {form}; or, if the user does not want one, add "
            '--user-approved "what the user said"',
        )
