"""What a plan does to a window: claim what is wanted, note the rest, inside one locked update.

Imported only when there is something to do; the usual event never gets here.
"""

from __future__ import annotations

from handbill.digest import digest_of
from handbill.errors import StateUnwritable
from handbill.flow.event_context import Answer, attempt, is_over
from handbill.ledger.claim import SKIP_PATH
from handbill.ledger.window import ELSEWHERE, LINKED, NAMED_BY, NESTED, OWN, SEEDING, UNDELIVERABLE, UNRECORDED, see
from handbill.paths import name, under
from handbill.plan import BLOCK
from handbill.text.blocks import UPDATED, harmless
from handbill.text.document import Refusal, Sheet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handbill.flow.after_compaction import Remains
    from handbill.flow.event_context import Turn
    from handbill.flow.undeliverable import Refusals
    from handbill.ledger.claim import Claim
    from handbill.ledger.window import Window
    from handbill.plan import Plan, Want


_MOST_READ, _MOST_TEXT = 300, 1 << 19  # files, and characters, in one event


def advance(turn: Turn, window: Window | None) -> Window | None:
    """The window with what the facts say about it; the same object when they say nothing."""
    if turn.facts is None:
        return window
    from handbill.flow.findings import apply

    after, turn.outcomes = apply(turn.facts, turn.event, window, turn.host, turn.now)
    if (
        after is not None
        and after.started
        and (window is None or not window.started or after.created != window.created)
    ):
        turn.opened = "new-window"
    elif after is not None and window is not None and after.epoch != window.epoch:
        turn.opened = "new-epoch"
    else:
        turn.opened = ""
    return after


def warn_if_unrecorded(turn: Turn, before: Window | None, after: Window | None) -> None:
    """Receipts are impossible in this window: the person should know, once."""
    is_known = before is not None and before.flags.get(UNRECORDED)
    if after is not None and after.flags.get(UNRECORDED) and not is_known:
        turn.trace(
            "the client's record shows none of the delivered files; Handbill assumes that they arrived",
            "this client may be newer than this version of Handbill: update Handbill",
        )


def said_beside(plan: Plan, answer: Answer) -> bool:
    """Did another call of the same message get what this one would say?"""
    own = {want.path for want in plan.wants if want.text}
    skipped = answer.claim.skipped if answer.claim is not None else ()
    return any(why == SKIP_PATH or path in own for path, why, _ in skipped)


def deliver(turn: Turn, current: Window | None, room: int) -> Answer:
    """Claim what is wanted, as far as `room` goes (0: this event carries nothing)."""
    from handbill.ledger.claim import claim, postponed

    event, plan = turn.event, turn.plan
    turn.world.add_roots(plan.roots)
    gate = plan.verdict == BLOCK
    sheets = _sheets(turn, current) if room and current is not None else {}
    refusals = _refusals(turn, current, sheets)
    later = refusals.wants if refusals is not None and gate else []  # what is missing is not a reason to hold a call
    plan.wants += refusals.wants if refusals is not None and not gate else []
    own = _own_pages(turn, [*plan.wants, *later])
    sheets.update(own if room and current is not None else {})
    named: dict[str, list[str]] = {}
    _find_references(turn, current, sheets, named)
    moved = _moved(turn, current, sheets)
    remains = _remains(turn, current) if room and current is not None and current.epoch else None
    offset = max(turn.world.size(event.transcript), 0) if event.transcript else 0

    def change(newest: Window | None) -> tuple[Window | None, Answer]:
        answer = Answer()
        answer.plan = plan
        window = advance(turn, newest)
        if window is None:
            return None, answer
        after = _noted(turn, window, moved)
        after = remains.noted_in(after, turn.now) if remains is not None else after
        after = postponed(refusals.forget_solved(after), later) if refusals is not None else after
        if after.suspect >= 0:
            from handbill.flow.findings import doubted

            # this window may have been emptied: the transcript must say so first
            after = doubted(postponed(after, plan.wants), event)
        elif room and (plan.wants or after.pending):
            how: dict[str, Any] = {"part": turn.host.CAP, "offset": offset, "now": turn.now, "waiting": not gate}
            after, answer.claim = claim(after, plan.wants, sheets, event, room, project=turn.config.project, **how)
        if answer.claim is not None:
            answer.text, answer.number = answer.claim.text, after.serial
            _found_elsewhere(after, answer.claim)
            _expand(after, answer.claim, named)
            if refusals is not None:
                refusals.note(
                    after, answer.claim.refused, [*window.pending.items(), *plan.stale.items(), *plan.reasons]
                )
        return _telling(turn, after, answer), answer

    try:
        answer = turn.store.update(event.window, change)
    except StateUnwritable as error:
        if event.lane > 1 or gate:
            raise
        # The transcript tells what is there, and the client itself drops a repeat of the same start text.
        turn.trace(str(error), error.hint)
        return change(None)[1]
    return answer


