"""Did the agent read a file itself, and is a call nothing but that?"""

from __future__ import annotations

from handbill.core.event import handles_files
from handbill.core.pack import HELD
from handbill.core.shell import plain_arguments
from handbill.handlers.directives import inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from handbill.config import Config
    from handbill.core.event import Event, Tool
    from handbill.world import World

_READERS = ("Read", "NotebookRead")
_SHOWING = ("cat", "head", "tail", "less", "more", "bat")
_SHELL = frozenset(";|&<>$`\n(){}*?[~")


def paths_read(event: Event, files: Collection[str], world: World, config: Config) -> list[str]:
    """Which of `files` this message's calls read, or tried to: one that cannot be read is not waited for."""
    found: dict[str, None] = {}
    for tool in event.tools:
        if (tool.name in _READERS or (tool.name == "Bash" and handles_files(tool.values))) and not is_held(tool):
            for path in (*tool.files, *tool.places):
                found[inside(path, world, config)] = None
    return [path for path in files if path in found]


def is_held(tool: Tool) -> bool:
    """The call was denied by us: nothing was read."""
    return HELD in tool.output[:300]


def reads_only(tool: Tool, files: Collection[str]) -> bool:
    """Does this call do nothing but read some of them?"""
    if tool.name in _READERS:
        return bool(tool.files) and all(path in files for path in tool.files)
    if tool.name != "Bash":
        return False
    command = str(tool.values.get("command", ""))
    words = command.split()
    if not words or words[0] not in _SHOWING or not _SHELL.isdisjoint(command):
        return False
    named = plain_arguments(command)[1:]
    return bool(named) and len(named) == len(tool.places) and all(path in files for path in tool.places)
