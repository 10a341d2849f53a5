"""Find the window that each message from a command to the hooks of its session is for.

The host's shell does not know which agent runs in it. So a window takes an agent's message only if
its own calls show the command. After a minute, the main window takes messages that no call shows. A
person's command may name a window.
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

_UNSEEN = 60.0  # seconds after which no call is expected to show it any more
# verbs whose command need not name the session
_OF_THIS_WINDOW = ("continue", "idle", "deactivate")


def belongs(notice: dict[str, Any], event: Event, world: World) -> bool:
    """Whether this window's agent ran the command that left this message."""
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
