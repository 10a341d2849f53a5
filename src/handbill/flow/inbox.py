"""Notes about a window for this kind of event: its role, the work to resume, and a handover."""

from __future__ import annotations

from handbill.errors import CorruptState, HandbillError
from handbill.event import COMPACTING, MAIN, SESSION_STARTED
from handbill.ledger.window import HANDOVER_PAGE, TAKEN_UP
from handbill.paths import name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handbill.flow.event_context import EventContext
    from handbill.ledger.window import Window

# the session that `engine worker launch` started; `/clear` starts another one
LAUNCHED_VARIABLE = "HANDBILL_LAUNCHED"
ROLE, RESUME, CALLS = "role", "resume", "calls"
_CALLS = 4 << 20  # bytes at the end of a transcript that show what the agent works on


def recall(context: EventContext, window: Window) -> None:
    event, store = context.event, context.store
    if event.kind == COMPACTING or window.epoch or event.source == "resume":
        asked = ((ROLE, (event.session_id, MAIN)), (RESUME, event.window))
        for kind, key in asked[:1] if event.kind == COMPACTING else asked:
            try:
                context.inbox.notes[kind] = store.noted(key, kind)
            except CorruptState as error:
                context.inbox.notes[kind] = {"problem": str(error)}
    state = context.inbox.notes.get(RESUME)
    if event.source == "resume" and isinstance(state, dict) and isinstance(state.get("offset"), int):
        content = context.facts.content if context.facts is not None else None
        context.inbox.notes["compacted"] = content is not None and content.boundary >= state["offset"]
    projects = context.settings.resume_folder(context.world.project) if event.kind == COMPACTING else ""
    if projects and context.world.is_dir(projects):
        context.inbox.notes[CALLS] = context.host.calls(event, context.world, _CALLS)
    begins = event.kind == SESSION_STARTED and event.source in ("startup", "clear")
    if event.window[1] == MAIN and (begins or _may_have_failed(context, window)):
        try:
            own = store.noted((event.session_id, MAIN), ROLE) or _launched(context)
            told = context.world.environ.get("HANDBILL_ROLE") or own
            if not told:  # a launched agent has its own work
                context.inbox.handover = store.take_handover(event.session_id, again=not begins) or {}
        except (HandbillError, OSError) as error:
            context.trace(f"the handover of an earlier agent cannot be read: {error}")


def _may_have_failed(context: EventContext, window: Window) -> bool:
    """Whether the hook of the start may have taken a handover and failed before delivering it."""
    given = TAKEN_UP in window.flags or any(name(path).startswith(f"{HANDOVER_PAGE}-") for path in window.files)
    return context.asked.missed and not given


def _launched(context: EventContext) -> dict[str, Any] | None:
    """Return the role note of a launched worker after `/clear`: a new session with the same
    contract."""
    event, store = context.event, context.store
    first = context.world.environ.get(LAUNCHED_VARIABLE, "")
    if event.source != "clear" or not first or first == event.session_id or not first.replace("-", "").isalnum():
        return None
    note = store.noted((first, MAIN), ROLE)
    if note is not None:
        store.note((event.session_id, MAIN), ROLE, note)
        context.inbox.notes[ROLE], context.inbox.notes["launched"] = note, True
    return note
