"""Of the files that are wanted after a compaction: which may still be in the window, which are surely gone."""

from __future__ import annotations

from handbill.event import SESSION_STARTED
from handbill.ledger.claim import IN_ORDER
from handbill.ledger.host_files import doubtful
from handbill.ledger.window import NEVER_IN_A_TAIL, RESTORED, see

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.flow.event_context import Turn
    from handbill.ledger.window import Window


class Remains:
    """`doubtful`: the host may restore them, its next records will tell. `restored`: it did. `gone`: sent at once."""

    __slots__ = ("doubtful", "gone", "restored")

    def __init__(self, turn: Turn, current: Window) -> None:
        self.doubtful: list[str] = []
        self.restored: list[str] = []
        asked = _asked_by_gates(turn, current)
        if turn.event.kind == SESSION_STARTED and turn.event.source == "compact":
            self.doubtful = turn.host.may_restore(turn.event, turn.world, asked) if asked else []
        else:
            content = turn.facts.content if turn.facts is not None else None
            shown = content.files if content is not None and content.boundary >= 0 else ()
            self.restored = [path for path in asked if path in shown]
        self.gone = [path for path in _gone(turn, current) if path not in self.doubtful]

    def noted_in(self, window: Window, now: float) -> Window:
        after = window
        for path in self.doubtful:
            after = doubtful(after, path, "wanted since the compaction", now)
        for path in self.restored:
            after = see(after, path, "", RESTORED, now) if path not in after.files else after
        if any(path in after.carried for path in self.gone):
            after = after.copy()
            after.carried = {path: record for path, record in after.carried.items() if path not in self.gone}
        return after


def _asked_by_gates(turn: Turn, current: Window) -> list[str]:
    wanted = [want.path for want in turn.plan.wants if not want.text and want.reason.startswith(IN_ORDER)]
    return [path for path in [*wanted, *turn.plan.awaited] if not current.holds(path)]


def _gone(turn: Turn, current: Window) -> list[str]:
    """Wanted files that a compaction has surely taken: the conversation had gone on since they were delivered.

    The others may be in the messages that it kept; the audit at a later event will tell.
    """
    if not current.carried or turn.event.kind != SESSION_STARTED or current.flags.get("kept_unknown"):
        return []
    wanted = {*(want.path for want in turn.plan.wants), *current.pending}
    batches = {
        path: str(current.carried[path]["batch"])
        for path in wanted
        if path in current.carried and current.carried[path]["via"] not in NEVER_IN_A_TAIL
    }
    if not batches:
        return []
    content = turn.host.window_now(turn.event, turn.world, window=current)
    return [path for path, batch in batches.items() if content is not None and content.went_on(batch)]