def _refusals(turn: Turn, current: Window | None, sheets: dict[str, Sheet | Refusal]) -> Refusals | None:
    """The files that cannot be delivered, of this event and earlier ones; None if there are none, as usual."""
    refused = [path for path, sheet in sheets.items() if isinstance(sheet, Refusal)]
    if current is None or not (refused or UNDELIVERABLE in current.flags):
        return None
    from handbill.flow.undeliverable import Refusals

    stale = [path for path in refused if path in turn.plan.stale or (current.files.get(path) or {}).get("before")]
    outdated = {path: turn.world.clock(turn.world.changed(path)) for path in stale}
    return Refusals(sheets, current, turn.config.project, outdated)


def _remains(turn: Turn, current: Window) -> Remains:
    from handbill.flow.after_compaction import Remains

    return Remains(turn, current)


def _found_elsewhere(window: Window, found: Claim) -> None:
    """Files whose text is in the window under another name: nobody has to wait for them, until one of both changes."""
    if found.elsewhere:
        window.flags[ELSEWHERE] = {**window.flags.get(ELSEWHERE, {}), **found.elsewhere}
    for path in [grant.path for grant in found.grants if grant.word == UPDATED and grant.part == 1]:
        from handbill.ledger.host_files import want_dependents

        want_dependents(window, path, [grant.path for grant in found.grants])


def _own_pages(turn: Turn, wants: list[Want]) -> dict[str, Sheet | Refusal]:
    """What handlers say in their own words becomes files: a page that was lost can be delivered again."""
    found: dict[str, Sheet | Refusal] = {}
    for want in [want for want in wants if want.text]:
        # as a file would be read: what is kept and what is delivered must be the same text
        want.text = harmless(want.text.replace("\r\n", "\n").replace("\0", "\ufffd")).strip("\n")
        digest = digest_of(want.text)
        try:
            want.path = turn.store.keep_page(f"{want.path}-{digest}.md", want.text)
        except OSError as error:
            turn.trace(f"{want.path}: not saved ({error}); if it does not arrive, Handbill cannot deliver it again")
            want.path = f"/{want.path}-{digest}.md"
        found[want.path] = Sheet(want.path, f"page:{digest}", digest, want.text)
    return found


def _sheets(turn: Turn, current: Window) -> dict[str, Sheet | Refusal]:
    """Everything that may be granted, read before the claim."""
    found: dict[str, Sheet | Refusal] = {}
    size, started = 0, turn.world.spent()
    waiting = current.pending if turn.plan.verdict != BLOCK else ()  # a denial brings only what the call needs
    asked = [*waiting, *(want.path for want in turn.plan.wants if not want.text), *turn.plan.stale]
    for path in sorted(asked, key=lambda path: under(path, turn.config.project)):  # the user's own files first
        if len(found) >= _MOST_READ or size >= _MOST_TEXT:
            break  # far more than one event can carry: the rest waits unread
        if is_over(turn, started):
            turn.trace(f"{path}: reading files took too long", "look for links that lead through many folders")
            break
        if path not in found and (path in turn.plan.stale or not current.holds(path)):
            permitted = path in turn.plan.permits or path in current.flags.get("permits", ())
            found[path] = sheet = turn.world.load(path, permitted=permitted)
            size += 0 if isinstance(sheet, Refusal) else len(sheet.text)
    turn.seconds_left -= turn.world.spent() - started
    return found


