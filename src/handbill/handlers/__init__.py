"""The table of handlers: which kinds of events each one handles, in order.

Gates are declared in `gates`. A handler's module is imported only for an event that it may act on.
Its `applies` function checks this without the module.
"""

from __future__ import annotations

from handbill import event as ev
from handbill import gates
from handbill.ledger.window import UNDELIVERABLE
from handbill.plan import WARNING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Protocol

    from handbill.event import Event, Inbox
    from handbill.gates import Applies, Gate
    from handbill.ledger.window import Window
    from handbill.plan import Plan
    from handbill.settings import Settings
    from handbill.world import World

    Row = tuple[str, tuple[str, ...], Applies | None]

    class Handle(Protocol):
        def __call__(self, event: Event, inbox: Inbox, window: Window, world: World, settings: Settings) -> Plan | None:
            """Return what the handler wants done for this event, or None. Change nothing."""


def _start(event: Event, inbox: Inbox, window: Window) -> bool:
    return gates.is_new_epoch(window)


def _skill(event: Event, inbox: Inbox, window: Window) -> bool:
    return bool(
        event.skill
        or any(notice["verb"] != WARNING for notice in inbox.notices)
        or (window.work.get("skill") and window.flags.get("work") != window.epoch)
        or any(tool.does == ev.LOADS_SKILL for tool in event.tools)
    )


def _warnings(event: Event, inbox: Inbox, window: Window) -> bool:
    return any(notice["verb"] == WARNING and notice.get("for") == list(event.window) for notice in inbox.notices)


def _tasks(event: Event, inbox: Inbox, window: Window) -> bool:
    return bool(inbox.tasks)


def _directives(event: Event, inbox: Inbox, window: Window) -> bool:
    return any(tool.files or tool.paths for tool in event.tools)


def _freshness(event: Event, inbox: Inbox, window: Window) -> bool:
    if event.kind != ev.TOOL_BATCH_FINISHED:
        return bool(window.files) or UNDELIVERABLE in window.flags
    if event.agent_id and UNDELIVERABLE in window.flags:
        return True
    return any(path in window.files for tool in event.tools for path in (*tool.files, *tool.paths))


def _delegates(event: Event, inbox: Inbox, window: Window) -> bool:
    return any(tool.does == ev.DELEGATES for tool in event.tools)


def row_of(gate: Gate) -> Row:
    return gate.name, gate.on, gate.applies


_TURNS = (ev.SESSION_STARTED, ev.PROMPT_SUBMITTED, ev.SKILL_EXPANDED, ev.TOOL_BATCH_FINISHED)
# Rows of (module, kinds of events, `applies`). They are plain tuples, because creating a class
# takes longer than using the whole table.
HANDLERS: tuple[Row, ...] = (
    ("standards", (*_TURNS, ev.SUBAGENT_STARTED), _start),
    ("record_role", (ev.COMPACTING,), None),
    row_of(gates.RESUME),
    row_of(gates.REREAD),
    row_of(gates.LOAD),
    ("skill", _TURNS, _skill),
    ("subagent", (ev.PROMPT_SUBMITTED, ev.TOOL_BATCH_FINISHED, ev.SUBAGENT_STARTED), _tasks),
    ("directives", _TURNS, _directives),
    ("freshness", (ev.SESSION_STARTED, ev.PROMPT_SUBMITTED, ev.TOOL_BATCH_FINISHED), _freshness),
    ("warnings", _TURNS, _warnings),
    row_of(gates.WRITE),
    ("delegation", (ev.TOOL_CALLED,), _delegates),
    ("host_files", (ev.INSTRUCTIONS_LOADED,), None),
)


def handlers_for(event: Event, inbox: Inbox, window: Window) -> Iterator[str]:
    """Yield the names of the handlers that may act on this event, in order."""
    for name, kinds, applies in HANDLERS:
        if event.kind in kinds and (applies is None or applies(event, inbox, window)):
            yield name


def looks_at(name: str, kind: str) -> bool:
    """Whether this handler handles this kind of event."""
    return any(known == name and kind in kinds for known, kinds, _ in HANDLERS)


def handler(name: str) -> Handle:
    module = __import__(f"handbill.handlers.{name}", fromlist=("handle",))
    found: Handle = module.handle
    return found
