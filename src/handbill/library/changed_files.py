"""Check whether files in the window have changed, and whether refused ones can be delivered now."""

from __future__ import annotations

from handbill.ledger.window import OWN, UNDELIVERABLE, is_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.ledger.window import Record, Window
    from handbill.plan import Plan
    from handbill.world import World


def is_corrected(path: str, window: Window, world: World) -> bool:
    """Whether a file that could not be delivered before can be delivered now."""
    stamp, _, _ = window.flags[UNDELIVERABLE][path]
    permitted = path in window.flags.get("permits", ())
    is_new = not stamp or world.stamp(path) not in ("", stamp)
    return not window.holds(path) and is_new and world.can_deliver(path, permitted=permitted)


def seen_by_agent(path: str, stamp: str, plan: Plan, world: World) -> None:
    """Record that the agent read or wrote this version of the file itself.

    The file need not be delivered as long as that call is in the window.
    """
    from handbill.text.document import Refusal

    document = world.load(path)
    plan.restamped[path] = stamp
    if not isinstance(document, Refusal):
        plan.digests[path] = document.digest
        plan.solved.append(path)


def check(path: str, window: Window, plan: Plan, world: World) -> None:
    """Plan what to do if a file on the disk differs from the version in the window."""
    record: Record = window.files[path]
    before = record.get("stamp")
    if not before or not is_whole(record):
        # The host added it, or it is not complete yet. In that case, its delivery reads it again.
        return
    stamp, is_refused = world.stamp(path), path in window.flags.get(UNDELIVERABLE, ())
    if stamp == "" or (stamp == before and not is_refused):
        return  # A deleted file is not reported.
    from handbill.text.document import Refusal, changed_back

    document, told = world.load(path), _is_told(path, stamp, window)
    if isinstance(document, Refusal):
        if not document.quiet and not document.may_pass and not told:
            plan.stale[path] = record["reason"]  # The claim refuses it and informs the model.
    elif document.digest != record.get(OWN, [record["hash"]])[0]:
        plan.stale[path] = record["reason"]
    else:
        plan.restamped[path] = stamp  # touched, not changed
        if is_refused:
            plan.solved.append(path)
        # Otherwise, the report is withdrawn.
        if is_refused and window.holds(window.flags[UNDELIVERABLE][path][2]):
            plan.say("changed-back", changed_back(path, world.clock(world.now())), "can be read again")


def _is_told(path: str, stamp: str, window: Window) -> bool:
    """Whether the model knows that this version of the file could not be delivered."""
    refused, _, page = window.flags.get(UNDELIVERABLE, {}).get(path, ("", "", ""))
    return refused in ("", stamp) and (window.holds(page) or page in window.pending)
