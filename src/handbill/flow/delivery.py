"""Apply a plan to a window in one locked update: claim the wanted files and note the rest.

This module is imported only when a plan or pending files require it; most events do not.
"""

from __future__ import annotations

from handbill.digest import digest_of
from handbill.flow.event_context import Answer, attempt, is_over
from handbill.flow.window_changes import note_same_text, want_named_pages, with_plan
from handbill.ledger.claim import SKIP_PATH
from handbill.ledger.window import (
    NOT_SENT,
    UNDELIVERABLE,
    UNRECORDED,
    postponed,
)
from handbill.paths import under
from handbill.store.disk import StateUnwritable
from handbill.text.blocks import harmless
from handbill.text.document import Document, Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handbill.flow.after_compaction import Remains
    from handbill.flow.event_context import EventContext
    from handbill.flow.undeliverable import Refusals
    from handbill.ledger.window import Window
    from handbill.plan import Plan, Want


_MOST_READ, _MOST_TEXT = 300, 1 << 19  # files, and characters, in one event


def advance(context: EventContext, window: Window | None) -> Window | None:
    """Return the window updated with the facts; the same object if they change nothing."""
    if context.facts is None:
        return window
    from handbill.flow.findings import apply

    after, context.outcomes = apply(context.facts, context.event, window, context.host, context.now)
    if (
        after is not None
        and after.started
        and (window is None or not window.started or after.created != window.created)
    ):
        context.opened = "new-window"
    elif after is not None and window is not None and after.epoch != window.epoch:
        context.opened = "new-epoch"
    else:
        context.opened = ""
    return after


def warn_if_unrecorded(context: EventContext, before: Window | None, after: Window | None) -> None:
    """Report once to the person that this window's host record shows none of our deliveries."""
    is_known = before is not None and before.flags.get(UNRECORDED)
    if after is not None and after.flags.get(UNRECORDED) and not is_known:
        context.trace(
            "the client's record shows none of the delivered files; Handbill assumes that they arrived",
            "this client may be newer than this version of Handbill: update Handbill",
        )


def held_elsewhere(plan: Plan, answer: Answer) -> bool:
    """Whether another call of the same message received the text of this one."""
    own = {want.path for want in plan.wants if want.text}
    skipped = answer.claim.skipped if answer.claim is not None else ()
    return any(why == SKIP_PATH or path in own for path, why, _ in skipped)


def deliver(context: EventContext, current: Window | None, room: int) -> Answer:
    """Claim the wanted files as far as `room` allows (0: this event cannot deliver anything)."""
    from handbill.ledger.claim import claim

    event, plan = context.event, context.plan
    context.world.add_roots(plan.roots)
    gate = plan.blocks
    documents = _sheets(context, current) if room and current is not None else {}
    refusals = _refusals(context, current, documents)
    # a missing file is not a reason to hold a call
    later = refusals.wants if refusals is not None and gate else []
    plan.wants += refusals.wants if refusals is not None and not gate else []
    own = _own_pages(context, [*plan.wants, *later])
    documents.update(own if room and current is not None else {})
    named: dict[str, list[str]] = {}
    _find_references(context, current, documents, named)
    moved = _moved(context, current, documents)
    remains = _remains(context, current) if room and current is not None and current.epoch else None
    offset = max(context.world.size(event.transcript), 0) if event.transcript else 0

    def change(newest: Window | None) -> tuple[Window | None, Answer]:
        answer = Answer()
        answer.plan = plan
        window = advance(context, newest)
        if window is None:
            return None, answer
        after = with_plan(context, window, moved)
        after = remains.noted_in(after, context.now) if remains is not None else after
        after = postponed(refusals.forget_solved(after), later) if refusals is not None else after
        if after.maybe_compacted_from >= 0:
            from handbill.flow.findings import doubted

            # The window may have been emptied: the transcript must show that first.
            after = doubted(postponed(after, plan.wants), event)
        elif room and (plan.wants or after.pending):
            how: dict[str, Any] = {"part": context.host.CAP, "offset": offset, "now": context.now, "waiting": not gate}
            after, answer.claim = claim(after, plan.wants, documents, event, room, project=context.world.project, **how)
        elif plan.wants:
            after = postponed(after, plan.wants)  # a later event delivers them
        if answer.claim is not None:
            answer.text, answer.number = answer.claim.text, after.serial
            note_same_text(after, answer.claim)
            want_named_pages(after, answer.claim, named)
            if refusals is not None:
                refusals.note(
                    after, answer.claim.refused, [*window.pending.items(), *plan.stale.items(), *plan.reasons]
                )
        return message_once(context, after, answer), answer

    try:
        answer = context.store.update(event.window, change)
    except StateUnwritable as error:
        if event.lane > 1 or gate:
            raise
        # The transcript shows past deliveries, and the client drops a repeated start text.
        context.trace(str(error), error.hint)
        return change(None)[1]
    return answer


