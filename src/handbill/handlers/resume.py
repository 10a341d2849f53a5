"""Continue work where it stopped, after a compaction or from another agent's handover.

This module only checks whether there is anything to do. Usually there is nothing.
`library/resume_state` does the work.
"""

from __future__ import annotations

from handbill.event import COMPACTING, MAIN
from handbill.gates import RESUME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.event import Event, Inbox
    from handbill.ledger.window import Window
    from handbill.library.needs import Needs
    from handbill.plan import Plan
    from handbill.settings import Settings
    from handbill.world import World

_LOOKED_AT = 50  # the most projects that are checked
COMPACTED = "compacted"  # The transcript shows a compaction for which we received no start event.


def handle(event: Event, inbox: Inbox, window: Window, world: World, settings: Settings) -> Plan | None:
    if window.agent != MAIN:
        return None
    if inbox.handover:
        from handbill.library.handover import set_down

        return set_down(inbox.handover, world, settings)
    if not settings.resume_folder(world.project) or not world.is_dir(settings.resume_folder(world.project)):
        return None
    if event.source == "resume" and not inbox.notes.get(COMPACTED):
        return None  # Resumed without a compaction since the note: the window still has everything.
    if event.kind != COMPACTING and window.flags.get("resumed") == window.epoch:
        return None
    from handbill.library.resume_state import consumed, noted

    return (noted if event.kind == COMPACTING else consumed)(event, inbox, window, world, settings)


def needs(world: World, settings: Settings, *, exact: bool = False) -> Needs:
    """Return room for the largest resume file.

    Unless `exact`, it is room for any resume file that may be written later.
    """
    from handbill.library.needs import Needs

    folder = settings.resume_folder(world.project)
    if not folder or not world.is_dir(folder):
        return Needs()
    from handbill.library.handover import resume_size
    from handbill.text.tokens import PER_TOKEN

    if not exact:
        return Needs(int(settings.gate(RESUME.name)["budget"] * PER_TOKEN))
    return Needs(max((resume_size(name, world, settings) for name in world.names(folder)[:_LOOKED_AT]), default=0))
