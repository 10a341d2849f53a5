"""Messages that commands leave for the hooks of their session: which window is each one for?

The host's shell does not know which agent runs in it. So a window takes an agent's message only if its own calls show
the command. After a minute, the main window takes what no call shows. A person's command may name a window.
"""

from __future__ import annotations

from handbill.event import MAIN
from handbill.paths import name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handbill.event import Event
    from handbill.world import World

TERMINAL = "terminal"  # from a person's shell

_UNSEEN = 60.0  # seconds after which nobody's call will show it any more
_OF_THIS_WINDOW = ("continue", "idle", "deactivate")  # these need no name


def belongs(notice: dict[str, Any], event: Event, world: World) -> bool:
    """Did this window's agent run the command that left this?"""
    main = event.window[1] == MAIN
    if notice.get("window", event.window[0]) != event.window[0]:
        return False
    if notice.get("by") == TERMINAL:
        return main
    if any(tool.id in event.calls and _shows(tool.command, tool.output, notice) for tool in event.tools):
        return True
    return main and world.now() - notice["at"] > _UNSEEN


def _shows(command: str, output: str, notice: dict[str, Any]) -> bool:
    if not command:
        return False
    line, verb = str(notice.get("line", "")), notice["verb"]
    if line and line in output:
        return True
    if verb == "restore" and "compaction restore" in " ".join(command.split()):
        return True
    named = name(str(notice.get("session", ""))) in command or "$" in command or verb in _OF_THIS_WINDOW
    return named and f"session {verb} " in " ".join((*command.split(), ""))
