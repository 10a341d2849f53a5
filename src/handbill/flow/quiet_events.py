"""Events that deliver nothing: the ledger goes on to its next state, or notes what a later event has to settle."""

from __future__ import annotations

from handbill.errors import HandbillError
from handbill.event import MAIN, TOOL_BATCH_FINISHED
from handbill.handlers import looks_at
from handbill.ledger import epochs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from handbill.event import Event
    from handbill.flow.event_context import Answer, EventContext
    from handbill.flow.findings import Findings
    from handbill.ledger.window import Window
    from handbill.store.api import Store


def acknowledging(event: Event, store: Store, answer: Answer) -> Callable[[], None]:
    """Where the host keeps no record of injections, that we got as far as printing is our only proof."""
    return lambda: store.update(event.window, lambda window: (epochs.printed(window, answer.number), None))


def remember(context: EventContext) -> None:
    """Nothing is delivered now; note what a later event has to settle."""
    if context.facts is not None and context.facts.chapter == epochs.SUSPECT:
        for agent in {MAIN, *context.facts.agents}:
            key = (context.event.session_id, agent) if agent != MAIN else context.event.window
            offset = max(context.world.size(context.host.transcript_of(context.event, agent)), 0)
            context.store.update(key, _suspicion(offset))
    elif context.event.kind == TOOL_BATCH_FINISHED:
        context.store.note_missed(
            context.event.window
        )  # the next batch does not wait in vain, and looks at these calls


def keep(context: EventContext) -> None:
    """The ledger goes on to its next state, and nothing is delivered."""
    from handbill.flow.delivery import advance

    context.store.update(context.event.window, lambda window: (advance(context, window), None))


def _suspicion(offset: int) -> Callable[[Window | None], tuple[Window | None, None]]:
    return lambda window: (epochs.suspected(window, offset), None)


def write_down(context: EventContext) -> None:
    """What a later event must know, or no longer needs to."""
    event, store = context.event, context.store
    try:
        if context.plan.settled:
            store.settle_notices(event.session_id, context.plan.settled)
        for kind, value in context.plan.save_notes.items():
            store.note(event.window, kind, value)
    except (
        OSError,
        HandbillError,
    ) as error:  # taken once more, or not known later: that must not cost what was claimed
        context.trace(f"notes could not be written: {error}")


def settle_marks(context: EventContext, facts: Findings) -> None:
    """Batches whose directories nobody looked at: made good now, or to be by the next batch."""
    unseen = facts.missed and not facts.missed_mark and not looks_at("directives", context.event.kind)
    if unseen or facts.dropped_mention:
        context.store.note_missed(context.event.window)
    elif facts.missed_mark:
        context.store.clear_missed(context.event.window)
