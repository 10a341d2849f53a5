"""`engine session check`: lists what must be done before a session can end."""

from __future__ import annotations

import argparse
import os
from typing import Any

from handbill.cli.caller import Caller, desk
from handbill.cli.files import read_text
from handbill.cli.result import Result
from handbill.cli.verbs.session.phase_text import proof_of
from handbill.text.markdown import live
from handbill.work.session import ACTIVE, SET_DOWN, State, ahead, current_phase, debrief_of


def run(args: argparse.Namespace) -> Result:
    at = desk(args.project)
    folder = at.own(args.session)
    state = at.required(folder)
    found = [*_phases(at, state), *_documents(at, folder, state), *_requests(at, folder, state)]
    lines = [f"open  {line}" for line in found] or ["nothing is open"]
    data: dict[str, Any] = {"session": folder, "open": found}
    return Result(data, text="\n".join(lines), exit_code=1 if found else 0)


def _phases(at: Caller, state: State) -> list[str]:
    if state.get("lifecycle") not in (ACTIVE, SET_DOWN):
        return []
    coming, phase = ahead(state), current_phase(state)
    found = [f"phase {' or '.join(coming)} is still open, after {state.get('currentPhase')}"] if coming else []
    if phase is None:
        return found
    wanted = proof_of(phase, str(state.get("skill", "")), at).required
    return found + ([f"{phase} requires proof: {', '.join(wanted)}"] if wanted else [])


def _documents(at: Caller, folder: str, state: State) -> list[str]:
    name = debrief_of(state)
    path = os.path.join(folder, name)
    return [f"{at.shown(path)} is not written"] if name and not os.path.isfile(path) else []


def _requests(at: Caller, folder: str, state: State) -> list[str]:
    """Return the problems of the requests that this session must answer."""
    found = []
    for name in state.get("requestFiles", ()):
        path = next(
            (p for p in (os.path.join(folder, name), os.path.join(at.project.root, name)) if os.path.isfile(p)), ""
        )
        if not path:
            found.append(f"the request {name} does not exist")
            continue
        text = read_text(path)
        if "#needs-" in live(text):
            found.append(f"{at.shown(path)} still says #needs-…")
        if "REQUEST" in os.path.basename(path) and "\n## Response" not in text:
            found.append(f"{at.shown(path)} has no `## Response`")
    return found
