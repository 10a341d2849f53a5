"""`engine session phase`: moves to a phase, with proof that the one before is done."""

from __future__ import annotations

import argparse
from typing import Any

from handbill.cli.caller import Caller, NotAllowed, desk, refused
from handbill.cli.result import Result
from handbill.cli.screen import stamp
from handbill.cli.stdin import as_object, piped
from handbill.cli.verbs.session.phase_text import as_data, lines_of, proof_of
from handbill.errors import HandbillError
from handbill.store import sessions
from handbill.work import phases as order
from handbill.work.phases import Phase
from handbill.work.session import Move, Refused, State, current_phase, move, moved, proof_so_far


class ProofMissing(HandbillError):
    code = "proof"


def run(args: argparse.Namespace) -> Result:
    at = desk(args.project)
    folder = at.folder(args.session)
    state = at.required(folder)
    given = piped()
    proof = as_object(given.text, "proof")
    if not state.get("phases"):
        return _free(at, folder, args, proof)
    label, name = order.split(args.phase)
    label = label.upper()
    warnings = list(given.note)
    now = stamp()

    def change(newest: State | None) -> tuple[State | None, tuple[State, Move, list[str], bool]]:
        current, is_new = at.taken_over(_active(newest, at))
        step = move(current, label, args.user_approved)
        if step.same:
            return (current if is_new else None), (current, step, [], is_new)
        optional = bool(args.user_approved) and step.abandons
        unproven = proven(at, current, proof, warnings, optional=optional, approved=args.user_approved)
        new = moved(current, step, proof, unproven, args.user_approved, now)
        return new, (new, step, unproven, is_new)

    try:
        state, step, unproven, is_new = sessions.update(folder, change)
    except Refused as error:
        raise refused(error) from None
    line = f"Phase: {step.phase}"
    if name and name != step.phase.name:
        warnings.append(f"SKILL.md declares this phase as {step.phase}")
    if is_new:  # the window of the new holder does not have the skill's pages
        warnings += at.take(folder) + at.tell(state, "continue", line, folder)
    elif not step.same:
        warnings += at.tell(state, "phase", line, folder)
    if step.same and (proof or args.user_approved):
        warnings.append("the session is in this phase already: nothing was recorded")
    return _result(at, state, step, line, unproven, args.user_approved, warnings)


def _active(state: State | None, at: Caller) -> State:
    if state is None:
        raise sessions.NoSession("the session is gone", "engine session list shows the existing ones")
    at.refuse_if_held(state, person_may=True)
    lifecycle = state.get("lifecycle", "not active")
    if lifecycle != "active":
        verb = "activate NAME SKILL begins the next skill in it" if lifecycle == "completed" else "continue NAME first"
        raise NotAllowed(f"this session is {lifecycle}", f"engine session {verb}")
    return state


def proven(
    at: Caller,
    state: State,
    proof: State,
    warnings: list[str],
    *,
    optional: bool,
    approved: str = "",
    form: str = "{}",
) -> list[str]:
    """Check the proof for leaving the current phase. Return the fields that are left unproven.

    Raises if required proof is missing. `optional`: the user approved a move that does not claim
    that the phase is done (back, to another branch, or ending early), so proof may be left out.
    `approved`: the user's words that approve leaving out impossible proof. `form`: how the proof is
    sent; {} is replaced by its fields.
    """
    current = current_phase(state)
    if current is None:
        return []
    wanted = proof_of(current, str(state.get("skill", "")), at)
    warnings += wanted.problems
    faults = wanted.faults({**proof_so_far(state), **proof})
    if not faults:
        return []
    if optional and not proof:
        return wanted.required
    impossible = wanted.contradictions()
    others = wanted.faults({**proof_so_far(state), **proof}, without=impossible)
    if impossible and approved and not others:
        return list(impossible)
    if impossible:
        raise ProofMissing(
            f"to leave {current}: {'; '.join([*impossible.values(), *others])}",
            'correct the pages; or ask the user, then add --user-approved "what the user said"',
        )
    example = ", ".join(f'"{name}": …' for name in wanted.required)
    raise ProofMissing(
        f"to leave {current}: {'; '.join(faults)}",
        f"send the proof as JSON on stdin: {form.replace('{}', f'{{{example}}}')}",
    )


def _result(
    at: Caller, state: State, step: Move, line: str, unproven: list[str], approved: str, warnings: list[str]
) -> Result:
    lines = [line]
    if approved and not step.same:
        lines.append(f"Approved by the user: {approved}")
    if step.skipped:
        lines.append(f"Skipped: {', '.join(step.skipped)}")
    if unproven:
        lines.append(f"Left without proof: {', '.join(unproven)}")
    proof = proof_of(step.phase, str(state.get("skill", "")), at)
    warnings += [problem for problem in proof.problems if problem not in warnings]
    lines += lines_of(step.phase, proof)
    data: dict[str, Any] = {
        "phase": as_data(step.phase, proof), "skipped": step.skipped, "unproven": unproven, "approved": approved,
        "changed": not step.same,
    }  # fmt: skip
    return Result(data, text="\n".join(lines), warnings=warnings)


def _free(at: Caller, folder: str, args: argparse.Namespace, proof: State) -> Result:
    """Move in a skill without phases: any label is valid, in any order."""
    text = " ".join(args.phase.split())
    if not text or len(text) > 200:
        raise NotAllowed(f"{args.phase[:50]!r} is not a phase", "use a few words, or LABEL: Name")

    def change(newest: State | None) -> tuple[State, State]:
        current, _ = at.taken_over(_active(newest, at))
        label, _, name = text.partition(":")
        new = moved(current, Move(Phase(label.strip(), name.strip())), proof, [], args.user_approved, stamp())
        return new, new

    before = at.find()
    state = sessions.update(folder, change)
    warnings = at.take(folder) + at.tell(state, "continue", f"Phase: {text}", folder) if before != folder else []
    data = {"phase": {"label": text}, "skipped": [], "unproven": [], "approved": args.user_approved, "changed": True}
    return Result({**data, "history": len(state["phaseHistory"])}, text=f"Phase: {text}", warnings=warnings)
