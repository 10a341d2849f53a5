"""A delivered file that changed since is delivered once more, unless the agent itself changed or read it.

Directives are looked at whenever their directory is touched again (`directives`); here: what the
agent's own calls did to delivered files, and, between turns, all that the window holds.
"""

from __future__ import annotations

from handbill.core.event import TOOL_BATCH_FINISHED, event_mentions
from handbill.core.plan import Plan
from handbill.core.window import OWN, UNDELIVERABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.config import Config
    from handbill.core.event import Event
    from handbill.core.window import Record, Window
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
        mentioned = event_mentions(event)
        for path, before in window.files.column("stamp", MOST, int(world.now())):
            if path not in mentioned and world.stamp(path) not in ("", before):  # a file that is gone is no news
                check(path, window.files[path], plan, world)
    if event.kind != TOOL_BATCH_FINISHED or event.agent_id:  # a subagent gets no prompts
        refused = window.flags.get(UNDELIVERABLE, {})
        first = int(world.now()) % max(len(refused), 1)  # others at the next prompt
        for path in [*refused, *refused][first : first + min(_MOST_REFUSED, len(refused))]:
            if path not in event.own_paths() | event_mentions(event) and is_corrected(path, window, world):
                plan.want(path, refused[path][1])
    return plan or None


def is_corrected(path: str, window: Window, world: World) -> bool:
    """Of a file that could not be delivered: can it be now?"""
    stamp, _, _ = window.flags[UNDELIVERABLE][path]
    permitted = path in window.flags.get("permits", ())
    is_new = not stamp or world.stamp(path) not in ("", stamp)
    return not window.holds(path) and is_new and world.can_deliver(path, permitted=permitted)


def seen_by_agent(path: str, stamp: str, plan: Plan, world: World) -> None:
    """The agent read or wrote this state of the file itself. It need not be delivered as long as that call is there."""
    from handbill.core.sheet import Refusal

    sheet = world.load(path)
    plan.known[path] = stamp
    if not isinstance(sheet, Refusal):
        plan.digests[path] = sheet.digest


def check(path: str, record: Record, plan: Plan, world: World) -> None:
    """Is what the window holds still what the file says?"""
    before = record.get("stamp")
    if not before or "." in record["parts"]:
        return  # the host's own, or not whole yet: that delivery reads it anew
    stamp = world.stamp(path)
    if stamp in ("", before):
        return
    from handbill.core.sheet import UNDELIVERABLE_PAGE, Refusal

    sheet = world.load(path)
    if isinstance(sheet, Refusal):
        if not sheet.quiet and sheet.stamp:
            plan.known[path] = sheet.stamp  # told once; compared again when it is corrected
            plan.say(UNDELIVERABLE_PAGE, sheet.report(outdated=world.clock(world.changed(path))), "cannot be delivered")
            plan.notes.append(f"{path} changed, and {sheet.why}")
        return
    if sheet.digest == record.get(OWN, [record["hash"]])[0]:
        plan.known[path] = stamp  # touched, not changed
    else:
        plan.stale[path] = record["reason"]
