"""Deliver the directives of every directory that a tool call or a prompt touched."""

from __future__ import annotations

from handbill.errors import TookTooLong
from handbill.event import FAILED, MENTIONS, READS, REFUSED, RUNS, SEARCHES
from handbill.library.directive_search import (
    ACTED,
    DONE_BEFORE,
    LOOKED,
    READ,
    WANTED,
    DirectiveSearch,
    in_order,
)
from handbill.paths import parent, under

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from handbill.event import Event, Inbox, Tool
    from handbill.ledger.window import Window
    from handbill.plan import Plan
    from handbill.settings import Settings
    from handbill.world import World


def handle(event: Event, inbox: Inbox, window: Window, world: World, settings: Settings) -> Plan | None:
    look = DirectiveSearch(event, inbox, window, world, settings)
    try:
        for place, how in in_order(touched(event, world), world, settings):
            if not look.plan.unfinished or not under(place, world.project):
                look.at(place, how)
    except TookTooLong as stop:
        stop.where = look.give_up()
        stop.partial = look.plan
        raise
    for path in look.read if window.pending else ():
        if path in window.pending:
            from handbill.library.directive_levels import show_if_whole

            # The window has the whole file, so its other parts are not needed.
            show_if_whole(look, path)
    look.plan.unfinished = look.plan.unfinished or look.waits
    return look.plan or None


def touched(event: Event, world: World) -> Iterator[tuple[str, str]]:
    """Yield (directory, how it was touched) for each path that the event's calls name."""
    for tool in event.tools:
        how = _how(tool, event)
        for path in tool.files:
            yield parent(path), how
        for path in tool.paths:
            if world.is_dir(path):
                yield path, _acted(tool, event) if tool.does == MENTIONS else how
            elif tool.does not in (RUNS, MENTIONS) or world.is_file(path):
                yield parent(path), how


def _how(tool: Tool, event: Event) -> str:
    if tool.outcome == REFUSED:
        return WANTED
    if tool.does == READS or (tool.does == MENTIONS and event.reads_mentions):
        if tool.id and tool.id not in event.calls:
            return DONE_BEFORE
        # After a failed read, hosts differ in which files they add. They record those files.
        return LOOKED if tool.outcome == FAILED else READ
    if tool.does == SEARCHES or (tool.does == RUNS and not tool.handles_files()):
        return LOOKED
    return _acted(tool, event)


def _acted(tool: Tool, event: Event) -> str:
    return ACTED if tool.id in event.calls else DONE_BEFORE
