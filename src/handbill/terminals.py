"""Two clients on one session are two windows: neither sees what the other was given.

Both write to one transcript, so each window notes which rows are its own.
"""

from __future__ import annotations

from handbill.core.window import OWN_ROWS, SHARED
from handbill.errors import HandbillError
from handbill.evidence import mark_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.core.window import Window
    from handbill.turn import Turn


def window_of_terminal(turn: Turn, first: Window) -> Window | None:
    """The window of this event's client; `first` is the one of another process."""
    event = turn.event
    key = event.window
    event.terminal = f"~{event.client}"
    second = turn.store.read(event.window)
    if second is None and not turn.world.is_running(first.client):
        event.terminal = ""  # the usual case: the first one has ended, and this one goes on with its session
        return first
    if second is None:
        size = max(turn.world.size(event.transcript), 0)
        try:
            turn.store.update(key, lambda window: (_shared(window, size), None))
        except HandbillError as error:
            turn.trace(f"the window of the first terminal cannot be marked: {error}")
    return second


def _shared(window: Window | None, size: int) -> Window | None:
    """Note that another client may have written what follows byte `size` of the transcript."""
    if window is None:
        return None
    twin = window.copy()
    twin.flags[SHARED] = size
    return twin


def note_own_rows(turn: Turn, window: Window) -> None:
    """The newest prompt or call, and the one before: a prompt that was taken back is in no transcript."""
    mark = mark_of(turn.event)
    if SHARED not in window.flags:  # the second one, at its start
        turn.plan.flags[SHARED] = max(turn.world.size(turn.event.transcript), 0)
    if mark:
        turn.plan.flags[OWN_ROWS] = [mark, *window.flags.get(OWN_ROWS, ())][:2]
