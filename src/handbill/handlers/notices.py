"""Word that a command left for the hooks of its session: whose is it?

It carries no window, because the host's shell does not know which agent runs in it. A window takes
what its own calls show; what no call shows, after a while, the main one.
"""

from __future__ import annotations

from handbill.core.event import MAIN, PROMPT_SUBMITTED, SESSION_STARTED, TOOL_BATCH_FINISHED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handbill.core.event import Event
    from handbill.world import World

TERMINAL = "terminal"  # from a person's shell

_UNSEEN = 60.0  # seconds after which nobody's call will show it any more
_BETWEEN_TURNS = 5.0


def belongs(notice: dict[str, Any], event: Event, world: World) -> bool:
    """Did this window's agent run the command that left this?"""
    main = event.window[1] == MAIN
    if notice.get("by") == TERMINAL:
        return main
    if event.kind == TOOL_BATCH_FINISHED and any(_shows(tool.values, tool.output, notice) for tool in event.tools):
        return True
    age = world.now() - notice.get("at", 0.0)
    patience = _BETWEEN_TURNS if event.kind in (PROMPT_SUBMITTED, SESSION_STARTED) else _UNSEEN
    return main and age > patience


def _shows(values: dict[str, Any], output: str, notice: dict[str, Any]) -> bool:
    command = values.get("command")
    if not isinstance(command, str):
        return False
    line = str(notice.get("line", ""))
    return (bool(line) and line in output) or f"session {notice.get('verb')} " in " ".join((*command.split(), ""))
