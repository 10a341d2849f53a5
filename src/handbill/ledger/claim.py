"""The answer to "is it already there?", in one place; it runs inside one locked update.

Files are read before the claim, so the text of every granted file is known: a file deleted meanwhile is still
delivered as it was, and a grant never turns out empty.
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

# Begin the reasons of files whose order matters: a large one is not overtaken by smaller ones behind it.
IN_ORDER = ("context", "role ", "resume ", "handover of ")

MOST_CONSIDERED = 200  # files in one event
_MANY = 30  # files that wait: more than a few events can carry

SKIP_PATH, SKIP_INODE, SKIP_CONTENT = "skip-dedup", "skip-inode", "skip-content"
DIRECTIVE = "directive of "  # begins the reason of every file that speaks for a directory


class Grant:
    __slots__ = ("block", "digest", "part", "parts", "path", "reason", "same", "word")

    def __init__(
        self, path: str, digest: str, reason: str, block: str, part: int, parts: int, word: str, same: str = ""
    ) -> None:
        self.path = path
        self.same = same  # it is one line: the text is there under this other name
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
        self.elsewhere: dict[str, list[str]] = {}  # skipped -> [stamp, the file that has the text, reason]
        self.refused: list[Refusal] = []
        self.queued: list[tuple[str, str]] = []  # newly pending: (path, reason)
        self.named: list[tuple[str, str]] = []  # pending, because a granted page refers to it

    @property
    def text(self) -> str:
        return BETWEEN.join(grant.block for grant in self.grants)


class _Candidate:
    __slots__ = ("document", "parts", "reason", "same", "word")

    def __init__(self, document: Document, reason: str, parts: list[str], word: str, same: str = "") -> None:
        self.document = document
        self.same = same  # another file whose text it has: one line says so
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
    """Grant what fits in `budget` units and is not there yet; the rest waits in `pending`.

    `part`: how large the parts of a file are, whatever this event can carry: another one may bring the rest.
    `offset` is the size of the transcript now: proof of arrival will be after it. Without
    `waiting`, what was pending before goes on waiting. However much waits from the `project`, the user's own files
    have their turn before that.
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
            after.pending[path] = reason  # far more than one event can carry: their turn comes
            continue
        candidate = _candidate(after, path, reason, documents, candidates, part or budget, answer, project)
        if isinstance(candidate, _Candidate):
            candidates.append(candidate)
        elif candidate:
            after.pending[path] = reason
    candidates.sort(key=lambda one: _turn(one, project))  # stable
    is_blocked = False  # what must be delivered in order waits for the file before it
    for candidate in candidates:
        ordered = candidate.reason.startswith(IN_ORDER)
        if (ordered and is_blocked) or (candidate.same and not after.holds(candidate.same)):
            after.pending[candidate.document.path] = candidate.reason
            continue
        room = _grant(after, candidate, room, event, now, answer)
        is_blocked = ordered and candidate.document.path in after.pending  # they follow one another
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
    """Files of gates keep their order."""
    return under(path, project) and not reason.startswith(IN_ORDER)


def _turn(candidate: _Candidate, project: str) -> int:
    """Rules and standards first, if they are whole; then the files of gates in their order; then large ones, those of
    the project last.

    Lines that refer to a text come after it.
    """
    if candidate.same:
        return 4
    if candidate.reason.startswith(IN_ORDER):
        return 1
    return 0 if len(candidate.parts) == 1 else 2 + under(candidate.document.path, project)


def _under_another_name(
    after: Window, document: Document, chosen: list[_Candidate], project: str
) -> tuple[str, str, bool]:
    """(why not to deliver: its text is there already; under which name; is that a delivery of ours).

    An inode alone proves nothing, and what the host reads in a project proves nothing about a file elsewhere: it may
    not follow that link."""
    for path, record in after.files.where("inode", document.inode):
        is_sure = GUESSED not in record["reason"] and under(path, project) == under(document.path, project)
        if record["via"] == "host" and is_whole(record) and is_sure:
            return SKIP_INODE, path, False
    for path, record in after.files.where("hash", document.digest):
        if is_whole(record) and not record.get("same"):
            return SKIP_INODE if record["inode"] == document.inode else SKIP_CONTENT, path, True
    for other in chosen:  # the first of them has the text
        if other.document.digest == document.digest:
            return SKIP_INODE if other.document.inode == document.inode else SKIP_CONTENT, other.document.path, True
    return "", "", False


def _is_elsewhere(path: str, other: str) -> bool:
    """Does it speak for another directory?"""
    return level_of(path) != level_of(other)


def _as_before(after: Window, path: str, record: Record | None, stamp: str) -> None:
    """A newer state of a file is not delivered after all: the window holds what it held."""
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
    """What to deliver; True = keep it pending; False = settled without delivery."""
    if after.holds(path):
        answer.skipped.append((path, SKIP_PATH, reason))
        return False
    carried = after.from_last_epoch.get(path)
    if carried is not None and (after.flags.get("kept_unknown") or carried["via"] not in NEVER_IN_A_TAIL):
        return True  # it may be in the part that a compaction kept: the transcript must tell first
    document = documents.get(path)
    if document is None:
        return True  # queued by another process after we looked
    record = after.files.get(path)
    if isinstance(document, Refusal):
        _as_before(after, path, record, "")
        answer.refused.append(document)
        return False
    # what the user wrote for every project gives way to no file of a project, which may change later
    own = reason == OWN_DIRECTIVE
    why, other, ours = _under_another_name(after, document, chosen, project) if not own else ("", "", False)
    if record is not None and record.get("before") and record["hash"] == document.digest:
        why = SKIP_PATH  # it had changed, and changed back before that could be delivered
    changed = record is not None and bool(record.get("updated"))
    # a changed rule that the agent had read itself, or that was found in the transcript, has another reason
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
        return True  # being edited while it is delivered: begin again when it has come to rest
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
    # the record may be of a line about another file, and we deliver the text now, or the other way round
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
