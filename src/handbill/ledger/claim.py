"""Decide, in one locked update, which wanted files a window gets now.

Files are read before the claim: a file that is deleted meanwhile is still delivered as it was.
"""

from __future__ import annotations

from handbill.ledger.window import (
    GUESSED,
    NEVER_IN_A_TAIL,
    NOT_SENT,
    OWN_DIRECTIVE,
    SENT,
    brought_by,
    has_a_part,
    is_whole,
    with_letter,
)
from handbill.paths import is_rule_file, level_of, under
from handbill.text.blocks import BETWEEN, PRELOADED, UPDATED, block, parts_of, same_rules, units
from handbill.text.document import Document, Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from handbill.event import Event
    from handbill.ledger.window import Record, Window
    from handbill.plan import Want

# These begin the reasons of files whose order matters: smaller files do not overtake a large one.
IN_ORDER = ("context", "role ", "resume ", "handover of ")

MOST_CONSIDERED = 200  # files in one event
_MANY = 30  # waiting files: more than a few events can carry

SKIP_PATH, SKIP_INODE, SKIP_CONTENT = "skip-dedup", "skip-inode", "skip-content"
DIRECTIVE = "directive of "  # begins the reason of every rule file of a directory


class Grant:
    __slots__ = ("block", "digest", "part", "parts", "path", "reason", "same", "word")

    def __init__(
        self, path: str, digest: str, reason: str, block: str, part: int, parts: int, word: str, same: str = ""
    ) -> None:
        self.path = path
        self.same = same  # the block is a line that refers to this file
        self.digest = digest
        self.reason = reason
        self.block = block
        self.part = part
        self.parts = parts
        self.word = word


class Claim:
    __slots__ = ("elsewhere", "grants", "named", "queued", "refused", "skipped")

    def __init__(self) -> None:
        self.grants: list[Grant] = []
        self.skipped: list[tuple[str, str, str]] = []  # (path, why, reason)
        # skipped path -> [stamp, file that has the text, reason]
        self.elsewhere: dict[str, list[str]] = {}
        self.refused: list[Refusal] = []
        self.queued: list[tuple[str, str]] = []  # newly pending: (path, reason)
        self.named: list[tuple[str, str]] = []  # pending because a granted page refers to them

    @property
    def text(self) -> str:
        return BETWEEN.join(grant.block for grant in self.grants)


class _Candidate:
    __slots__ = ("document", "parts", "reason", "same", "word")

    def __init__(self, document: Document, reason: str, parts: list[str], word: str, same: str = "") -> None:
        self.document = document
        self.same = same  # another file with the same text: a line refers to it
        self.reason = reason
        self.parts = parts
        self.word = word


def claim(
    window: Window,
    wants: Iterable[Want],
    documents: Mapping[str, Document | Refusal],
    event: Event,
    budget: int,
    *,
    part: int = 0,
    offset: int = 0,
    now: float = 0.0,
    waiting: bool = True,
    project: str = "",
) -> tuple[Window, Claim]:
    """Grant the files that fit in `budget` units and are not in the window; the rest stay pending.

    `part`: the size limit of each part of a file, whatever this event can carry, because a later
    event may deliver the remaining parts. `offset`: the current size of the transcript, after which
    the proof of arrival will be. Without `waiting`, earlier pending files stay pending. The user's
    own files precede those of the `project`, however many of those are pending.
    """
    after, answer = window.copy(), Claim()
    queue = dict(window.pending) if waiting else {}
    for want in wants:
        queue.setdefault(want.path, want.reason)
    if len(queue) > _MANY:
        queue = dict(sorted(queue.items(), key=lambda item: _may_wait(item[0], item[1], project)))
    after.pending = {path: reason for path, reason in window.pending.items() if path not in queue}
    room = budget
    candidates: list[_Candidate] = []
    for number, (path, reason) in enumerate(queue.items()):
        if number >= MOST_CONSIDERED:
            after.pending[path] = reason  # considered at a later event
            continue
        candidate = _candidate(after, path, reason, documents, candidates, part or budget, answer, project)
        if isinstance(candidate, _Candidate):
            candidates.append(candidate)
        elif candidate:
            after.pending[path] = reason
    candidates.sort(key=lambda one: _turn(one, project))  # stable
    is_blocked = False  # an ordered file waits until the file before it is delivered
    for candidate in candidates:
        ordered = candidate.reason.startswith(IN_ORDER)
        if (ordered and is_blocked) or (candidate.same and not after.holds(candidate.same)):
            after.pending[candidate.document.path] = candidate.reason
            continue
        room = _grant(after, candidate, room, event, now, answer)
        is_blocked = ordered and candidate.document.path in after.pending
    for path, reason in after.pending.items():
        if path not in window.pending:
            answer.queued.append((path, reason))
    if answer.grants:
        after.serial += 1
        after.claims.append({
            "id": after.serial, "via": event.kind, "batch": event.batch, "offset": offset, "at": now,
            "items": [[grant.path, grant.part, grant.digest, grant.parts] for grant in answer.grants],
        })  # fmt: skip
    return after, answer


def _may_wait(path: str, reason: str, project: str) -> bool:
    """Whether a path may give way when many files wait. Files of gates keep their order."""
    return under(path, project) and not reason.startswith(IN_ORDER)


def _turn(candidate: _Candidate, project: str) -> int:
    """Return the sort key of a candidate.

    Small rules and standards are first, then the files of gates in their order, then large files,
    those of the project last. A line that refers to another file's text follows that text.
    """
    if candidate.same:
        return 4
    if candidate.reason.startswith(IN_ORDER):
        return 1
    return 0 if len(candidate.parts) == 1 else 2 + under(candidate.document.path, project)


