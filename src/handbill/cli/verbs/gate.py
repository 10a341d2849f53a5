"""`engine gate status`: what each gate asked of a window, and what the agent did."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from handbill.cli.needed_hooks import needed
from handbill.cli.project import Project, choose_window, here, read_window
from handbill.cli.result import Result
from handbill.cli.screen import count, labelled, safe, short, table
from handbill.cli.subcommands import AGENT, Action
from handbill.errors import CorruptState
from handbill.event import MAIN, Event
from handbill.handlers import load_gate, reread_gate
from handbill.ledger.window import TAKEN_UP
from handbill.library.resume_state import MODE
from handbill.library.roles import role_of, targets

if TYPE_CHECKING:
    from rich.console import Console

    from handbill.ledger.window import Window

ACTIONS: dict[str, Action] = {
    "status": Action(
        "show what each gate asked of this window, and what the agent did",
        (
            ("session", {"nargs": "?", "help": "session id or its beginning (default: yours, or the newest)"}),
            AGENT,
        ),
        ("engine gate status",),
    ),
}


def run(args: argparse.Namespace) -> Result:
    project = here(args.project)
    key = choose_window(project, args.session, args.agent)
    window = read_window(project, key)
    data = {"window": ".".join(key), "project": project.root, "gates": described(window, project)}
    return Result(data, lambda screen: _show(screen, data), next_step="engine window: everything that is in it")


def described(window: Window, project: Project) -> list[dict[str, Any]]:
    return [_load(window, project), _reread(window, project), _resume(window, project)]


def _load(window: Window, project: Project) -> dict[str, Any]:
    gate = project.settings.gate("load_gate")
    mode = gate["mode"] if window.agent == MAIN else gate["subagents"]
    state = load_gate.state_of(window)
    files = [{"file": path, "state": how or "not read"} for path, how in load_gate.compliance(window)]
    settled = ("in the window", "read", load_gate.UNUSABLE)
    missing = sum(not one["state"].startswith(settled) for one in files)
    word = str(state.get("state", ""))
    if not state:
        word = "the gate is off" if mode == "off" else _before_it_opens(project)
    elif not missing:
        there = sum(not one["state"].startswith(load_gate.UNUSABLE) for one in files)
        word = f"{there} of {count(len(files), 'file')} in the window or read"
    elif word == load_gate.RELEASED:
        word = f"no longer holds calls, after {count(state['held'], 'held message')}; "
        word += f"{missing} of {count(len(files), 'file')} not read"
    else:
        word = f"{missing} of {count(len(files), 'file')} not read yet"
    row = {"gate": "load", "setting": state.get("mode", mode), "state": word, "files": files}
    return {**row, "said": state["said"]} if state.get("said") else row


def _before_it_opens(project: Project) -> str:
    files = load_gate.context_files(project.world(), project.settings)
    folder = project.settings.gate("load_gate")["folder"]
    if not files:
        return f"nothing to do: no context files in {folder}"
    return f"{count(len(files), 'file')} due with the next prompt or session start"


def _reread(window: Window, project: Project) -> dict[str, Any]:
    """What the window was at its last compaction; before one, what it is as far as can be told from here."""
    state = reread_gate.state_of(window)
    if state:
        return _after_compaction(window, state)
    world = project.world()
    event = Event("stopping", window.session, transcript=window.transcript)
    try:
        event.notes["role"] = project.store.noted((window.session, MAIN), "role")
    except CorruptState as error:
        event.notes["role"] = {"problem": str(error)}
    role = role_of(event, window, world, project.settings)
    files, own = targets(role, world, project.settings)
    word = f"{count(len(files), 'file')} needed again after a compaction"
    if role.is_regular:
        word = "does nothing in a regular session"
    elif not files:
        word = f"none of its files exists: {', '.join(role.values.get('targets', ())) or 'no targets'}"
    brings_hooks = event.notes["role"] is not None and event.notes["role"].get("hooks") is True
    if not role.is_regular and not needed(project.settings).every and not brings_hooks:
        word += "; only Write, Agent, Task and AskUserQuestion calls can be held until `engine install` is run"
    rows = [
        {
            "file": path,
            "state": "read by the agent after a compaction" if path in own else "delivered after a compaction",
        }
        for path in files
    ]
    return {
        "gate": "compaction", "setting": f"{role.name} ({role.how})", "state": role.problem or word, "files": rows,
        "role": role.name,
    }  # fmt: skip


def _after_compaction(window: Window, state: dict[str, Any]) -> dict[str, Any]:
    late = reread_gate.missing(state, window)
    rows = [{"file": path, "state": "on its way" if path in late else "in the window"} for path in state["given"]]
    rows += [{"file": path, "state": "read"} for path in state["read"]]
    rows += [{"file": path, "state": "could not be read"} for path in state["tried"]]
    rows += [{"file": path, "state": "not read"} for path in state["left"]]
    open_now = state["state"] == reread_gate.ARMED and (state["left"] or late)
    word = (
        "holds the next message"
        if open_now
        else f"the agent was told {state['said']}"
        if state.get("said")
        else "the agent did not have to be told"
    )
    how = str(window.flags.get("role_by", "")) or "recorded"
    setting = f"{state['role']} ({how})"
    return {"gate": "compaction", "setting": setting, "state": word, "files": rows, "role": state["role"]}


def _resume(window: Window, project: Project) -> dict[str, Any]:
    row: dict[str, Any] = {"gate": "resume", "setting": project.settings.gate("resume")["mode"], "files": []}
    mode, taken = window.flags.get(MODE), window.flags.get(TAKEN_UP)
    if isinstance(mode, dict):
        word = f"not resumed: {mode.get('error') or mode.get('reason')}"
        if mode.get("active"):
            word = f"resumed {mode['project_id']} (confidence {mode['confidence']})"
        files = [{"file": line, "state": "not delivered"} for line in mode.get("problems", ())]
        return {**row, "state": word, "files": files, "resume_mode": mode}
    return {**row, "state": f"received the handover of {taken}" if taken else "nothing was resumed here"}


def _show(screen: Console, data: dict[str, Any]) -> None:
    screen.print(f"[bold]{safe(data['window'])}[/]")
    for gate in data["gates"]:
        labelled(screen, f"[bold]{gate['gate']}[/] [dim]{safe(str(gate['setting']))}[/]  ", safe(gate["state"]))
        for name, words in gate.get("said", {}).items():
            labelled(screen, f"  the agent reported as {name}: ", safe(words) or "nothing")
        if gate["files"]:
            rows = table("file|p", "state|n")
            for one in gate["files"]:
                rows.add_row(short(one["file"], data["project"]), safe(one["state"]))
            screen.print(rows)
