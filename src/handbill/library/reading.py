"""Check whether the agent read a file itself, and whether a call only reads files."""

from __future__ import annotations

from handbill.event import DONE, HELD, READS, REFUSED, RUNS
from handbill.text.shell_words import plain_arguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from handbill.event import Event, Tool
    from handbill.world import World

_SHOWING = ("cat", "head", "tail", "sed")
_SHELL = frozenset(";|&<>$`\n(){}*?[~")


def paths_read(event: Event, files: Collection[str], world: World) -> tuple[list[str], list[str]]:
    """Return which of `files` this message's calls read, and which they could not read."""
    read: dict[str, bool] = {}
    for tool in event.tools:
        if (tool.does == READS or tool.handles_files()) and tool.outcome != HELD:
            for path in (*tool.files, *tool.paths):
                known = world.inside(path)
                read[known] = read.get(known, False) or tool.outcome == DONE
    return [path for path in files if read.get(path)], [path for path in files if read.get(path) is False]


def reads_only(tool: Tool, files: Collection[str], world: World) -> bool:
    """Whether this call only reads some of these files."""
    if tool.does == READS:
        return bool(tool.files) and all(world.inside(path) in files for path in tool.files)
    if tool.does != RUNS:
        return False
    command = tool.command
    words = command.split()
    if not words or words[0] not in _SHOWING or not _SHELL.isdisjoint(command):
        return False
    options = [word for word in words[1:] if word.startswith("-")]
    if words[0] == "sed" and (options != ["-n"] or words[1] != "-n" or not _is_lines(words[2] if words[2:] else "")):
        return False  # A sed script can write files and run commands.
    if any(option != "-n" and not option[1:].removeprefix("n").isdecimal() for option in options):
        return False
    named = [word for word in plain_arguments(command)[1:] if not _is_lines(word)]
    places = [path for path in tool.paths if world.inside(path) in files]
    return bool(named) and len(named) == len(places)


def _is_lines(word: str) -> bool:
    """Whether a word names lines: `50`, or sed's `1,20p`."""
    return word.removesuffix("p").replace(",", "").isdecimal()


def unheld(event: Event, files: Collection[str], world: World) -> bool:
    """Whether this message made another call that was neither held nor refused."""
    return any(
        tool.id in event.calls and tool.outcome not in (HELD, REFUSED) and not reads_only(tool, files, world)
        for tool in event.tools
    )
