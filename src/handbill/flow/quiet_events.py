"""Events that deliver nothing: update the ledger, or note what a later event must settle."""

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
    """Return a function that notes that we printed: our only proof where injections are not
    recorded."""
    return lambda: store.update(event.window, lambda window: (epochs.printed(window, answer.number), None))


def remember(context: EventContext) -> None:
    """Note what a later event must settle; nothing is delivered now."""
    if context.facts is not None and context.facts.chapter == epochs.SUSPECT:
        for agent in {MAIN, *context.facts.agents}:
            key = (context.event.session_id, agent) if agent != MAIN else context.event.window
            offset = max(context.world.size(context.host.transcript_of(context.event, agent)), 0)
            context.store.update(key, _suspicion(offset))
    elif context.event.kind == TOOL_BATCH_FINISHED:
        # The next batch uses any record, and checks these calls.
        context.store.note_missed(context.event.window)


def keep(context: EventContext) -> None:
    """Store the ledger's next state without a delivery."""
    from handbill.flow.delivery import advance

    context.store.update(context.event.window, lambda window: (advance(context, window), None))


def _suspicion(offset: int) -> Callable[[Window | None], tuple[Window | None, None]]:
    return lambda window: (epochs.suspected(window, offset), None)


def write_down(context: EventContext) -> None:
    """Store what a later event must know, and remove notices that are handled."""
    event, store = context.event, context.store
    try:
        if context.plan.settled:
            store.settle_notices(event.session_id, context.plan.settled)
        for kind, value in context.plan.save_notes.items():
            store.note(event.window, kind, value)
    except (
        OSError,
        HandbillError,
        # a notice handled twice, or a missing note, must not cost the files that were claimed
    ) as error:
        context.trace(f"notes could not be written: {error}")


def settle_marks(context: EventContext, facts: Findings) -> None:
    """Clear the mark of missed batches that this event handled, or set it for the next batch."""
    unseen = facts.missed and not facts.missed_mark and not looks_at("directives", context.event.kind)
    if unseen or facts.dropped_mention:
        context.store.note_missed(context.event.window)
    elif facts.missed_mark:
        context.store.clear_missed(context.event.window)
