"""After a compaction, put the files that a session's role needs back into the window.

The role was recorded just before (`record_role`), and its files are delivered at the start that
follows. Some files do not fit, or the agent must read them itself. For those, the gate holds the
calls of the first message once. If a turn makes no calls, the gate prevents it from ending once.
The gate does nothing in regular sessions.
"""

from __future__ import annotations

from handbill import gates
from handbill.event import MAIN, STOPPING, TOOL_BATCH_FINISHED, TOOL_CALLED
from handbill.gates import ARMED, DONE, REREAD, TOLD
from handbill.ledger.window import has
from handbill.library.roles import reachable_roles, role_of, targets
from handbill.plan import BLOCK, Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.event import Event, Inbox
    from handbill.gates import State
    from handbill.ledger.window import Window
    from handbill.library.needs import Needs
    from handbill.settings import Settings
    from handbill.world import World


# Seconds within which the other calls of a held message arrive. After that, nothing is held.
_ONE_MESSAGE = 10.0


def handle(event: Event, inbox: Inbox, window: Window, world: World, settings: Settings) -> Plan | None:
    if window.agent != MAIN:
        return None  # A role belongs to the whole session. Subagents have their own tasks.
    state = REREAD.state_of(window)
    if event.kind == TOOL_CALLED:
        return _held(event, state, window, world, settings)
    if event.kind == STOPPING:
        return _at_rest(event, state, window, world, settings)
    if (window.epoch or inbox.notes.get("launched")) and not state:
        return _again(inbox, window, world, settings)
    return _followed(event, state, window, world, settings) if event.kind == TOOL_BATCH_FINISHED else None


def _is_rewound(window: Window) -> bool:
    return bool(window.flags.get("rewound") == window.epoch)


def missing(state: State, window: Window) -> list[str]:
    """Return the files to be delivered that have not arrived yet because the start had no room.

    Files that may be in the messages that the compaction kept are left out: the next event shows
    whether they are there.
    """
    return [path for path in state.get("given", ()) if not has(window, path) and path not in window.from_last_epoch]


def _again(inbox: Inbox, window: Window, world: World, settings: Settings) -> Plan | None:
    role = role_of(inbox, window, world, settings)
    plan = Plan()
    files, own = targets(role, world, settings)
    if role.problem:
        plan.notes.append(role.problem)
    if role.is_regular or not files:
        return plan or None
    from handbill.library.bundle import Bundle
    from handbill.library.messages import bullets, say

    bundle = Bundle(files, world, settings.gate("reread_gate")["budget"], role.allowed_paths)
    bundle.leave(own)
    if bundle.given or bundle.unusable:
        facts = {"role": role.name, "count": bundle.count, "given": len(bundle.given)}
        kind = "rewound" if _is_rewound(window) else "given" if window.epoch else "cleared"
        text = [say("reread_gate", kind, world, settings, files=bundle.names(world), **facts)] if bundle.given else []
        if bundle.unusable:
            text.append(say("reread_gate", "unusable", world, settings, unusable=bullets(bundle.refusals())))
            plan.notes += [f"a file of the role {role.name}: {line}" for line in bundle.refusals()]
        plan.say("role", "\n\n".join(text), f"role {role.name}")
    bundle.want(plan, f"role {role.name}")
    plan.awaited += bundle.left
    plan.allowed_paths += [path for path in role.allowed_paths if path in bundle.given]
    state = gates.armed(window, bundle.left, role=role.name, at=0.0, given=bundle.given)
    # Delivered files may still be on their way.
    plan.flags[REREAD.flag] = {**state, "state": ARMED}
    return plan


def _is_listed(window: Window, world: World) -> bool:
    """Whether the list was sent before this compaction, in a message that the compaction kept."""
    pages = tuple(f"{folder}/reread-" for folder in world.process.page_folders)
    return any(path.startswith(pages) and window.holds(path) for path in window.files)


def _facts(state: State, paths: list[str]) -> dict[str, object]:
    from handbill.library.messages import bullets
    from handbill.text.blocks import shown

    return {"role": state["role"], "count": len(paths), "files": bullets(map(shown, paths))}


def _held(event: Event, state: State, window: Window, world: World, settings: Settings) -> Plan | None:
    if not gates.is_open(state):
        return None
    from handbill.library.messages import say
    from handbill.library.reading import reads_only
    from handbill.text.blocks import HELD

    state = {**state, "left": gates.left(state, window)}
    late = missing(state, window)
    passed = state["state"] == TOLD and world.now() - state["at"] > _ONE_MESSAGE
    open_files = [*state["left"], *late] if state["state"] == ARMED else [*state["left"], *state["given"]]
    if passed or not open_files or all(reads_only(tool, open_files, world) for tool in event.tools):
        return None
    plan = Plan()
    plan.gate(BLOCK, f"{HELD} {say('reread_gate', 'hold', world, settings, role=state['role'])}")
    # Of several calls made at once, one carries the list and the files; all of them wait.
    plan.hold_anyway = True
    if state["state"] == ARMED:
        if state["left"] and not _is_listed(window, world):
            text = say("reread_gate", "list", world, settings, **_facts(state, state["left"]))
            plan.say("reread", text, f"role {state['role']}")
        # The reason for a denial may be long, so the files that did not fit at the start are added
        # here.
        for path in late:
            plan.want(path, f"role {state['role']}")
        plan.flags[REREAD.flag] = gates.told(state, "when its first message was held", world.now())
    return plan


def _at_rest(event: Event, state: State, window: Window, world: World, settings: Settings) -> Plan | None:
    """Prevent a turn without any calls from ending (the failsafe)."""
    late = missing(state, window)
    paths = [*gates.left(state, window), *late]
    if state.get("state") != ARMED or event.source == "again" or not paths:
        return None
    from handbill.library.messages import say

    plan = Plan()
    plan.gate(BLOCK, say("reread_gate", "stop", world, settings, **_facts(state, paths)))
    plan.unwanted += late  # The agent reads these files now, so they must not be delivered later.
    given = [path for path in state["given"] if path not in late]
    plan.flags[REREAD.flag] = {
        **state, "left": paths, "given": given, "state": DONE, "said": "at the end of a turn without calls",
    }  # fmt: skip
    return plan


def _followed(event: Event, state: State, window: Window, world: World, settings: Settings) -> Plan | None:
    """Update the state after a message: it was held, read the files, or could not be held."""
    from handbill.library.messages import say
    from handbill.library.reading import unheld

    plan = Plan()
    after = gates.followed(state, state["left"], event, window, world)
    left = after["left"]
    after["state"] = state["state"] if left or missing(state, window) else DONE
    if state["state"] != ARMED:
        after["state"] = DONE
    elif unheld(event, [*state["left"], *state["given"]], world):
        after["state"] = DONE
        # The call was not held: its tool is not registered, or a hook died. List the files now.
        if left and not _is_listed(window, world):
            text = say("reread_gate", "late", world, settings, **_facts(state, left))
            plan.say("reread", text, f"role {state['role']}")
            after["said"] = "with the first results"
    if after != state:
        plan.flags[REREAD.flag] = after
    return plan or None


def needs(world: World, settings: Settings, *, exact: bool = False) -> Needs:
    """Return the gate's needs here. `engine worker launch` registers its workers' own hooks."""
    from handbill.library.bundle import within
    from handbill.library.needs import EVERY, Needs

    roles = reachable_roles(world, settings)
    budget = settings.gate(REREAD.name)["budget"]
    sizes = [within(budget, targets(role, world, settings)[0], world) for role in roles]
    return Needs(max(sizes, default=0), (EVERY,) if roles else ())
