"""The files in a recording: the project's rules, and the files that the agent touched.

With them, the recording can be played without the project.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from handbill.event import LOADS_SKILL, WRITES
from handbill.handlers.load_gate import context_files
from handbill.hosts import claude_code
from handbill.library.directive_levels import present
from handbill.library.directive_search import root_of, walk_up
from handbill.library.messages import MESSAGES_FILE
from handbill.library.skills import skill_file
from handbill.paths import parent, under
from handbill.settings import PROJECT_FILE
from handbill.text.document import Document

if TYPE_CHECKING:
    from handbill.event import Tool
    from handbill.lab.recorder import Line
    from handbill.settings import Settings
    from handbill.world import World

_MOST_FILES = 2000
_SETTINGS = (PROJECT_FILE, MESSAGES_FILE)
# The client reads these, so rules that they import reach the window.
_OF_CLIENT = ("CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md")


def files_of(lines: list[Line], world: World, settings: Settings) -> dict[str, str]:
    """Return name below the project -> text.

    The text is empty for a file that an agent only read or changed.
    """
    rules = dict.fromkeys(_rules(lines, world, settings))
    found: dict[str, str] = {}
    for path in list(rules)[:_MOST_FILES]:
        # A link may lead to a file of the user's own.
        is_theirs = under(path, world.project) and under(world.real(path), world.real(world.project))
        document = world.load(path) if is_theirs else None
        if isinstance(document, Document):
            found[path[len(world.project) + 1 :]] = f"{document.text}\n"
    for tool in _tools(lines):
        # A file that the agent created did not exist before.
        for path in tool.files if not (tool.does == WRITES and tool.whole) else ():
            name = path[len(world.project) + 1 :]
            if under(path, world.project) and len(found) < _MOST_FILES and world.is_file(path):
                found.setdefault(name, "")
    return found


def _rules(lines: list[Line], world: World, settings: Settings) -> Iterator[str]:
    root = world.project
    yield from (f"{root}/{name}" for name in (*_SETTINGS, *_OF_CLIENT))
    yield from context_files(world, settings)
    yield from (title[0] for line in lines for title in line.titles)
    for name in dict.fromkeys(_skills(lines)):
        yield skill_file(name, world)
    levels: dict[str, None] = {}
    for tool in _tools(lines):
        for path in (*tool.files, *tool.paths):
            place = path if world.is_dir(path) else parent(path)
            stop = root_of(place, world, settings) if under(place, root) else ""
            levels |= dict.fromkeys(walk_up(place, stop)) if stop else {}
    for level in levels:
        yield from (path for path, _ in present(level, world, settings)[0])
        yield f"{level}/CLAUDE.md"


def _skills(lines: list[Line]) -> Iterator[str]:
    for line in lines:
        notice = (line.act or {}).get("notice", {})
        yield from filter(None, (str(line.event.get("command_name", "")), str(notice.get("skill", ""))))
    for tool in _tools(lines):
        if tool.does == LOADS_SKILL:
            yield tool.skill


def _tools(lines: Iterable[Line]) -> Iterator[Tool]:
    for line in lines:
        event = claude_code.parse(line.event, claude_code.identify(line.event, {}), {}) if line.event else None
        yield from event.tools if event is not None else ()
