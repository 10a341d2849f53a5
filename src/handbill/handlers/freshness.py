"""Deliver a file again if it changed after delivery, unless the agent changed or read it.

`directives` checks the directives of a directory whenever it is touched again. This module checks
delivered files that the agent's own calls touched, and, between turns, all files in the window.
"""

from __future__ import annotations

from handbill.event import TOOL_BATCH_FINISHED, event_mentions
from handbill.ledger.window import UNDELIVERABLE
from handbill.paths import is_rule_file, level_of, under
from handbill.plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from handbill.event import Event, Inbox
    from handbill.ledger.window import Window
    from handbill.settings import Settings
    from handbill.world import World


# the most files checked at a prompt because they could not be delivered before
_MOST_REFUSED = 20
MOST = 100  # the most files checked between two turns; the next prompt checks others


def handle(event: Event, inbox: Inbox, window: Window, world: World, settings: Settings) -> Plan | None:
    plan = Plan()
    if event.kind == TOOL_BATCH_FINISHED:
        for path in event.own_paths():
            record = window.files.get(path)
            if record is not None and record.get("stamp"):
                stamp = world.stamp(path)
                if stamp not in ("", record["stamp"]):
                    from handbill.library.changed_files import seen_by_agent

                    seen_by_agent(path, stamp, plan, world)
    else:
        mentioned, refused = event_mentions(event), window.flags.get(UNDELIVERABLE, ())
        for path, before in window.files.column("stamp", MOST, int(world.now()), world.project):
            if path not in mentioned and (path in refused or world.stamp(path) not in ("", before)):
                from handbill.library.changed_files import check

                check(path, window, plan, world)
    if event.kind != TOOL_BATCH_FINISHED or event.agent_id:  # A subagent receives no prompts.
        refused = window.flags.get(UNDELIVERABLE, {})
        for path in _some(refused, world) if refused else ():
            from handbill.library.changed_files import is_corrected

            is_seen = path in event.own_paths() | event_mentions(event)
            if not is_seen and is_corrected(path, window, world) and not _host_brings(path, event, world, settings):
                plan.want(path, refused[path][1])
    return plan or None


def _some(refused: Iterable[str], world: World) -> list[str]:
    """Return at most 20 of the user's own files and 20 of the project's.

    The next prompt checks other files.
    """
    own = [path for path in refused if not under(path, world.project)]
    theirs = [path for path in refused if under(path, world.project)]
    found = []
    for paths in (own, theirs):
        first = int(world.now()) % max(len(paths), 1)
        found += [*paths, *paths][first : first + min(_MOST_REFUSED, len(paths))]
    return found


def _host_brings(path: str, event: Event, world: World, settings: Settings) -> bool:
    """Whether the host adds this rule together with a file that is read in its directory.

    If so, the rule waits for the next touch.
    """
    from handbill.library.directive_search import LOOKED

    return is_rule_file(path) and bool(world.host.brings(level_of(path), path, LOOKED, event, world, settings))
