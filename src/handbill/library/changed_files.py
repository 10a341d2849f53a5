"""Is what the window holds still what the file says? And can a file be delivered that could not be before?"""

from __future__ import annotations

from handbill.ledger.window import OWN, UNDELIVERABLE, is_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.ledger.window import Record, Window
    from handbill.plan import Plan
    from handbill.world import World


def is_corrected(path: str, window: Window, world: World) -> bool:
    """Of a file that could not be delivered: can it be now?"""
    stamp, _, _ = window.flags[UNDELIVERABLE][path]
    permitted = path in window.flags.get("permits", ())
    is_new = not stamp or world.stamp(path) not in ("", stamp)
    return not window.holds(path) and is_new and world.can_deliver(path, permitted=permitted)


def seen_by_agent(path: str, stamp: str, plan: Plan, world: World) -> None:
    """The agent read or wrote this state of the file itself. It need not be delivered as long as that call is there."""
    from handbill.text.document import Refusal

    document = world.load(path)
    plan.restamped[path] = stamp
    if not isinstance(document, Refusal):
        plan.digests[path] = document.digest
        plan.solved.append(path)


def check(path: str, window: Window, plan: Plan, world: World) -> None:
    """Is what the window holds still what the file says?"""
    record: Record = window.files[path]
    before = record.get("stamp")
    if not before or not is_whole(record):
        return  # the host's own, or not whole yet: that delivery reads it anew
    stamp, is_refused = world.stamp(path), path in window.flags.get(UNDELIVERABLE, ())
    if stamp == "" or (stamp == before and not is_refused):
        return  # a file that is gone is no news
    from handbill.text.document import Refusal, changed_back

    document, told = world.load(path), _is_told(path, stamp, window)
    if isinstance(document, Refusal):
        if not document.quiet and not document.may_pass and not told:
            plan.stale[path] = record["reason"]  # the claim refuses it, and the model is told
    elif document.digest != record.get(OWN, [record["hash"]])[0]:
        plan.stale[path] = record["reason"]
    else:
        plan.restamped[path] = stamp  # touched, not changed
        if is_refused:
            plan.solved.append(path)
        if is_refused and window.holds(window.flags[UNDELIVERABLE][path][2]):  # else the report is withdrawn
            plan.say("changed-back", changed_back(path, world.clock(world.now())), "can be read again")


def _is_told(path: str, stamp: str, window: Window) -> bool:
    """Does the model know that this state of the file could not be delivered?"""
    refused, _, page = window.flags.get(UNDELIVERABLE, {}).get(path, ("", "", ""))
    return refused in ("", stamp) and (window.holds(page) or page in window.pending)
