"""Write the logs: one line per decision in the delivery log, and one per fault in the trace."""

from __future__ import annotations

from handbill.event import SESSION_STARTED
from handbill.store.api import DELIVERIES, ERRORS
from handbill.text.blocks import UPDATED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handbill.flow.event_context import Answer, EventContext
    from handbill.ledger.claim import Claim


# Whether the window already had the file, and by which property it was recognized.
_DEDUP = {
    "direct-deliver": "new", "claim-deliver": "new", "updated": "changed", "same-rules": "same text elsewhere",
    "skip-dedup": "path", "skip-inode": "inode", "skip-content": "content",
}  # fmt: skip


_MOST_NOTES = 20  # of one event; a project's settings may cause any number of notes


def write(context: EventContext, answer: Answer) -> None:
    lines = _delivery_lines(context, answer)
    for refusal in answer.claim.refused if answer.claim is not None else ():
        if not refusal.quiet:
            context.trace(
                f"{refusal.path} {refusal.why}",
                "correct the file, and Handbill delivers it; or remove the reference to it",
            )
    for note in context.plan.notes[:_MOST_NOTES]:
        context.trace(note)
    if len(context.plan.notes) > _MOST_NOTES:
        context.trace(f"notes omitted for this event: {len(context.plan.notes) - _MOST_NOTES:,}")
    if context.event.kind == SESSION_STARTED:
        for problem in context.settings.problems:
            context.trace(problem, "correct the settings file")
    try:
        context.store.append(ERRORS, context.traces)
        context.store.append(DELIVERIES, lines)
    # a log that cannot be written must not prevent the delivery that it records
    except OSError as error:
        answer.message = answer.message or f"Handbill cannot write its log: {error}"


def _delivery_lines(context: EventContext, answer: Answer) -> list[dict[str, Any]]:
    """Return one line per decision of this event."""
    rows: list[tuple[str, str, str, int]] = []
    if context.opened:
        rows.append((context.opened, "", context.event.source or context.event.kind, 0))
    rows += [(one.result, one.path, _label(one.reason, one.part, one.parts), 0) for one in context.outcomes]
    rows += [("seed", path, reason, 0) for path, reason in context.plan.seen]
    rows += _claim_rows(context, answer.claim) if answer.claim is not None else []
    window = ".".join(context.event.window)
    last = context.event.tools[-1] if context.event.tools else None
    return [
        {
            "ts": round(context.now, 3), "host": context.event.host, "window": window, "handler": context.event.kind,
            "event": name, "file": path, "source": reason, "chars": chars, "dedup": _DEDUP.get(name, ""),
            "tool": last.name if last is not None else "", "call": last.id if last is not None else "",
            "session": context.has_session,
        }
        for name, path, reason, chars in rows
    ]  # fmt: skip


def _claim_rows(context: EventContext, found: Claim) -> list[tuple[str, str, str, int]]:
    rows: list[tuple[str, str, str, int]] = []
    for grant in found.grants:
        first = "direct-deliver" if context.event.kind == SESSION_STARTED else "claim-deliver"
        name = "updated" if grant.word == UPDATED else first
        if grant.same:
            rows.append(("same-rules", grant.path, f"{grant.reason}: the same text as {grant.same}", len(grant.block)))
            continue
        rows.append((name, grant.path, _label(grant.reason, grant.part, grant.parts), len(grant.block)))
    # the other lanes ask for the same files, and most are skipped as already there
    if context.event.lane == 1:
        rows += [(why, path, reason, 0) for path, why, reason in found.skipped]
    rows += [("queue-pending", path, reason, 0) for path, reason in found.queued]
    rows += [("resolve-ref", path, reason, 0) for path, reason in found.named]
    rows += [("refused", refusal.path, refusal.why, 0) for refusal in found.refused]
    return rows


def _label(reason: str, part: int, parts: int) -> str:
    return f"{reason} (part {part}/{parts})" if part and parts > 1 else reason
