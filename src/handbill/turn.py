"""One event on its way through the house, and what came of it."""

from __future__ import annotations

from handbill.core.plan import Plan
from handbill.errors import trace_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from handbill.config import Config
    from handbill.core.claim import Claim
    from handbill.core.event import Event
    from handbill.core.receipts import Outcome
    from handbill.evidence import Facts
    from handbill.store.api import Store
    from handbill.world import World


class Asked:
    """Why the transcript must be looked at: a failed hook left a mark, or its newest part shows a sign."""

    __slots__ = ("compacted", "failed", "interrupted", "missed", "moved", "queued", "scanned")

    def __init__(self, *, missed: bool = False) -> None:
        self.missed = missed  # a hook of ours could not do its work
        self.compacted = False  # a compaction is recorded; the ledger may know of it
        self.failed = False  # the host says that one of them failed
        self.moved = False  # the conversation may have gone back to an earlier point
        self.interrupted = False  # a batch of calls may have ended without its event
        self.queued = False  # a prompt that waits: its turn is another one's, and its text may be taken back
        self.scanned = 0  # how far the transcript was searched; 0: not worth noting

    def __bool__(self) -> bool:
        return self.missed or self.compacted or self.failed or self.moved or self.interrupted or self.scanned > 0


class Answer:
    __slots__ = ("claim", "message", "number", "plan", "text")

    def __init__(self) -> None:
        self.text = ""
        self.number = 0  # of the claim that the text was granted by
        self.message = ""
        self.plan: Plan | None = None
        self.claim: Claim | None = None  # nothing was asked of the ledger


class Turn:
    """One event on its way through the house."""

    __slots__ = (
        "asked",
        "config",
        "event",
        "facts",
        "has_session",
        "host",
        "now",
        "opened",
        "outcomes",
        "plan",
        "store",
        "traces",
        "world",
    )

    def __init__(self, event: Event, host: ModuleType, store: Store, world: World, config: Config) -> None:
        self.event = event
        self.host = host
        self.store = store
        self.world = world
        self.config = config
        self.now = world.now()
        self.plan = Plan()
        self.asked = Asked()
        self.facts: Facts | None = None
        self.has_session = False  # this window works on a session
        self.opened = ""  # new-window, new-epoch: what the log needs to count copies per window
        self.outcomes: list[Outcome] = []
        self.traces: list[dict[str, Any]] = []

    def trace(self, what: str, hint: str = "") -> None:
        window = ".".join(self.event.window)
        self.traces.append(trace_line(self.now, self.event.kind, what, hint, window=window))
