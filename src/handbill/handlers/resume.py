"""Work goes on where it stopped: what the agent was at before a compaction, or what one before it set down.

This looks whether there is anything to do, which most of the time there is not; `library/resume_state` does it.
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

_LOOKED_AT = 50  # projects
COMPACTED = "compacted"  # the host's record shows a compaction whose start never reached us


def handle(event: Event, inbox: Inbox, window: Window, world: World, settings: Settings) -> Plan | None:
    if window.agent != MAIN:
        return None
    if inbox.handover:
        from handbill.library.handover import set_down

        return set_down(inbox.handover, world, settings)
    if not settings.resume_folder(world.project) or not world.is_dir(settings.resume_folder(world.project)):
        return None
    if event.source == "resume" and not inbox.notes.get(COMPACTED):
        return None  # resumed, and not compacted since the note: all of it is still there
    if event.kind != COMPACTING and window.flags.get("resumed") == window.epoch:
        return None
    from handbill.library.resume_state import consumed, noted

    return (noted if event.kind == COMPACTING else consumed)(event, inbox, window, world, settings)


def needs(world: World, settings: Settings, *, exact: bool = False) -> Needs:
    """Room for the largest resume file; for any that may be written later, unless `exact`."""
    from handbill.library.needs import Needs

    folder = settings.resume_folder(world.project)
    if not folder or not world.is_dir(folder):
        return Needs()
    from handbill.library.handover import resume_size
    from handbill.text.tokens import PER_TOKEN

    if not exact:
        return Needs(int(settings.gate(RESUME.name)["budget"] * PER_TOKEN))
    return Needs(max((resume_size(name, world, settings) for name in world.names(folder)[:_LOOKED_AT]), default=0))
