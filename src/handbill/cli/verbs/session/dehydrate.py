"""`engine session dehydrate`: sets a session aside for the next agent in this project."""

from __future__ import annotations

import argparse
import os
from typing import Any

from handbill.cli.caller import Caller, desk
from handbill.cli.result import Result
from handbill.cli.screen import stamp
from handbill.cli.stdin import NEEDED, BadInput, as_object, piped
from handbill.errors import HandbillError
from handbill.library.handover import Files
from handbill.store import sessions
from handbill.text.document import Refusal
from handbill.work import schema
from handbill.work.detect_project import CONTEXT, MOST_FILES
from handbill.work.session import SET_DOWN, State, released

_FORM = '{"summary": "…", "lastAction": "…", "nextSteps": ["…"], "handoverInstructions": "…", "requiredFiles": ["…"]}'


def run(args: argparse.Namespace) -> Result:
    at = desk(args.project)
    folder = at.own(args.session)
    at.required(folder)
    given = piped(NEEDED)
    context = as_object(given.text, "context")
    found = schema.problems(context, CONTEXT)
    if found:
        silent = f" ({given.note[0]})" if given.note else ""
        raise BadInput(f"handover on stdin: {'; '.join(found)}{silent}", f"send {_FORM}, {MOST_FILES} files at most")
    files = _files(context, folder, at)
    name = os.path.basename(folder)

    def change(state: State | None) -> tuple[State, State]:
        at.refuse_if_held(state, person_may=True)
        new = {**released(state or {}), "lifecycle": SET_DOWN, "dehydratedContext": {**context, "at": stamp()}}
        return new, new

    state = sessions.update(folder, change)
    try:
        at.project.store.leave_handover({"session": name, "context": context, "by": at.window})
    except (OSError, HandbillError) as error:
        raise HandbillError(
            f"the handover cannot be kept: {error}", "its text is in the session's .state.json"
        ) from error
    unusable = [document for document in map(at.world.load, files.named) if isinstance(document, Refusal)]
    warnings = [f"requiredFiles: {at.shown(one.path)} {one.why}" for one in unusable] + given.note
    text = f"Handover saved: {at.shown(folder)}\n"
    text += "The next agent that starts in this project (or after /clear) receives it."
    data = {"session": folder, "context": context, "files": files.named, "state": state}
    return Result(data, text=text, warnings=warnings)


def _files(context: dict[str, Any], folder: str, at: Caller) -> Files:
    found = Files(context.get("requiredFiles", ()), (at.project.root, folder), at.world, at.project.settings)
    if found.refused:
        raise BadInput(f"requiredFiles: {'; '.join(found.refused)}", "name files of the project")
    return found
