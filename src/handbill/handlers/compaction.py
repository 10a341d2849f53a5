"""After a compaction: what a session's role works by is in the window again before the agent acts.

The role was recorded just before (`role`); its files are delivered with the start that follows. What does
not fit, or must be read by the agent itself, holds the first message's calls once; a turn without calls is
kept from ending once. Regular sessions: nothing.
"""

from __future__ import annotations

from handbill.core.event import MAIN, STOPPING, TOOL_BATCH_FINISHED, TOOL_CALLED
from handbill.core.plan import BLOCK, Plan
from handbill.handlers.roles import role_of, targets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handbill.config import Config
    from handbill.core.event import Event
    from handbill.core.window import Window
    from handbill.world import World

    State = dict[str, Any]

FLAG = "reread"
ARMED, TOLD, DONE = "armed", "told", "done"
_ONE_MESSAGE = 10.0  # seconds in which the other calls of a held message come; then nothing is held any more


def handle(event: Event, window: Window, world: World, config: Config) -> Plan | None:
    if window.agent != MAIN:
        return None  # a role is of the whole session, whose subagents have their own tasks
    state = state_of(window)
    if event.kind == TOOL_CALLED:
        return _held(event, state, world, config)
    if event.kind == STOPPING:
        return _at_rest(event, state, world, config)
    if window.epoch and not state:
        return _again(event, window, world, config)
    return _followed(event, state, world, config) if event.kind == TOOL_BATCH_FINISHED else None


def state_of(window: Window) -> State:
    """What this window has to read again; {} before it was looked at in this epoch."""
    found = window.flags.get(FLAG)
    return found if isinstance(found, dict) and found.get("epoch") == window.epoch else {}


def _again(event: Event, window: Window, world: World, config: Config) -> Plan | None:
    role = role_of(event, window, world, config)
    plan = Plan()
    if role.problem:
        plan.notes.append(role.problem)
    files, own = targets(role, world, config)
    if role.is_regular or not files:
        return plan or None
    from handbill.core.pack import shown
    from handbill.handlers.bundle import Bundle
    from handbill.handlers.wording import bullets, say

    permits = [role.dispatch] if role.dispatch else []
    bundle = Bundle(files, window, world, config.gate("compaction")["budget"], permits)
    bundle.leave(own)
    if bundle.given or bundle.unusable:
        facts = {"role": role.name, "count": bundle.count, "given": len(bundle.given)}
        text = [say("compaction", "given", world, config, files=bullets(map(shown, bundle.given)), **facts)]
        if bundle.unusable:
            text.append(say("compaction", "unusable", world, config, unusable=bullets(bundle.refusals())))
            plan.notes += [f"a file of the role {role.name}: {line}" for line in bundle.refusals()]
        plan.say("role", "\n\n".join(text), f"role {role.name}")
    bundle.want(plan, f"role {role.name}")
    plan.permits += [path for path in permits if path in bundle.given]
    plan.flags["role"] = role.name
    if bundle.left:
        plan.flags[FLAG] = {"epoch": window.epoch, "role": role.name, "left": bundle.left, "state": ARMED, "at": 0.0}
    return plan


def _facts(state: State) -> dict[str, object]:
    from handbill.core.pack import shown
    from handbill.handlers.wording import bullets

    return {"role": state["role"], "count": len(state["left"]), "files": bullets(map(shown, state["left"]))}


def _held(event: Event, state: State, world: World, config: Config) -> Plan | None:
    from handbill.core.pack import HELD
    from handbill.handlers.reading import reads_only
    from handbill.handlers.wording import say

    now = world.now()
    late = state.get("state") == TOLD and now - state["at"] > _ONE_MESSAGE
    if state.get("state") not in (ARMED, TOLD) or late or all(reads_only(tool, state["left"]) for tool in event.tools):
        return None
    plan = Plan()
    plan.gate(BLOCK, f"{HELD} {say('compaction', 'hold', world, config, role=state['role'])}")
    plan.firm = True  # of several calls made at once one carries the list, all wait
    if state["state"] == ARMED:
        plan.say("reread", say("compaction", "list", world, config, **_facts(state)), f"role {state['role']}")
        plan.flags[FLAG] = {**state, "state": TOLD, "at": now}
    return plan


def _at_rest(event: Event, state: State, world: World, config: Config) -> Plan | None:
    """The failsafe: a turn that made no call at all."""
    if state.get("state") != ARMED or event.source == "again":
        return None
    from handbill.handlers.wording import say

    plan = Plan()
    plan.gate(BLOCK, say("compaction", "stop", world, config, **_facts(state)))
    plan.flags[FLAG] = {**state, "state": DONE}
    return plan


def _followed(event: Event, state: State, world: World, config: Config) -> Plan | None:
    """A message is over: was it held, did it read, or could it not be held?"""
    if state.get("state") not in (ARMED, TOLD):
        return None
    from handbill.handlers.reading import paths_read, reads_only
    from handbill.handlers.wording import say

    plan = Plan()
    read = paths_read(event, state["left"], world, config)
    left = [path for path in state["left"] if path not in read]
    after = {**state, "left": left, "state": state["state"] if left else DONE}
    if state["state"] == TOLD:
        after["state"] = DONE
    elif left and not all(reads_only(tool, state["left"]) for tool in event.tools):
        # the hooks are registered for few tools, or one died: said now rather than not at all
        plan.say("reread", say("compaction", "list", world, config, **_facts(after)), f"role {state['role']}")
        after["state"] = DONE
    if after != state:
        plan.flags[FLAG] = after
    return plan or None
