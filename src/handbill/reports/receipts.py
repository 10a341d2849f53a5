"""What the transcript shows of a window by now: its content, and the receipts that no hook has written down yet."""

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
    """What the transcript shows of this window; None if there is no transcript."""
    return claude_code.window_now(_event(window, world), world, window=window) if window.transcript else None


def with_newest_receipts(window: Window, world: World) -> Window:
    """The window with what the transcript proves by now. The next hook will write the same into the ledger."""
    if not window.claims or not window.transcript:
        return window
    event = _event(window, world)
    content = claude_code.window_now(event, world, window=window)
    if content is not None and precedes_compaction(window, content.boundary):
        return window  # what was there before the compaction proves nothing
    proof = proof_in(content, window, world.now(), records=claude_code.records_injections(event))
    return settle(window, proof, event, world.now())[0]


def _event(window: Window, world: World) -> Event:
    """An event of this window's, as if its client, in the version that wrote the newest rows, had just sent one."""
    agent = "" if window.agent == MAIN else window.agent
    version = claude_code.version_in(world.tail(window.transcript, -_NEWEST_ROWS) or b"") or claude_code.NEWEST
    return Event("stopping", window.session, agent_id=agent, transcript=window.transcript, version=version)
