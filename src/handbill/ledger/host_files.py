"""Files that the host itself shows in a window: read, mentioned, or restored after a compaction."""

from __future__ import annotations

from handbill.ledger.window import (
    DOUBTFUL,
    ELSEWHERE,
    MENTIONED,
    NESTED,
    NEVER_IN_A_TAIL,
    NOT_SENT,
    OWN,
    PASSING,
    READ_ITSELF,
    RESTORED,
    is_shown,
    is_whole,
    see,
)
from handbill.paths import is_rule_file, level_of, parent, under

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from handbill.event import Event
    from handbill.ledger.content import Content
    from handbill.ledger.window import Record, Window

FOUND = "found in the transcript"  # the reason of a file that was not in the ledger


def with_shown_rules(window: Window, content: Content, reason: str, now: float) -> Window:
    """Add the rules that are in the window because the agent read or the user mentioned them."""
    for path in content.files:
        record = window.files.get(path)
        # the host may show the old text
        is_changed = record is not None and bool(record.get("updated"))
        if is_rule_file(path) and not window.holds(path) and not is_changed:
            window = see(window, path, "", reason, now)
    return window


def compared(window: Window, content: Content, event: Event, now: float, *, whole: bool) -> tuple[Window, list[str]]:
    """Return the window with the rules that the host shows now, and the rules that it no longer
    shows.

    Rules that are no longer shown are delivered when their directory is touched again. `whole`:
    `content` is complete; otherwise it begins at a mention.
    """
    mention = window.flags.get(MENTIONED)
    if mention is not None and event.is_moment(mention["prompt"]):
        return window, []  # the host has not taken the prompt yet
    mentioned = mention["files"] if mention is not None else ()
    # an earlier message shows these
    before = mention.get("before", ()) if mention is not None else ()
    gone = [path for path in hidden(window, content) if whole or (path in mentioned and path not in before)]
    after = window.copy() if gone or mention is not None else window
    after.flags.pop(MENTIONED, None)
    for path in gone:
        ours = after.files[path].get("ours") if not whole else None
        if ours is not None:
            after.files[path] = ours
            if not is_whole(ours):
                after.pending[path] = ours["reason"]
            continue
        del after.files[path]
        look_again(after, path)
        want_dependents(after, path)
    if whole:
        return with_shown_rules(after, content, READ_ITSELF, now), gone
    is_dropped = mention is not None and not content.has_batch(mention["prompt"])
    for path in mentioned:
        record = after.files.get(path)
        if path in content.files and not after.holds(path):
            # our delivery was lost, and the host shows the file
            after = see(after, path, "", READ_ITSELF, now)
        elif record is not None and OWN in record and path in before and is_dropped:
            after.files[path] = without_reading(record)  # compare it with the message that shows it
        elif record is not None and OWN in record and path not in before and path not in content.files:
            # compare it with the text that we delivered
            after.files[path] = {**without_reading(record), "stamp": "unknown"}
    return after, gone


def without_reading(record: Record) -> Record:
    """Return the record without the newer state that the agent saw: the file is compared again."""
    return {**{name: value for name, value in record.items() if name != OWN}, "stamp": ""}


def hidden(window: Window, content: Content) -> list[str]:
    """Return files that are in the ledger only because the host showed them, and that are not shown
    now."""
    return [path for path, record in window.files.items() if is_shown(record) and path not in content.files]


def delivered_before(path: str, record: Record, content: Content) -> Record:
    """Return the record of our own delivery if the message in which the host showed the file is
    gone."""
    is_gone = is_shown(record) and path not in content.files
    return record.get("ours") or record if is_gone else record


def doubtful(window: Window, path: str, reason: str, now: float) -> Window:
    """Note a wanted file that the host may restore: only the host's next records will show whether
    it does."""
    before = window.from_last_epoch.get(path)
    if window.holds(path) or (before is not None and before["via"] not in NEVER_IN_A_TAIL):
        return window  # it is there, or already in doubt
    after = window.copy()
    after.from_last_epoch[path] = {**from_transcript("", 1, now), "reason": reason, "via": DOUBTFUL}
    return after


def restored(window: Window, path: str, record: Record, content: Content) -> Window:
    wanted = path in window.pending or record["via"] == DOUBTFUL
    shown_whole = wanted and path in content.files
    return see(window, path, "", RESTORED, window.flags.get("compacted", 0.0)) if shown_whole else window


def survives_resume(path: str, record: Record, content: Content) -> bool:
    """Whether a file that the host put into the window is still there after a resume.

    The host reads instruction files again; the transcript shows whether the other files are there.
    """
    nested = record["reason"].startswith(NESTED)
    return (nested and not record["batch"]) or host_has(path, record, content)


def host_has(path: str, record: Record, content: Content) -> bool:
    """Whether the host still shows the file.

    Root instruction files precede the conversation; a skill is where it was invoked.
    """
    if record["via"] != "host":
        return False  # we delivered a newer state of it
    if record["reason"] in PASSING:
        return path in content.files
    if record["reason"].startswith(NESTED):
        return path in content.files or content.has_batch(record["batch"])
    return not record["reason"].startswith("skill ") or parent(path) in content.skills


def from_transcript(digest: str, parts: int, now: float) -> Record:
    return {
        "inode": "", "hash": digest, "chars": 0, "reason": FOUND,
        "at": now, "via": "transcript", "batch": "", "parts": NOT_SENT * parts,
    }  # fmt: skip


def want_dependents(window: Window, path: str, but: Collection[str] = ()) -> None:
    """Want files again that were not delivered because they had the text of `path`, except those in
    `but`.

    The text of `path` has changed or left the window.
    """
    for other, record in list(window.files.where("same", path)):
        if other not in but:
            del window.files[other]
            window.pending.setdefault(other, record["reason"])
    known = window.flags.get(ELSEWHERE, {})
    skipped = {other: reason for other, (_, text, reason) in known.items() if text == path and other not in but}
    if skipped:
        window.flags[ELSEWHERE] = {other: known[other] for other in known if other not in skipped}
    for other, reason in skipped.items():
        window.pending.setdefault(other, reason)


def look_again(window: Window, path: str) -> None:
    """Forget that the directories at and below this rule's were checked: the next touch checks
    them."""
    level = level_of(path)
    for directory in [place for place in window.touched if under(place, level)]:
        del window.touched[directory]
