"""Deliver warnings about calls that were not held, together with the results of those calls."""

from __future__ import annotations

from handbill.plan import WARN, WARNING, Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.event import Event, Inbox
    from handbill.ledger.window import Window
    from handbill.settings import Settings
    from handbill.world import World

_EXPIRES = 3600.0  # seconds; then the subagent that was warned has ended


def handle(event: Event, inbox: Inbox, window: Window, world: World, settings: Settings) -> Plan | None:
    plan = Plan()
    for notice in inbox.notices:
        if notice["verb"] != WARNING:
            continue
        if notice.get("for") == list(event.window):
            plan.gate(WARN, str(notice.get("text", "")))
            plan.settled.append(notice["id"])
        elif world.now() - notice["at"] > _EXPIRES:
            plan.settled.append(notice["id"])
    return plan or None
