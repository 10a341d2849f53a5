"""Before a new file is written where this window has not seen the directives: denied once, with them as the reason."""

from __future__ import annotations

from handbill.core.pack import HELD
from handbill.core.paths import parent
from handbill.core.plan import BLOCK
from handbill.handlers.directives import Look
from handbill.handlers.table import EDITS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.config import Config
    from handbill.core.event import Event
    from handbill.core.plan import Plan
    from handbill.core.window import Window
    from handbill.world import World


FLAG = "write_gate"
_MOST_PLACES = 50


def handle(event: Event, window: Window, world: World, config: Config) -> Plan | None:
    if config.write_gate == "off" or not window.started:
        return None
    for tool in event.tools:
        if tool.name not in EDITS or not tool.files:
            continue
        new = tool.name == "Write" and not world.is_file(tool.files[0])
        if not new and config.write_gate != "edits":
            continue
        directory = parent(tool.files[0])
        held = window.flags.get(FLAG, {})
        if directory in held.get("places", ()) and held.get("epoch") == window.epoch:
            continue  # held before: whatever is still on its way follows with the results
        look = Look(event, window, world, config)
        look.at(directory)
        if look.plan.wants:
            look.plan.gate(
                BLOCK,
                f"{HELD} {tool.files[0]} was not written yet: these pages apply to {directory} and were not in this "
                "window. Take them into account, then make the call again; it will not be held a second time.",
            )
            before = held.get("places", []) if held.get("epoch") == window.epoch else []
            look.plan.flags[FLAG] = {"epoch": window.epoch, "places": [*before[-_MOST_PLACES:], directory]}
            return look.plan
    return None
