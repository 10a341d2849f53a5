"""Record the session's role before a compaction, while the evidence is still in the window."""

from __future__ import annotations

from handbill.event import MAIN
from handbill.library.roles import role_of
from handbill.plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.event import Event, Inbox
    from handbill.ledger.window import Window
    from handbill.settings import Settings
    from handbill.world import World


def handle(event: Event, inbox: Inbox, window: Window, world: World, settings: Settings) -> Plan | None:
    if window.agent != MAIN:
        return None
    role = role_of(inbox, window, world, settings)
    plan = Plan()
    if role.problem:
        plan.notes.append(role.problem)
    if (window.flags.get("role"), window.flags.get("role_by")) != (role.name, role.how):
        # A regular session is recorded too, so that nothing has to determine its role afterwards.
        plan.flags.update(role=role.name, role_by=role.how)
    return plan or None