def _refusals(
    context: EventContext, current: Window | None, documents: dict[str, Document | Refusal]
) -> Refusals | None:
    """Return the undeliverable files of this event and earlier ones; usually None."""
    refused = [path for path, document in documents.items() if isinstance(document, Refusal)]
    if current is None or not (refused or UNDELIVERABLE in current.flags):
        return None
    from handbill.flow.undeliverable import Refusals

    stale = [path for path in refused if path in context.plan.stale or (current.files.get(path) or {}).get("before")]
    outdated = {path: context.world.clock(context.world.changed(path)) for path in stale}
    return Refusals(documents, current, context.world.project, outdated)


def _remains(context: EventContext, current: Window) -> Remains:
    from handbill.flow.after_compaction import Remains

    return Remains(context, current)


def _own_pages(context: EventContext, wants: list[Want]) -> dict[str, Document | Refusal]:
    """Store the texts that handlers compose as files, so that a lost page can be delivered
    again."""
    found: dict[str, Document | Refusal] = {}
    for want in [want for want in wants if want.text]:
        # Normalize the text as a file's text would be: the stored and the delivered text must be
        # the same.
        want.text = harmless(want.text.replace("\r\n", "\n").replace("\0", "\ufffd")).strip("\n")
        digest = digest_of(want.text)
        try:
            want.path = context.store.keep_page(f"{want.path}-{digest}.md", want.text)
        except OSError as error:
            context.trace(f"{want.path}: not saved ({error}); if it does not arrive, Handbill cannot deliver it again")
            want.path = f"/{want.path}-{digest}.md"
        found[want.path] = Document(want.path, f"page:{digest}", digest, want.text)
    return found


def _sheets(context: EventContext, current: Window) -> dict[str, Document | Refusal]:
    """Read every file that may be granted, before the claim."""
    found: dict[str, Document | Refusal] = {}
    size, started = 0, context.world.spent()
    # a denial carries only what the call needs
    waiting = current.pending if not context.plan.blocks else ()
    asked = [*waiting, *(want.path for want in context.plan.wants if not want.text), *context.plan.stale]
    # the user's own files first
    for path in sorted(asked, key=lambda path: under(path, context.world.project)):
        if len(found) >= _MOST_READ or size >= _MOST_TEXT:
            break  # far more than one event can carry: leave the rest unread
        if is_over(context, started):
            context.trace(f"{path}: reading files took too long", "look for links that lead through many folders")
            break
        if path not in found and (path in context.plan.stale or not current.holds(path)):
            permitted = path in context.plan.allowed_paths or path in current.flags.get("permits", ())
            found[path] = document = context.world.load(path, permitted=permitted)
            size += 0 if isinstance(document, Refusal) else len(document.text)
    context.seconds_left -= context.world.spent() - started
    return found


def _find_references(
    context: EventContext, current: Window | None, documents: dict[str, Document | Refusal], found: dict[str, list[str]]
) -> None:
    """Find the files of the pages that each document refers to, before the claim.

    If the lookup fails, the page waits for the next event. If it fails there too, only the page is
    delivered.
    """
    for path, document in list(documents.items()):  # the user's own files first
        if isinstance(document, Refusal) or "§" not in document.text:
            continue
        record = current.files.get(path) if current is not None else None
        if record is not None and record["hash"] == document.digest and not record["parts"].startswith(NOT_SENT):
            continue  # its first part, which requests those pages, was delivered
        from handbill.library.named_pages import pages_named

        named = attempt(context, "references", pages_named, document, context.world)
        if named is not None:
            found[path] = named
        elif not context.asked.missed:
            del documents[path]


def _moved(context: EventContext, current: Window | None, documents: dict[str, Document | Refusal]) -> list[str]:
    """Return the host's files that no longer have the inode that we noted."""
    found = []
    for document in documents.values() if current is not None else ():
        if isinstance(document, Refusal) or current is None:
            continue
        for path, record in current.files.where("inode", document.inode):
            if record["via"] == "host" and context.world.inode(path) != document.inode:
                found.append(path)
    return found


def message_once(context: EventContext, window: Window, answer: Answer) -> Window:
    """Report the first problem to the person, once per window, with the command that shows
    details."""
    problems = [*(trace["error"] for trace in context.traces), *context.plan.notes]
    if answer.claim is not None:
        problems += [f"{refusal.named} {refusal.why}" for refusal in answer.claim.refused if not refusal.quiet]
    if not problems or window.flags.get("told"):
        return window
    answer.message = f"Handbill: {' '.join(problems[0].split())[:500]}. See: engine doctor"
    after = window.copy()
    after.flags["told"] = True
    return after
