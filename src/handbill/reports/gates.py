"""What each gate required of a window, and what the agent did."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from handbill import gates
from handbill.errors import CorruptState
from handbill.event import MAIN, Inbox
from handbill.handlers import load_gate, reread_gate
from handbill.ledger.window import TAKEN_UP
from handbill.library.resume_state import MODE
from handbill.library.roles import role_of, targets
from handbill.reports.plain_text import count
from handbill.reports.window import FileState

if TYPE_CHECKING:
    from collections.abc import Callable

    from handbill.gates import Gate
    from handbill.ledger.window import Window
    from handbill.library.roles import Role
    from handbill.project import Project

    State = dict[str, Any]


@dataclass
class Status:
    gate: str  # its title
    setting: str  # the gate's mode here, or the role it works for
    state: str  # what the gate requires, and how much of that is done
    files: list[FileState]
    said: dict[str, str] | None = None  # the agent's own report
    role: str | None = None  # the role whose files must be read again
    resume_mode: dict[str, Any] | None = None  # what was resumed, or why nothing was

    def plain(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}


def statuses(window: Window, project: Project, any_call_can_be_held: Callable[[], bool]) -> list[Status]:
    """Return the status of every declared gate.

    `any_call_can_be_held`: whether hooks must be registered for every tool. It is called only if
    necessary.
    """
    found = []
    for gate in gates.ALL:
        if gate is gates.REREAD:
            found.append(_reread(window, project, any_call_can_be_held))
        else:
            found.append({gates.LOAD: _load, gates.RESUME: _resume}.get(gate, _any)(window, project, gate))
    return found


def _any(window: Window, project: Project, gate: Gate) -> Status:
    """Return the gate's own description of its status, or else one made from its state."""
    setting = str(project.settings.gate(gate.name).get("mode", "on"))
    module = import_module(f"handbill.handlers.{gate.name}")
    state = gate.state_of(window)
    word = module.status(state) if hasattr(module, "status") else str(state.get("state") or "nothing was held here")
    return Status(gate.title, setting, word, [])


def _load(window: Window, project: Project, _: Gate) -> Status:
    gate = project.settings.gate("load_gate")
    mode = gate["mode"] if window.agent == MAIN else gate["subagents"]
    state = gates.LOAD.state_of(window)
    files = [FileState(path, how or "not read") for path, how in load_gate.compliance(window)]
    word = _progress(state, files, mode, project)
    return Status("load", state.get("mode", mode), word, files, state.get("reported") or None)


def _progress(state: State, files: list[FileState], mode: str, project: Project) -> str:
    settled = ("in the window", "read", load_gate.UNUSABLE)
    missing = sum(not one.state.startswith(settled) for one in files)
    if not state:
        return "the gate is off" if mode == "off" else _before_it_opens(project)
    if not missing:
        there = sum(not one.state.startswith(load_gate.UNUSABLE) for one in files)
        return f"{there} of {count(len(files), 'file')} in the window or read"
    if state.get("state") == gates.RELEASED:
        held = count(state["held"], "held message")
        return f"no longer holds calls, after {held}; {missing} of {count(len(files), 'file')} not read"
    return f"{missing} of {count(len(files), 'file')} not read yet"


def _before_it_opens(project: Project) -> str:
    files = load_gate.context_files(project.world(), project.settings)
    folder = project.settings.gate("load_gate")["folder"]
    if not files:
        return f"nothing to do: no context files in {folder}"
    return f"{count(len(files), 'file')} due with the next prompt or session start"


def _reread(window: Window, project: Project, any_call_can_be_held: Callable[[], bool]) -> Status:
    """Return the status at the last compaction, or before the first one, the expected status."""
    state = gates.REREAD.state_of(window)
    if state:
        return _after_compaction(window, state)
    world = project.world()
    inbox = Inbox()
    try:
        inbox.notes["role"] = project.store.noted((window.session, MAIN), "role")
    except CorruptState as error:
        inbox.notes["role"] = {"problem": str(error)}
    role = role_of(inbox, window, world, project.settings)
    files, own = targets(role, world, project.settings)
    word = _coming(role, files)
    brings_hooks = inbox.notes["role"] is not None and inbox.notes["role"].get("hooks") is True
    if not role.is_regular and not any_call_can_be_held() and not brings_hooks:
        word += "; only Write, Agent and Task calls can be held until `engine install` is run"
    rows = [
        FileState(path, "read by the agent after a compaction" if path in own else "delivered after a compaction")
        for path in files
    ]
    return Status("compaction", f"{role.name} ({role.how})", role.problem or word, rows, role=role.name)


def _coming(role: Role, files: list[str]) -> str:
    if role.is_regular:
        return "does nothing in a regular session"
    if not files:
        return f"none of its files exists: {', '.join(role.values.get('targets', ())) or 'no targets'}"
    return f"{count(len(files), 'file')} needed again after a compaction"


def _after_compaction(window: Window, state: State) -> Status:
    late = reread_gate.missing(state, window)
    rows = [FileState(path, "on its way" if path in late else "in the window") for path in state["given"]]
    rows += [FileState(path, "read") for path in state["read"]]
    rows += [FileState(path, "could not be read") for path in state["tried"]]
    rows += [FileState(path, "not read") for path in state["left"]]
    if state["state"] == gates.ARMED and (state["left"] or late):
        word = "holds the next message"
    elif state.get("said"):
        word = f"the agent got the list {state['said']}"
    else:
        word = "the agent did not need the list"
    how = str(window.flags.get("role_by", "")) or "recorded"
    return Status("compaction", f"{state['role']} ({how})", word, rows, role=state["role"])


def _resume(window: Window, project: Project, _: Gate) -> Status:
    setting = project.settings.gate("resume")["mode"]
    mode, taken = window.flags.get(MODE), window.flags.get(TAKEN_UP)
    if isinstance(mode, dict):
        word = f"not resumed: {mode.get('error') or mode.get('reason')}"
        if mode.get("active"):
            word = f"resumed {mode['project_id']} (confidence {mode['confidence']})"
        files = [FileState(line, "not delivered") for line in mode.get("problems", ())]
        return Status("resume", setting, word, files, resume_mode=mode)
    return Status("resume", setting, f"received the handover of {taken}" if taken else "nothing was resumed here", [])
