"""Which handlers look at which kind of event, in order.

A handler's module is imported only for an event that it may have something to say to: `applies` asks
what can be asked without it.
"""

from __future__ import annotations

from handbill import event as ev
from handbill.ledger.window import UNDELIVERABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from handbill.event import Event, Inbox
    from handbill.ledger.window import Window
    from handbill.plan import Plan
    from handbill.settings import Settings
    from handbill.world import World

    Asked = Callable[[Event, Inbox, Window], bool]

    class Handler(Protocol):
        def __call__(self, event: Event, inbox: Inbox, window: Window, world: World, settings: Settings) -> Plan | None:
            """What this reason wants for this event; None = no opinion. Changes nothing."""


HANDLERS: dict[str, tuple[str, ...]] = {
    ev.SESSION_STARTED: ("standards", "resume", "reread_gate", "load_gate", "skill", "directives", "freshness"),
    ev.SUBAGENT_STARTED: ("standards", "load_gate", "subagent"),
    ev.PROMPT_SUBMITTED: (
        "standards", "resume", "reread_gate", "load_gate", "skill", "subagent", "directives", "freshness",
    ),
    ev.SKILL_EXPANDED: ("standards", "resume", "reread_gate", "load_gate", "skill", "directives"),
    ev.TOOL_CALLED: ("load_gate", "reread_gate", "write_gate", "delegation"),
    ev.TOOL_BATCH_FINISHED: (
        "standards", "resume", "reread_gate", "load_gate", "skill", "subagent", "directives", "freshness",
    ),
    ev.COMPACTING: ("record_role", "resume"),
    ev.STOPPING: ("reread_gate",),
    ev.INSTRUCTIONS_LOADED: ("host_files",),
}  # fmt: skip


def _start(event: Event, inbox: Inbox, window: Window) -> bool:
    return window.flags.get("standards") != window.epoch


_SETTLED = ("done", "released")


def _load_gate(event: Event, inbox: Inbox, window: Window) -> bool:
    """With the window's start (again after a compaction), then as long as something of it is open."""
    state = window.flags.get("context")
    if event.kind == ev.SUBAGENT_STARTED or (event.kind != ev.TOOL_CALLED and _start(event, inbox, window)):
        return True
    if state is None or state.get("epoch") != window.epoch:
        return False
    if window.flags.get("awaits"):
        return event.kind != ev.TOOL_CALLED
    if state.get("state") in _SETTLED:
        return False
    if state.get("state") == "open":  # said; what is read of it now goes on record
        return any(path in state["files"] for tool in event.tools for path in (*tool.files, *tool.paths))
    return bool(event.tools)


def _compaction(event: Event, inbox: Inbox, window: Window) -> bool:
    if "compacted" in window.flags and event.kind != ev.TOOL_CALLED and _start(event, inbox, window):
        return window.flags.get("role") != "regular"  # as it was found just before the compaction
    if inbox.notes.get("launched"):
        return True
    state = window.flags.get("reread")
    if state is None or state.get("epoch") != window.epoch:
        return False
    if state.get("state") in ("armed", "told"):
        return True
    return any(path in state["left"] for tool in event.tools for path in (*tool.files, *tool.paths))  # late, but read


def _resume(event: Event, inbox: Inbox, window: Window) -> bool:
    if inbox.handover or "calls" in inbox.notes:
        return True
    if event.kind == ev.COMPACTING:
        return False  # nothing here can be resumed: its calls were not even looked for
    compacted = window.epoch > 0 and window.flags.get("rewound") != window.epoch
    return (compacted and _start(event, inbox, window)) or event.source == "resume"


def _skill(event: Event, inbox: Inbox, window: Window) -> bool:
    return bool(
        event.skill
        or inbox.notices
        or (window.work.get("skill") and window.flags.get("work") != window.epoch)
        or any(tool.does == ev.LOADS_SKILL for tool in event.tools)
    )


def _directives(event: Event, inbox: Inbox, window: Window) -> bool:
    return any(tool.files or tool.paths for tool in event.tools)


def _freshness(event: Event, inbox: Inbox, window: Window) -> bool:
    if event.kind != ev.TOOL_BATCH_FINISHED:
        return bool(window.files) or UNDELIVERABLE in window.flags
    if event.agent_id and UNDELIVERABLE in window.flags:
        return True
    return any(path in window.files for tool in event.tools for path in (*tool.files, *tool.paths))


def _calls(does: str) -> Asked:
    return lambda event, _, __: any(tool.does == does for tool in event.tools)


_ASKED: dict[str, Asked] = {
    "standards": _start,
    "load_gate": _load_gate,
    "reread_gate": _compaction,
    "resume": _resume,
    "skill": _skill,
    "subagent": lambda _, inbox, __: bool(inbox.tasks),
    "directives": _directives,
    "freshness": _freshness,
    "write_gate": _calls(ev.WRITES),
    "delegation": _calls(ev.DELEGATES),
}


def applies(name: str, event: Event, inbox: Inbox, window: Window) -> bool:
    asked = _ASKED.get(name)
    return asked is None or asked(event, inbox, window)


def handler(name: str) -> Handler:
    module = __import__(f"handbill.handlers.{name}", fromlist=("handle",))
    found: Handler = module.handle
    return found
