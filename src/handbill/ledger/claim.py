"""The answer to "is it already there?", in one place; it runs inside one locked update.

Files are read before the claim, so the text of every granted file is known: a file deleted meanwhile is still
delivered as it was, and a grant never turns out empty.
"""

from __future__ import annotations

from handbill.event import TOOL_CALLED
from handbill.ledger.window import GUESSED, NEVER_IN_A_TAIL, OWN_DIRECTIVE, with_letter
from handbill.paths import is_rule_file, level_of, under
from handbill.text.blocks import BETWEEN, PRELOADED, UPDATED, block, parts_of, same_rules, units
from handbill.text.document import Refusal, Sheet

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


def postponed(window: Window, wants: Iterable[Want]) -> Window:
    """Nothing can be granted now: what is wanted waits."""
    twin = window.copy()
    for want in wants:
        if not twin.holds(want.path):
            twin.pending.setdefault(want.path, want.reason)
    return twin


class _Candidate:
    __slots__ = ("parts", "reason", "same", "sheet", "word")

    def __init__(self, sheet: Sheet, reason: str, parts: list[str], word: str, same: str = "") -> None:
        self.sheet = sheet
        self.same = same  # another file whose text it has: one line says so
        self.reason = reason
        self.parts = parts
        self.word = word


def claim(
    window: Window,
    wants: Iterable[Want],
    sheets: Mapping[str, Sheet | Refusal],
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
    twin, answer = window.copy(), Claim()
    queue = dict(window.pending) if waiting else {}
    for want in wants:
        queue.setdefault(want.path, want.reason)
    if len(queue) > _MANY:
        queue = dict(sorted(queue.items(), key=lambda item: _may_wait(item[0], item[1], project)))
    twin.pending = {path: reason for path, reason in window.pending.items() if path not in queue}
    room = budget
    candidates: list[_Candidate] = []
    for number, (path, reason) in enumerate(queue.items()):
        if number >= MOST_CONSIDERED:
            twin.pending[path] = reason  # far more than one event can carry: their turn comes
            continue
        candidate = _candidate(twin, path, reason, sheets, candidates, part or budget, answer, project)
        if isinstance(candidate, _Candidate):
            candidates.append(candidate)
        elif candidate:
            twin.pending[path] = reason
    candidates.sort(key=lambda one: _turn(one, project))  # stable
    is_blocked = False  # what must be delivered in order waits for the file before it
    for candidate in candidates:
        ordered = candidate.reason.startswith(IN_ORDER)
        if (ordered and is_blocked) or (candidate.same and not twin.holds(candidate.same)):
            twin.pending[candidate.sheet.path] = candidate.reason
            continue
        room = _grant(twin, candidate, room, event, now, answer)
        is_blocked = ordered and candidate.sheet.path in twin.pending  # they follow one another
    for path, reason in twin.pending.items():
        if path not in window.pending:
            answer.queued.append((path, reason))
    if answer.grants:
        twin.serial += 1
        twin.claims.append({
            "id": twin.serial, "via": event.kind, "batch": event.batch, "offset": offset, "at": now,
            "items": [[grant.path, grant.part, grant.digest, grant.parts] for grant in answer.grants],
        })  # fmt: skip
    return twin, answer


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
    return 0 if len(candidate.parts) == 1 else 2 + under(candidate.sheet.path, project)


def _under_another_name(twin: Window, sheet: Sheet, chosen: list[_Candidate], project: str) -> tuple[str, str, bool]:
    """(why not to deliver: its text is there already; under which name; is that a delivery of ours).

    An inode alone proves nothing, and what the host reads in a project proves nothing about a file elsewhere: it may
    not follow that link."""
    for path, record in twin.files.where("inode", sheet.inode):
        is_sure = GUESSED not in record["reason"] and under(path, project) == under(sheet.path, project)
        if record["via"] == "host" and "." not in record["parts"] and is_sure:
            return SKIP_INODE, path, False
    for path, record in twin.files.where("hash", sheet.digest):
        if "." not in record["parts"] and not record.get("same"):
            return SKIP_INODE if record["inode"] == sheet.inode else SKIP_CONTENT, path, True
    for other in chosen:  # the first of them has the text
        if other.sheet.digest == sheet.digest:
            return SKIP_INODE if other.sheet.inode == sheet.inode else SKIP_CONTENT, other.sheet.path, True
    return "", "", False


def _is_elsewhere(path: str, other: str) -> bool:
    """Does it speak for another directory?"""
    return level_of(path) != level_of(other)


def _as_before(twin: Window, path: str, record: Record | None, stamp: str) -> None:
    """A newer state of a file is not delivered after all: the window holds what it held."""
    if record is not None and record.get("before"):
        twin.files[path] = {
            **record, "parts": record["before"], "before": "", "stamp": stamp or record.get("stamp", ""),
            "updated": False,
        }  # fmt: skip


def _candidate(
    twin: Window,
    path: str,
    reason: str,
    sheets: Mapping[str, Sheet | Refusal],
    chosen: list[_Candidate],
    part: int,
    answer: Claim,
    project: str,
) -> _Candidate | bool:
    """What to deliver; True = keep it pending; False = settled without delivery."""
    if twin.holds(path):
        answer.skipped.append((path, SKIP_PATH, reason))
        return False
    carried = twin.carried.get(path)
    if carried is not None and (twin.flags.get("kept_unknown") or carried["via"] not in NEVER_IN_A_TAIL):
        return True  # it may be in the part that a compaction kept: the transcript must tell first
    sheet = sheets.get(path)
    if sheet is None:
        return True  # queued by another process after we looked
    record = twin.files.get(path)
    if isinstance(sheet, Refusal):
        _as_before(twin, path, record, "")
        answer.refused.append(sheet)
        return False
    # what the user wrote for every project gives way to no file of a project, which may change later
    own = reason == OWN_DIRECTIVE
    why, other, ours = _under_another_name(twin, sheet, chosen, project) if not own else ("", "", False)
    if record is not None and record.get("before") and record["hash"] == sheet.digest:
        why = SKIP_PATH  # it had changed, and changed back before that could be delivered
    changed = record is not None and bool(record.get("updated"))
    # a changed rule that the agent had read itself, or that was found in the transcript, has another reason
    is_rule = reason.startswith(DIRECTIVE) or (changed and is_rule_file(path))
    if ours and _is_elsewhere(path, other) and is_rule:
        line = same_rules(other)
        return _Candidate(sheet, reason, [line], UPDATED if changed else PRELOADED, same=other)
    if why:
        _as_before(twin, path, record, sheet.stamp)
        answer.skipped.append((path, why, reason))
        if why != SKIP_PATH:
            answer.elsewhere[path] = [sheet.stamp, other, reason]
        return False
    stale = record is not None and record["hash"] != sheet.digest and bool(record["parts"].strip("."))
    if stale and record is not None and record.get("next") != sheet.digest:
        twin.files[path] = {**record, "next": sheet.digest}
        return True  # being edited while it is delivered: begin again when it has come to rest
    try:
        parts = parts_of(path, sheet.digest, sheet.text, part)
    except ValueError as error:
        answer.refused.append(Refusal(path, str(error)))
        return False
    updated = stale or (record is not None and bool(record.get("updated")))
    return _Candidate(sheet, reason, parts, UPDATED if updated else PRELOADED)


def _grant(twin: Window, candidate: _Candidate, room: int, event: Event, now: float, answer: Claim) -> int:
    sheet, total = candidate.sheet, len(candidate.parts)
    record = twin.files.get(sheet.path)
    # the record may be of a line about another file, and we deliver the text now, or the other way round
    is_other = record is not None and record.get("same", "") != candidate.same
    if record is None or is_other or record["hash"] != sheet.digest or len(record["parts"]) != total:
        record = _record(sheet, candidate, event, now)
    for number, text in enumerate(candidate.parts, 1):
        if record["parts"][number - 1] != ".":
            continue
        whole = block(sheet.path, sheet.digest, text, number, total, candidate.word)
        size = units(whole) + len(BETWEEN)
        if size - len(BETWEEN) > room:
            break
        room -= size
        record = brought_by({**with_letter(record, number, "s"), "at": now}, event.kind, event.batch)
        answer.grants.append(
            Grant(sheet.path, sheet.digest, candidate.reason, whole, number, total, candidate.word, candidate.same)
        )
    if record["parts"].strip("."):
        twin.files[sheet.path] = record
    if "." in record["parts"]:
        twin.pending[sheet.path] = candidate.reason
    return room


def brought_by(record: Record, kind: str, batch: str) -> Record:
    """A record whose newest part came with this event. Parts may come with the denials of several calls."""
    after = {**record, "via": kind, "batch": batch}
    if kind == TOOL_CALLED and batch not in record.get("denials", ()):
        after["denials"] = [*record.get("denials", ()), batch]
    return after


def _record(sheet: Sheet, candidate: _Candidate, event: Event, now: float) -> Record:
    record: Record = {
        "inode": sheet.inode, "hash": sheet.digest, "chars": units(sheet.text), "reason": candidate.reason,
        "at": now, "via": event.kind, "batch": event.batch, "parts": "." * len(candidate.parts), "stamp": sheet.stamp,
    }  # fmt: skip
    if candidate.word == UPDATED:
        record["updated"] = True
    if candidate.same:
        record["same"] = candidate.same
    return record
