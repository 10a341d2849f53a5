"""Sort the files that are wanted after a compaction: possibly still in the window, or surely
gone."""

from __future__ import annotations

from handbill.event import SESSION_STARTED
from handbill.ledger.claim import IN_ORDER
from handbill.ledger.host_files import doubtful
from handbill.ledger.window import NEVER_IN_A_TAIL, RESTORED, see

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.flow.event_context import EventContext
    from handbill.ledger.window import Window


class Remains:
    """The files wanted after a compaction.

    `doubtful`: the host may restore them, and its next records will show whether it does.
    `restored`: it did. `gone`: they are sent at once.
    """

    __slots__ = ("doubtful", "gone", "restored")

    def __init__(self, context: EventContext, current: Window) -> None:
        self.doubtful: list[str] = []
        self.restored: list[str] = []
        asked = _asked_by_gates(context, current)
        if context.event.kind == SESSION_STARTED and context.event.source == "compact":
            self.doubtful = context.host.may_restore(context.event, context.world, asked) if asked else []
        else:
            content = context.facts.content if context.facts is not None else None
            shown = content.files if content is not None and content.boundary >= 0 else ()
            self.restored = [path for path in asked if path in shown]
        self.gone = [path for path in _gone(context, current) if path not in self.doubtful]

    def noted_in(self, window: Window, now: float) -> Window:
        after = window
        for path in self.doubtful:
            after = doubtful(after, path, "wanted since the compaction", now)
        for path in self.restored:
            after = see(after, path, "", RESTORED, now) if path not in after.files else after
        if any(path in after.from_last_epoch for path in self.gone):
            after = after.copy()
            after.from_last_epoch = {
                path: record for path, record in after.from_last_epoch.items() if path not in self.gone
            }
        return after


def _asked_by_gates(context: EventContext, current: Window) -> list[str]:
    wanted = [want.path for want in context.plan.wants if not want.text and want.reason.startswith(IN_ORDER)]
    return [path for path in [*wanted, *context.plan.awaited] if not current.holds(path)]


def _gone(context: EventContext, current: Window) -> list[str]:
    """Return wanted files that are surely gone: the conversation went on after their delivery.

    The others may be in the messages that the compaction kept; the audit at a later event shows
    that.
    """
    if not current.from_last_epoch or context.event.kind != SESSION_STARTED or current.flags.get("kept_unknown"):
        return []
    wanted = {*(want.path for want in context.plan.wants), *current.pending}
    batches = {
        path: str(current.from_last_epoch[path]["batch"])
        for path in wanted
        if path in current.from_last_epoch and current.from_last_epoch[path]["via"] not in NEVER_IN_A_TAIL
    }
    if not batches:
        return []
    content = context.host.window_now(context.event, context.world, window=current)
    return [path for path, batch in batches.items() if content is not None and content.went_on(batch)]
