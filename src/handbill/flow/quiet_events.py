"""Events that deliver nothing: the ledger goes on to its next state, or notes what a later event has to settle."""

from __future__ import annotations

from handbill.errors import HandbillError
from handbill.event import MAIN, TOOL_BATCH_FINISHED
from handbill.ledger import epochs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from handbill.event import Event
    from handbill.flow.event_context import Answer, Turn
    from handbill.ledger.window import Window
    from handbill.store.api import Store


def acknowledging(event: Event, store: Store, answer: Answer) -> Callable[[], None]:
    """Where the host keeps no record of injections, that we got as far as printing is our only proof."""
    return lambda: store.update(event.window, lambda window: (epochs.printed(window, answer.number), None))


def remember(turn: Turn) -> None:
    """Nothing is delivered now; note what a later event has to settle."""
    if turn.facts is not None and turn.facts.chapter == epochs.SUSPECT:
        for agent in {MAIN, *turn.facts.agents}:
            key = (turn.event.session_id, agent) if agent != MAIN else turn.event.window
            offset = max(turn.world.size(turn.host.transcript_of(turn.event, agent)), 0)
            turn.store.update(key, _suspicion(offset))
    elif turn.event.kind == TOOL_BATCH_FINISHED:
        turn.store.note_missed(turn.event.window)  # the next batch does not wait in vain, and looks at these calls


def keep(turn: Turn) -> None:
    """The ledger goes on to its next state, and nothing is delivered."""
    from handbill.flow.delivery import advance

    turn.store.update(turn.event.window, lambda window: (advance(turn, window), None))


def _suspicion(offset: int) -> Callable[[Window | None], tuple[Window | None, None]]:
    return lambda window: (epochs.suspected(window, offset), None)


def write_down(turn: Turn) -> None:
    """What a later event must know, or no longer needs to."""
    event, store = turn.event, turn.store
    try:
        if turn.plan.taken:
            store.settle_notices(event.session_id, turn.plan.taken)
        for kind, value in turn.plan.keep.items():
            store.note(event.window, kind, value)
    except (
        OSError,
        HandbillError,
    ) as error:  # taken once more, or not known later: that must not cost what was claimed
        turn.trace(f"notes could not be written: {error}")
