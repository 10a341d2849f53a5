"""How a window finds its own rows in a transcript to which a second client also writes."""

from __future__ import annotations

from handbill.ledger.epochs import BOUNDARY, DUE
from handbill.ledger.window import JOINED, OWN_ROWS, RESUMED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from handbill.ledger.window import Window

    Marks = Sequence[Collection[str]]


class OwnRows:
    """The data that identify a window's own rows.

    `marks`: ids of this window's prompts, calls or rows, the most reliable group first. `joined`:
    the bytes at which another client began to write. `compacted_at`: if this window was compacted
    after the first of them, the record of that is at or after this byte; -1: no compaction is
    known. `resumed_at`: the host's loader rebuilt the content before this byte.
    """

    __slots__ = ("compacted_at", "joined", "marks", "resumed_at")

    def __init__(
        self, marks: Marks = (), joined: Sequence[int] = (), compacted_at: int = -1, resumed_at: int = 0
    ) -> None:
        self.resumed_at = resumed_at
        self.marks = marks
        self.joined = joined
        self.compacted_at = compacted_at


def own_rows(window: Window | None, newest: Collection[str] = ()) -> OwnRows:
    """Return the data for `window`. `newest`: the prompt and the calls of the current event."""
    if window is None:
        return OwnRows((newest,))
    flags = window.flags
    joined = flags.get(JOINED, ())
    known = [
        at
        for at in (flags.get(BOUNDARY, -1), flags.get(DUE, -1), window.maybe_compacted_from)
        if at >= min(joined, default=0)
    ]
    marks = (newest, *([mark] for mark in flags.get(OWN_ROWS, ())))
    return OwnRows(marks, joined, min(known, default=-1), flags.get(RESUMED, 0))
