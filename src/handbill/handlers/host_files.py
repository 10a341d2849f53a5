"""Record the files that the host itself put into the window, so that we never add a second copy."""

from __future__ import annotations

from handbill.ledger.window import NESTED
from handbill.plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.event import Event, Inbox
    from handbill.ledger.window import Window
    from handbill.settings import Settings
    from handbill.world import World


def handle(event: Event, inbox: Inbox, window: Window, world: World, settings: Settings) -> Plan | None:
    if not event.path or window.holds(event.path):
        return None
    plan = Plan()
    above = window.files.get(event.imported_by)  # the file that imports this one
    nested = above is not None and above["reason"].startswith(NESTED) and not event.reason.startswith(NESTED)
    plan.seen.append((event.path, f"{NESTED} {event.reason}" if nested else event.reason or "loaded by the host"))
    return plan
