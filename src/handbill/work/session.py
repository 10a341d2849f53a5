"""A session's state, and how each command changes it. Functions take values and return values.

Field names are those of the state file (`currentPhase`, `phaseHistory`, `completedSkills`, …).
"""

from __future__ import annotations

from handbill.work import phases as order
from handbill.work.phases import Phase
from handbill.work.skill_file import label_of as entry_label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handbill.work.skill_file import Skill

    State = dict[str, Any]
else:
    State = dict

VERSION = 1
ACTIVE, IDLE, COMPLETED = "active", "idle", "completed"
SET_DOWN = "dehydrated"  # put aside in the middle of a skill, for the next agent

# SKILL.md supplies these fields. Older skills also send them on stdin: they are accepted, not used.
STATIC = (
    "taskType", "phases", "nextSkills", "directives", "modes", "logTemplate", "debriefTemplate", "planTemplate",
    "requestTemplate", "responseTemplate",
)  # fmt: skip
# These fields belong to one run of a skill: a second skill in the session starts without them.
_OF_A_RUN = ("phases", "phaseHistory", "currentPhase", "checkPassed", "tagCheckPassed", "requestCheckPassed", "mode")


_LISTED = {"type": "array", "items": {"type": "string"}}
# The schema that a usable state must satisfy; other fields may have any value.
STATE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "skill": {"type": "string"}, "lifecycle": {"type": "string"}, "currentPhase": {"type": "string"},
        "phases": {"type": "array", "items": {"type": "object", "properties": {
            "steps": _LISTED, "commands": _LISTED, "proof": _LISTED, "invariants": _LISTED,
        }}},
        "phaseHistory": {"type": "array"}, "approvals": {"type": "array"},
        "modes": {"type": "object", "additionalProperties": {"type": "object"}},
        "skillHistory": {"type": "array", "items": {"type": "object", "required": ["skill", "phaseHistory"]}},
        **dict.fromkeys(("completedSkills", "nextSkills", "directives", "requestFiles", "searchKeywords"), _LISTED),
        "pid": {"type": ["integer", "null"]}, "sessionId": {"type": ["string", "null"]},
    },
}  # fmt: skip


class Refused(Exception):
    """A change that the current state does not allow. `str` is the reason, `hint` the remedy."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class Holder:
    """The holder of a session: a host's session, and the process of its client."""

    __slots__ = ("pid", "session", "started")

    def __init__(self, session: str = "", pid: int = 0, started: str = "") -> None:
        self.session = session
        self.pid = pid
        self.started = started  # distinguishes a process from a later one with the same number

    def written(self, state: State) -> State:
        new = {**state, "sessionId": self.session, "pid": self.pid, "pidStarted": self.started}
        return {name: value for name, value in new.items() if name not in _HOLDER or value}


_HOLDER = ("sessionId", "pid", "pidStarted")


def holder_of(state: State) -> Holder:
    pid = state.get("pid")
    return Holder(str(state.get("sessionId", "")), pid if isinstance(pid, int) else 0, str(state.get("pidStarted", "")))


def phases_of(state: State) -> list[Phase]:
    found = []
    for plain in state.get("phases", ()):
        lists = {name: tuple(plain.get(name, ())) for name in ("steps", "commands", "proof", "invariants")}
        found.append(Phase(entry_label(plain), str(plain.get("name", "")), gate=plain.get("gate", True), **lists))
    return found


def label_of(state: State) -> str:
    return order.split(str(state.get("currentPhase", "")))[0]


def current_phase(state: State) -> Phase | None:
    """Return the current phase; None if the skill has no phases or no longer declares this one."""
    label = label_of(state)
    return next((phase for phase in phases_of(state) if phase.label == label), None)


def debrief_of(state: State) -> str:
    """Return the file for a session's debrief; "" if its skill does not need one."""
    return str(state.get("debriefTemplate", "")).rpartition("/")[2].removeprefix("TEMPLATE_")


def activated(
    state: State | None,
    name: str,
    skill: Skill,
    params: State,
    holder: Holder,
    now: str,
    approved: str = "",
    left: State | None = None,
) -> tuple[State, str]:
    """Return the state with this skill active, and the event: activated, switched or re-activated.

    `left`: the work that the former skill leaves undone, with the user's approval.
    """
    old = dict(state or {})
    again = old.get("skill") == name and old.get("lifecycle") in (ACTIVE, SET_DOWN)
    if not again and name in old.get("completedSkills", ()) and not approved:
        raise Refused(
            f"{name} was completed in this session already",
            'to run it again, ask the user, then add --user-approved "what the user said"; or use a new session',
        )
    if again:
        new = {**old, **params}
        happened = "re-activated"
    else:
        new = {key: value for key, value in old.items() if key not in _OF_A_RUN}
        if old.get("skill") and old.get("phaseHistory"):
            past = {"skill": old["skill"], "phaseHistory": old["phaseHistory"], "until": now, **(left or {})}
            new["skillHistory"] = [*old.get("skillHistory", ()), past]
        new.update({"v": VERSION, "startedAt": old.get("startedAt", now), "skill": name, **params})
        first = skill.phases[0] if skill.phases else None
        new["currentPhase"] = str(first) if first else ""
        new["phaseHistory"] = [{"phase": str(first), "ts": now}] if first else []
        happened = "switched" if old.get("skill") not in (None, name) else "activated"
    if approved:
        new["approvals"] = [*new.get("approvals", ()), {"what": f"activate {name}", "reason": approved, "ts": now}]
    for field in STATIC:
        new.pop(field, None)
    new.update(skill.values)
    new["phases"] = [phase.as_dict() for phase in skill.phases]
    new.update({"lifecycle": ACTIVE, "lastHeartbeat": now})
    return holder.written(new), happened


