"""Two clients on one session have two windows: neither sees the deliveries to the other.

Both write to one transcript, so each window notes which rows are its own.
"""

from __future__ import annotations

from handbill.errors import HandbillError
from handbill.event import MAIN
from handbill.ledger.window import JOINED, OWN_ROWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.flow.event_context import EventContext
    from handbill.ledger.window import Window
    from handbill.store.api import Key

_MOST_JOINED, _MOST_MARKS = 7, 8


def own_window(context: EventContext, first: Window | None) -> Window | None:
    """Return the window of this event's client.

    `first` has the session's name, and may be the window of another process.
    """
    event, session = context.event, context.event.window
    own = first
    if first is None or first.client not in (0, event.client):
        event.terminal = f"~{event.client}"
        own = context.store.read(event.window)
    if own is None and (first is None or not context.world.is_running(first.client)):
        # usually the first client has ended, and this one continues its session
        event.terminal = ""
        own = first
    size = max(context.world.size(event.transcript), 0)
    # its rows may follow those of any client
    if own is None or event.source == "resume" or own.client != event.client:
        _tell(context, _others(context, session, first), size)
    elif own is not first and first is not None and JOINED not in first.flags:
        _tell(context, [session], size)  # its ledger was lost and rebuilt
    return own


def _others(context: EventContext, session: Key, first: Window | None) -> list[Key]:
    """Return the windows of other running clients on this session."""
    named = [(key, key[0].removeprefix(f"{session[0]}~")) for key in context.store.known() if key[1] == MAIN]
    found = [(key, int(process)) for key, process in named if process.isdecimal()]
    if first is not None:
        found.append((session, first.client))
    return [key for key, process in found if key != context.event.window and context.world.is_running(process)]


def _tell(context: EventContext, keys: list[Key], size: int) -> None:
    for key in keys:
        try:
            context.store.update(key, lambda window: (_joined(window, size), None))
        except HandbillError as error:
            context.trace(f"the window {key[0]} cannot be marked: {error}")


def _joined(window: Window | None, size: int) -> Window | None:
    """Note that another client may have written what follows byte `size` of the transcript."""
    known = window.flags.get(JOINED, ()) if window is not None else ()
    if window is None or size in known:
        return window
    after = window.copy()
    after.flags[JOINED] = [*known[:_MOST_JOINED], size]
    return after


def note_own_rows(context: EventContext, window: Window) -> None:
    """Note the window's newest prompts and calls. A dropped prompt has no row, so several are
    kept."""
    content = context.facts.content if context.facts is not None else None
    known = window.flags.get(OWN_ROWS, ())
    marks = [context.event.mark]
    if content is not None:
        # for a window that is compacted repeatedly without a prompt
        marks.append(content.boundary_row)
    if JOINED not in window.flags:  # the second client, at its start
        context.plan.flags[JOINED] = [max(context.world.size(context.event.transcript), 0)]
        marks.append(content.leaf if content is not None else "")
    new = [mark for mark in marks if mark and mark not in known]
    if new:
        context.plan.flags[OWN_ROWS] = [*new, *known][:_MOST_MARKS]
