"""A window's content according to the transcript, with receipts that no hook has recorded yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handbill.event import MAIN, Event
from handbill.flow.findings import proof_in
from handbill.hosts import claude_code
from handbill.ledger.epochs import precedes_compaction
from handbill.ledger.receipts import settle

if TYPE_CHECKING:
    from handbill.ledger.content import Content
    from handbill.ledger.window import Window
    from handbill.world import World

_NEWEST_ROWS = 64 << 10  # bytes


def content_of(window: Window, world: World) -> Content | None:
    """Return what the transcript shows of this window; None if the transcript is missing."""
    return claude_code.window_now(_event(window, world), world, window=window) if window.transcript else None


def with_newest_receipts(window: Window, world: World) -> Window:
    """Return the window with everything that the transcript now proves.

    The next hook will write the same into the ledger.
    """
    if not window.claims or not window.transcript:
        return window
    event = _event(window, world)
    content = claude_code.window_now(event, world, window=window)
    if content is not None and precedes_compaction(window, content.boundary):
        return window  # content from before the compaction proves nothing
    proof = proof_in(content, window, world.now(), records=claude_code.records_injections(event))
    return settle(window, proof, event, world.now())[0]


def _event(window: Window, world: World) -> Event:
    """Return an event of this window, as if its client had just sent one.

    Its version is the one that wrote the newest rows.
    """
    agent = "" if window.agent == MAIN else window.agent
    version = claude_code.version_in(world.tail(window.transcript, -_NEWEST_ROWS) or b"") or claude_code.NEWEST
    return Event("stopping", window.session, agent_id=agent, transcript=window.transcript, version=version)