class Move:
    """A permitted change of phase, and the phases that it skips."""

    __slots__ = ("abandons", "phase", "same", "skipped")

    def __init__(self, phase: Phase, *, same: bool = False, abandons: bool = False, skipped: list[str] | None = None):
        self.phase = phase
        self.same = same
        self.abandons = abandons  # it does not mean that the former phase is done
        self.skipped = skipped or []


def move(state: State, label: str, approved: str) -> Move:
    """Return the move; raise Refused if the order does not allow it and nobody approved."""
    declared = phases_of(state)
    labels = [phase.label for phase in declared]
    target = next((phase for phase in declared if phase.label == label), None)
    if target is None:
        raise Refused(f"there is no phase {label!r} in {state.get('skill')}", f"declared: {_listed(declared)}")
    current = label_of(state)
    if current == label:
        return Move(target, same=True)
    coming = ahead(state)
    if label in coming:
        return Move(target)
    known = order.is_label(current)  # False if the skill had no phases at that time
    other = known and order.is_alternative(current, label)
    back = known and order.key(label) < order.key(current)
    passed = order.passed_over(labels, current, label) if known else labels[: labels.index(label)]
    skipped = [] if back or other else passed
    if not approved:
        next_ones = " or ".join(str(phase) for phase in declared if phase.label in coming)
        what = "changes to another branch" if other else "goes back" if back else f"skips {', '.join(skipped)}"
        raise Refused(
            f"moving from {state.get('currentPhase')} to {target} {what}",
            f"next is {next_ones or 'the end: engine session idle, or deactivate'}; otherwise ask the user, then "
            'add --user-approved "what the user said"',
        )
    return Move(target, abandons=back or other, skipped=skipped)


def ahead(state: State) -> list[str]:
    """Return the labels that may follow, even if SKILL.md no longer declares the current one."""
    labels, current = [phase.label for phase in phases_of(state)], label_of(state)
    return order.following(labels, current) if order.is_label(current) else labels[:1]


def _listed(phases: list[Phase]) -> str:
    shown = ", ".join(str(phase) for phase in phases[:20])
    return f"{shown}, and {len(phases) - 20} more" if len(phases) > 20 else shown


def moved(state: State, step: Move, proof: State, unproven: list[str], approved: str, now: str) -> State:
    entry: State = {"phase": str(step.phase), "ts": now}
    if approved:
        entry["approved"] = approved
    if step.skipped:
        entry["skipped"] = step.skipped
    history = [*_left(state, proof, unproven), entry]
    return {**state, "currentPhase": str(step.phase), "phaseHistory": history, "lastHeartbeat": now}


def _left(state: State, proof: State, unproven: list[str]) -> list[Any]:
    """Return the history with the proof that was given when the current phase ended."""
    *before, last = state.get("phaseHistory") or [{"phase": state.get("currentPhase", "")}]
    last = dict(last) if isinstance(last, dict) else {"phase": last}
    if proof:
        last["proof"] = proof
    if unproven:
        last["unproven"] = unproven
    return [*before, last]


def proof_so_far(state: State) -> State:
    """Return the proof already given for the current phase, if it was left and the session
    continued."""
    history = state.get("phaseHistory") or [{}]
    found = history[-1].get("proof") if isinstance(history[-1], dict) else None
    return found if isinstance(found, dict) else {}


def _done(state: State, description: str, keywords: list[str], proof: State, unproven: list[str]) -> State:
    new = {**state, "sessionDescription": description}
    if state.get("currentPhase") and (proof or unproven):
        new["phaseHistory"] = _left(state, proof, unproven)
    if keywords:
        new["searchKeywords"] = keywords
    skill = state.get("skill")
    if skill and skill not in state.get("completedSkills", ()):
        new["completedSkills"] = [*state.get("completedSkills", ()), skill]
    return new


class Ending:
    """How a skill or a session ends: its description, keywords, proof, open fields and approval."""

    __slots__ = ("approved", "description", "keywords", "proof", "unproven")

    def __init__(
        self,
        description: str,
        keywords: list[str] | None = None,
        proof: State | None = None,
        unproven: list[str] | None = None,
        approved: str = "",
    ) -> None:
        self.description = description
        self.keywords = keywords or []
        self.proof = proof or {}
        self.unproven = unproven or []
        self.approved = approved


def released(state: State) -> State:
    """Return the state without a holder."""
    new = {name: value for name, value in state.items() if name not in _HOLDER}
    return {**new, "lastKnownPid": state["pid"]} if state.get("pid") else new


def ended(state: State, lifecycle: str, how: Ending, now: str) -> State:
    """Return the state after its end.

    Idle: the skill's work is done, and the session waits for the next one. Completed: the session
    is done.
    """
    new = released(_done(state, how.description, how.keywords, how.proof, how.unproven))
    if how.approved:
        new["approvals"] = [*state.get("approvals", ()), {"what": lifecycle, "reason": how.approved, "ts": now}]
    if lifecycle == COMPLETED:
        new["completedAt"] = now
    return {**new, "lifecycle": lifecycle, "lastHeartbeat": now}


def continued(state: State, holder: Holder, now: str) -> State:
    if state.get("lifecycle") == COMPLETED:
        raise Refused("this session is completed", "engine session activate NAME SKILL begins the next skill in it")
    taken = {name: value for name, value in state.items() if name != "lastKnownPid"}
    return holder.written({**taken, "lifecycle": ACTIVE, "lastHeartbeat": now})
