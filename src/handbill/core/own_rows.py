"""How a window finds its own rows in a transcript that a second client writes to as well."""

from __future__ import annotations

from handbill.core.epochs import BOUNDARY, DUE
from handbill.core.window import OWN_ROWS, SHARED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from handbill.core.window import Window

    Marks = Sequence[Collection[str]]


class OwnRows:
    """`marks`: ids of this window's prompts, calls or rows, most reliable group first. `shared_at`: from this byte on,
    another client may have written; -1: there is no other client. `compacted_at`: if this window was compacted, the
    record of it is at or after this byte; -1: no compaction is known."""

    __slots__ = ("compacted_at", "marks", "shared_at")

    def __init__(self, marks: Marks = (), shared_at: int = -1, compacted_at: int = -1) -> None:
        self.marks = marks
        self.shared_at = shared_at
        self.compacted_at = compacted_at


def own_rows(window: Window | None, newest: Collection[str] = ()) -> OwnRows:
    """`newest`: the prompt and the calls of the event at hand."""
    if window is None:
        return OwnRows((newest,))
    flags = window.flags
    shared_at = flags.get(SHARED, -1)
    known = [at for at in (flags.get(BOUNDARY, -1), flags.get(DUE, -1), window.suspect) if at >= shared_at]
    return OwnRows((newest, *([mark] for mark in flags.get(OWN_ROWS, ()))), shared_at, min(known, default=-1))