def _find_references(
    turn: Turn, current: Window | None, sheets: dict[str, Sheet | Refusal], found: dict[str, list[str]]
) -> None:
    """path -> files of the pages that it refers to; looked up before the claim, like the text itself.

    If the lookup fails, the page waits for the next event. If it fails there too, only the page is delivered.
    """
    for path, sheet in list(sheets.items()):  # the user's own first
        if isinstance(sheet, Refusal) or "§" not in sheet.text:
            continue
        record = current.files.get(path) if current is not None else None
        if record is not None and record["hash"] == sheet.digest and not record["parts"].startswith("."):
            continue  # its first part, which brings them, was delivered
        from handbill.library.named_pages import pages_named

        named = attempt(turn, "references", pages_named, sheet, turn.world, turn.config)
        if named is not None:
            found[path] = named
        elif not turn.asked.missed:
            del sheets[path]


def _expand(window: Window, found: Claim, named: dict[str, list[str]]) -> None:
    """What a page that goes out now refers to comes with the next event: the pipeline is the recursion."""
    for grant in found.grants:
        for path in named.get(grant.path, ()) if grant.part == 1 else ():
            if path not in window.pending and not window.holds(path):
                window.pending[path] = f"{NAMED_BY}{name(grant.path)}"
                found.named.append((path, window.pending[path]))


def _moved(turn: Turn, current: Window | None, sheets: dict[str, Sheet | Refusal]) -> list[str]:
    """Files of the host's that are no longer behind the inode we noted."""
    found = []
    for sheet in sheets.values() if current is not None else ():
        if isinstance(sheet, Refusal) or current is None:
            continue
        for path, record in current.files.where("inode", sheet.inode):
            if record["via"] == "host" and turn.world.inode(path) != sheet.inode:
                found.append(path)
    return found


def _telling(turn: Turn, window: Window, answer: Answer) -> Window:
    """The person is told once per window that something went wrong, and where to look."""
    problems = [*(trace["error"] for trace in turn.traces), *turn.plan.notes]
    if answer.claim is not None:
        problems += [f"{refusal.named} {refusal.why}" for refusal in answer.claim.refused if not refusal.quiet]
    if not problems or window.flags.get("told"):
        return window
    answer.message = f"Handbill: {' '.join(problems[0].split())[:500]}. See: engine doctor"
    twin = window.copy()
    twin.flags["told"] = True
    return twin


def _noted(turn: Turn, window: Window, moved: list[str]) -> Window:
    """What the plan says besides wanting files."""
    plan, after = turn.plan, window
    if moved:
        after = after.copy()
        for path in moved:
            if path in after.files:
                after.files[path] = {**after.files[path], "inode": ""}
    for path, reason in plan.seen:
        if not after.holds(path):
            named = reason.startswith(NESTED) and not turn.event.batch.endswith(":")
            batch = turn.event.batch if named else ""
            after = see(after, path, turn.world.inode(path), reason, turn.now, max(turn.world.size(path), 0), batch)
    if plan.changes:
        after = after.copy()
        for directory, found in plan.touched.items():
            after.touched[directory] = found
        after.flags.update(plan.flags)
        for path in plan.unwanted:
            after.pending.pop(path, None)
        if plan.roots:
            after.flags["roots"] = sorted({*after.flags.get("roots", ()), *plan.roots})
        if plan.permits:
            after.flags["permits"] = sorted({*after.flags.get("permits", ()), *plan.permits})
        if plan.work is not None:
            after.work = plan.work
            after.lifecycle = LINKED if plan.work.get("session") else SEEDING
        _refreshed(after, turn)
    return after


def _refreshed(window: Window, turn: Turn) -> None:
    """Files that changed since they were delivered: to be delivered again, or known to the agent already."""
    plan = turn.plan
    refused = window.flags.get(UNDELIVERABLE, {})
    if any(path in refused for path in plan.solved):
        window.flags[UNDELIVERABLE] = {path: entry for path, entry in refused.items() if path not in plan.solved}
    for path, stamp in plan.known.items():
        record = window.files.get(path)
        if record is not None:
            own = {OWN: [plan.digests[path], turn.event.batch, turn.now]} if path in plan.digests else {}
            window.files[path] = {**record, "stamp": stamp, **own}
    for path, reason in plan.stale.items():
        record = window.files.get(path)
        if record is not None and "." not in record["parts"]:
            parts = record["parts"]
            window.files[path] = {**record, "parts": "." * len(parts), "before": parts, "updated": True}
            window.pending.setdefault(path, reason)
