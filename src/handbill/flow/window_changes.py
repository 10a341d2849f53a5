"""Apply a plan and a claim to a window, besides the granted files. Pure."""

from __future__ import annotations

from handbill.ledger.window import (
    ELSEWHERE,
    LINKED,
    NAMED_BY,
    NESTED,
    NOT_SENT,
    OWN,
    SEEDING,
    UNDELIVERABLE,
    is_whole,
    see,
)
from handbill.paths import name
from handbill.text.blocks import UPDATED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.flow.event_context import EventContext
    from handbill.ledger.claim import Claim
    from handbill.ledger.window import Window


def note_same_text(window: Window, found: Claim) -> None:
    """Note files whose text the window has under another name, until either file changes."""
    if found.elsewhere:
        window.flags[ELSEWHERE] = {**window.flags.get(ELSEWHERE, {}), **found.elsewhere}
    for path in [grant.path for grant in found.grants if grant.word == UPDATED and grant.part == 1]:
        from handbill.ledger.host_files import want_dependents

        want_dependents(window, path, [grant.path for grant in found.grants])


def want_named_pages(window: Window, found: Claim, named: dict[str, list[str]]) -> None:
    """Make the pages pending that a delivered page refers to. Later events do the same for those
    pages."""
    for grant in found.grants:
        for path in named.get(grant.path, ()) if grant.part == 1 else ():
            if path not in window.pending and not window.holds(path):
                window.pending[path] = f"{NAMED_BY}{name(grant.path)}"
                found.named.append((path, window.pending[path]))


def with_plan(context: EventContext, window: Window, moved: list[str]) -> Window:
    """Apply the plan's changes other than wanted files."""
    plan, after = context.plan, window
    if moved:
        after = after.copy()
        for path in moved:
            if path in after.files:
                after.files[path] = {**after.files[path], "inode": ""}
    for path, reason in plan.seen:
        if not after.holds(path):
            named = reason.startswith(NESTED) and not context.event.batch.endswith(":")
            batch = context.event.batch if named else ""
            after = see(
                after, path, context.world.inode(path), reason, context.now, max(context.world.size(path), 0), batch
            )
    if plan.changes:
        after = after.copy()
        for directory, found in plan.touched.items():
            after.touched[directory] = found
        after.flags.update(plan.flags)
        for path in plan.unwanted:
            after.pending.pop(path, None)
        if plan.roots:
            after.flags["roots"] = sorted({*after.flags.get("roots", ()), *plan.roots})
        if plan.allowed_paths:
            after.flags["permits"] = sorted({*after.flags.get("permits", ()), *plan.allowed_paths})
        if plan.work is not None:
            after.work = plan.work
            after.lifecycle = LINKED if plan.work.get("session") else SEEDING
        _refreshed(after, context)
    return after


def _refreshed(window: Window, context: EventContext) -> None:
    """Note files that changed since their delivery: deliver them again, or record what the agent
    has."""
    plan = context.plan
    refused = window.flags.get(UNDELIVERABLE, {})
    if any(path in refused for path in plan.solved):
        window.flags[UNDELIVERABLE] = {path: entry for path, entry in refused.items() if path not in plan.solved}
    for path, stamp in plan.restamped.items():
        record = window.files.get(path)
        if record is not None:
            own = {OWN: [plan.digests[path], context.event.batch, context.now]} if path in plan.digests else {}
            window.files[path] = {**record, "stamp": stamp, **own}
    for path, reason in plan.stale.items():
        record = window.files.get(path)
        if record is not None and is_whole(record):
            parts = record["parts"]
            window.files[path] = {**record, "parts": NOT_SENT * len(parts), "before": parts, "updated": True}
            window.pending.setdefault(path, reason)
