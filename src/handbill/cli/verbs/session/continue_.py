"""`engine session continue`: continues a session in this window."""

from __future__ import annotations

import argparse

from handbill.cli.caller import desk, refused
from handbill.cli.result import Result
from handbill.cli.screen import stamp
from handbill.cli.verbs.session.phase_text import as_data, lines_of, proof_of
from handbill.reports.sessions import documents
from handbill.store import sessions
from handbill.work.session import Refused, State, continued, current_phase


def run(args: argparse.Namespace) -> Result:
    at = desk(args.project)
    folder = at.own(args.session)
    at.required(folder)

    def change(state: State | None) -> tuple[State, State]:
        at.refuse_if_held(state)
        new = continued(state or {}, at.me(), stamp())
        return new, new

    try:
        state = sessions.update(folder, change)
    except Refused as error:
        raise refused(error) from None
    line = f"Session continued: {at.shown(folder)}"
    warnings = at.take(folder) + at.tell(state, "continue", line, folder)
    lines = [line, f"  Skill: {state.get('skill', '–')}", f"  Phase: {state.get('currentPhase') or '–'}"]
    lines += [f"  Task: {state['taskSummary']}"] if state.get("taskSummary") else []
    written = documents(folder)
    data = {"session": folder, "state": state, "artifacts": written}
    phase = current_phase(state)
    if phase is not None:
        proof = proof_of(phase, str(state.get("skill", "")), at)
        warnings += proof.problems
        lines += lines_of(phase, proof)
        data["phase"] = as_data(phase, proof)
    if written:
        lines += ["Documents:", *(f"  - {at.shown(path)}" for path in written)]
    return Result(data, text="\n".join(lines), warnings=warnings)