def _under_another_name(
    after: Window, document: Document, chosen: list[_Candidate], project: str
) -> tuple[str, str, bool]:
    """Return (why `document` is not delivered, path that has its text, whether we delivered that).
    An inode alone proves nothing. What the host reads in a project proves nothing about a file
    outside of it, because the host may not follow that link.
    """
    for path, record in after.files.where("inode", document.inode):
        is_sure = GUESSED not in record["reason"] and under(path, project) == under(document.path, project)
        if record["via"] == "host" and is_whole(record) and is_sure:
            return SKIP_INODE, path, False
    for path, record in after.files.where("hash", document.digest):
        if is_whole(record) and not record.get("same"):
            return SKIP_INODE if record["inode"] == document.inode else SKIP_CONTENT, path, True
    for other in chosen:  # of several files, the first has the text
        if other.document.digest == document.digest:
            return SKIP_INODE if other.document.inode == document.inode else SKIP_CONTENT, other.document.path, True
    return "", "", False


def _is_elsewhere(path: str, other: str) -> bool:
    """Whether the two rule files apply to different directories."""
    return level_of(path) != level_of(other)


def _as_before(after: Window, path: str, record: Record | None, stamp: str) -> None:
    """Restore the record: the newer state is not delivered, and the window has the old one."""
    if record is not None and record.get("before"):
        after.files[path] = {
            **record, "parts": record["before"], "before": "", "stamp": stamp or record.get("stamp", ""),
            "updated": False,
        }  # fmt: skip


def _candidate(
    after: Window,
    path: str,
    reason: str,
    documents: Mapping[str, Document | Refusal],
    chosen: list[_Candidate],
    part: int,
    answer: Claim,
    project: str,
) -> _Candidate | bool:
    """Return the file to deliver; True: keep it pending; False: settled without delivery."""
    if after.holds(path):
        answer.skipped.append((path, SKIP_PATH, reason))
        return False
    carried = after.from_last_epoch.get(path)
    if carried is not None and (after.flags.get("kept_unknown") or carried["via"] not in NEVER_IN_A_TAIL):
        return True  # a compaction may have kept it: the transcript must show that first
    document = documents.get(path)
    if document is None:
        return True  # another process queued it after we read the files
    record = after.files.get(path)
    if isinstance(document, Refusal):
        _as_before(after, path, record, "")
        answer.refused.append(document)
        return False
    # A project's file may change later, so it never replaces a file of the user's own library.
    own = reason == OWN_DIRECTIVE
    why, other, ours = _under_another_name(after, document, chosen, project) if not own else ("", "", False)
    if record is not None and record.get("before") and record["hash"] == document.digest:
        why = SKIP_PATH  # it changed, and changed back before the new state was delivered
    changed = record is not None and bool(record.get("updated"))
    # A changed rule that the agent read, or that the transcript showed, has another reason.
    is_rule = reason.startswith(DIRECTIVE) or (changed and is_rule_file(path))
    if ours and _is_elsewhere(path, other) and is_rule:
        line = same_rules(other)
        return _Candidate(document, reason, [line], UPDATED if changed else PRELOADED, same=other)
    if why:
        _as_before(after, path, record, document.stamp)
        answer.skipped.append((path, why, reason))
        if why != SKIP_PATH:
            answer.elsewhere[path] = [document.stamp, other, reason]
        return False
    stale = record is not None and record["hash"] != document.digest and has_a_part(record)
    if stale and record is not None and record.get("next") != document.digest:
        after.files[path] = {**record, "next": document.digest}
        return True  # it is being edited during its delivery: start again when it no longer changes
    try:
        parts = parts_of(path, document.digest, document.text, part)
    except ValueError as error:
        answer.refused.append(Refusal(path, str(error)))
        return False
    updated = stale or (record is not None and bool(record.get("updated")))
    return _Candidate(document, reason, parts, UPDATED if updated else PRELOADED)


def _grant(after: Window, candidate: _Candidate, room: int, event: Event, now: float, answer: Claim) -> int:
    document, total = candidate.document, len(candidate.parts)
    record = after.files.get(document.path)
    # The record may be of a line about another file while the text is delivered now, or vice versa.
    is_other = record is not None and record.get("same", "") != candidate.same
    if record is None or is_other or record["hash"] != document.digest or len(record["parts"]) != total:
        record = _record(document, candidate, event, now)
    for number, text in enumerate(candidate.parts, 1):
        if record["parts"][number - 1] != NOT_SENT:
            continue
        whole = block(document.path, document.digest, text, number, total, candidate.word)
        size = units(whole) + len(BETWEEN)
        if size - len(BETWEEN) > room:
            break
        room -= size
        record = brought_by({**with_letter(record, number, SENT), "at": now}, event.kind, event.batch)
        answer.grants.append(
            Grant(
                document.path, document.digest, candidate.reason, whole, number, total, candidate.word, candidate.same
            )
        )
    if has_a_part(record):
        after.files[document.path] = record
    if not is_whole(record):
        after.pending[document.path] = candidate.reason
    return room


def _record(document: Document, candidate: _Candidate, event: Event, now: float) -> Record:
    record: Record = {
        "inode": document.inode,
        "hash": document.digest,
        "chars": units(document.text),
        "reason": candidate.reason,
        "at": now,
        "via": event.kind,
        "batch": event.batch,
        "parts": NOT_SENT * len(candidate.parts),
        "stamp": document.stamp,
    }
    if candidate.word == UPDATED:
        record["updated"] = True
    if candidate.same:
        record["same"] = candidate.same
    return record
