"""A delivered file that changed since is delivered once more, unless the agent itself changed or read it.

Directives are looked at whenever their directory is touched again (`directives`); here: what the
agent's own calls did to delivered files, and, between turns, all that the window holds.
"""

from __future__ import annotations

from handbill.event import TOOL_BATCH_FINISHED, event_mentions
from handbill.ledger.window import OWN, UNDELIVERABLE
from handbill.paths import is_rule_file, level_of, under
from handbill.plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from handbill.event import Event
    from handbill.ledger.window import Record, Window
    from handbill.settings import Config
    from handbill.world import World


_MOST_REFUSED = 20  # files that are read at a prompt because they could not be delivered before
MOST = 100  # files looked at between two turns; with more than that, others at the next prompt


def handle(event: Event, window: Window, world: World, config: Config) -> Plan | None:
    plan = Plan()
    if event.kind == TOOL_BATCH_FINISHED:
        for path in event.own_paths():
            record = window.files.get(path)
            if record is not None and record.get("stamp"):
                stamp = world.stamp(path)
                if stamp not in ("", record["stamp"]):
                    seen_by_agent(path, stamp, plan, world)
    else:
        mentioned, refused = event_mentions(event), window.flags.get(UNDELIVERABLE, ())
        for path, before in window.files.column("stamp", MOST, int(world.now()), config.project):
            if path not in mentioned and (path in refused or world.stamp(path) not in ("", before)):
                check(path, window, plan, world)
    if event.kind != TOOL_BATCH_FINISHED or event.agent_id:  # a subagent gets no prompts
        refused = window.flags.get(UNDELIVERABLE, {})
        for path in _some(refused, world, config):
            is_seen = path in event.own_paths() | event_mentions(event)
            if not is_seen and is_corrected(path, window, world) and not _host_brings(path, event, world, config):
                plan.want(path, refused[path][1])
    return plan or None


def _some(refused: Iterable[str], world: World, config: Config) -> list[str]:
    """At most 20 of the user's own files, and 20 of the project's; the next prompt looks at others."""
    own = [path for path in refused if not under(path, config.project)]
    theirs = [path for path in refused if under(path, config.project)]
    found = []
    for paths in (own, theirs):
        first = int(world.now()) % max(len(paths), 1)
        found += [*paths, *paths][first : first + min(_MOST_REFUSED, len(paths))]
    return found


def _host_brings(path: str, event: Event, world: World, config: Config) -> bool:
    """Some hosts bring a rule with a file that is read beside it. Then it waits for the next touch."""
    from handbill.handlers.directives import LOOKED
    from handbill.hosts.claude_code.native_files import host_brings

    return is_rule_file(path) and bool(host_brings(level_of(path), path, LOOKED, event, world, config))


def is_corrected(path: str, window: Window, world: World) -> bool:
    """Of a file that could not be delivered: can it be now?"""
    stamp, _, _ = window.flags[UNDELIVERABLE][path]
    permitted = path in window.flags.get("permits", ())
    is_new = not stamp or world.stamp(path) not in ("", stamp)
    return not window.holds(path) and is_new and world.can_deliver(path, permitted=permitted)


def seen_by_agent(path: str, stamp: str, plan: Plan, world: World) -> None:
    """The agent read or wrote this state of the file itself. It need not be delivered as long as that call is there."""
    from handbill.text.document import Refusal

    sheet = world.load(path)
    plan.known[path] = stamp
    if not isinstance(sheet, Refusal):
        plan.digests[path] = sheet.digest
        plan.solved.append(path)


def check(path: str, window: Window, plan: Plan, world: World) -> None:
    """Is what the window holds still what the file says?"""
    record: Record = window.files[path]
    before = record.get("stamp")
    if not before or "." in record["parts"]:
        return  # the host's own, or not whole yet: that delivery reads it anew
    stamp, is_refused = world.stamp(path), path in window.flags.get(UNDELIVERABLE, ())
    if stamp == "" or (stamp == before and not is_refused):
        return  # a file that is gone is no news
    from handbill.text.document import Refusal, changed_back

    sheet, told = world.load(path), _is_told(path, stamp, window)
    if isinstance(sheet, Refusal):
        if not sheet.quiet and not sheet.may_pass and not told:
            plan.stale[path] = record["reason"]  # the claim refuses it, and the model is told
    elif sheet.digest != record.get(OWN, [record["hash"]])[0]:
        plan.stale[path] = record["reason"]
    else:
        plan.known[path] = stamp  # touched, not changed
        if is_refused:
            plan.solved.append(path)
        if is_refused and window.holds(window.flags[UNDELIVERABLE][path][2]):  # else the report is withdrawn
            plan.say("changed-back", changed_back(path, world.clock(world.now())), "can be read again")


def _is_told(path: str, stamp: str, window: Window) -> bool:
    """Does the model know that this state of the file could not be delivered?"""
    refused, _, page = window.flags.get(UNDELIVERABLE, {}).get(path, ("", "", ""))
    return refused in ("", stamp) and (window.holds(page) or page in window.pending)
