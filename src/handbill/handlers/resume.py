"""Work goes on where it stopped: what the agent was at before a compaction, or what one before it set down.

This looks whether there is anything to do, which most of the time there is not; `resuming` does it.
"""

from __future__ import annotations

from handbill.core.event import COMPACTING, MAIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.config import Config
    from handbill.core.event import Event
    from handbill.core.plan import Plan
    from handbill.core.window import Window
    from handbill.world import World

NOTE, MODE = "resume", "resume_mode"
COMPACTED = "compacted"  # the host's record shows a compaction whose start never reached us


def handle(event: Event, window: Window, world: World, config: Config) -> Plan | None:
    if window.agent != MAIN:
        return None
    if event.handover:
        from handbill.handlers.handover import set_down

        return set_down(event.handover, world, config)
    if not config.projects or not world.is_dir(config.projects):
        return None
    if event.source == "resume" and not event.notes.get(COMPACTED):
        return None  # resumed, and not compacted since the note: all of it is still there
    if event.kind != COMPACTING and window.flags.get("resumed") == window.epoch:
        return None
    from handbill.handlers.resuming import consumed, noted

    return (noted if event.kind == COMPACTING else consumed)(event, window, world, config)
