"""Files that the host itself put into the window are recorded, so that we never add a second copy."""

from __future__ import annotations

from handbill.core.plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.config import Config
    from handbill.core.event import Event
    from handbill.core.window import Window
    from handbill.world import World


def handle(event: Event, window: Window, world: World, config: Config) -> Plan | None:
    if not event.path or event.path in window.files:
        return None
    plan = Plan()
    plan.seen.append((event.path, event.reason or "loaded by the host"))
    return plan
