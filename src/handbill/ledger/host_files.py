"""Files that the host itself shows in a window: read by the agent, named by the user, restored after a compaction."""

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

FOUND = "found in the transcript"  # the reason of a file that the ledger did not know


def with_shown_rules(window: Window, content: Content, reason: str, now: float) -> Window:
    """Rules that are in the window because the agent read them itself, or the user named them."""
    for path in content.files:
        record = window.files.get(path)
        is_changed = record is not None and bool(record.get("updated"))  # what is shown may be the old text
        if is_rule_file(path) and not window.holds(path) and not is_changed:
            window = see(window, path, "", reason, now)
    return window


def compared(window: Window, content: Content, event: Event, now: float, *, whole: bool) -> tuple[Window, list[str]]:
    """The window with the rules that the host shows now, and a list of those that it no longer shows. The latter are
    delivered when their directory is touched again. `whole`: `content` is complete; else it begins at a mention."""
    mention = window.flags.get(MENTIONED)
    if mention is not None and event.is_moment(mention["prompt"]):
        return window, []  # the host has not taken the prompt yet
    mentioned = mention["files"] if mention is not None else ()
    before = mention.get("before", ()) if mention is not None else ()  # an earlier message shows them
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
            after = see(after, path, "", READ_ITSELF, now)  # a delivery of it was lost, and the host shows it
        elif record is not None and OWN in record and path in before and is_dropped:
            after.files[path] = without_reading(record)  # compared with the message that shows it
        elif record is not None and OWN in record and path not in before and path not in content.files:
            after.files[path] = {**without_reading(record), "stamp": "unknown"}  # compared with what we delivered
    return after, gone


def without_reading(record: Record) -> Record:
    """As if the agent had not seen a newer state of the file itself: to be compared with the file again."""
    return {**{name: value for name, value in record.items() if name != OWN}, "stamp": ""}


def hidden(window: Window, content: Content) -> list[str]:
    """Files that the ledger lists only because the host showed them, and that it does not show now."""
    return [path for path, record in window.files.items() if is_shown(record) and path not in content.files]


def delivered_before(path: str, record: Record, content: Content) -> Record:
    """The record of our own delivery, if the host showed the file in a message that is gone."""
    is_gone = is_shown(record) and path not in content.files
    return record.get("ours") or record if is_gone else record


def doubtful(window: Window, path: str, reason: str, now: float) -> Window:
    """A file that is wanted, and that the host may restore by itself: only what it writes next will tell."""
    before = window.from_last_epoch.get(path)
    if window.holds(path) or (before is not None and before["via"] not in NEVER_IN_A_TAIL):
        return window  # there, or in doubt already
    after = window.copy()
    after.from_last_epoch[path] = {**from_transcript("", 1, now), "reason": reason, "via": DOUBTFUL}
    return after


def restored(window: Window, path: str, record: Record, content: Content) -> Window:
    wanted = path in window.pending or record["via"] == DOUBTFUL
    shown_whole = wanted and path in content.files
    return see(window, path, "", RESTORED, window.flags.get("compacted", 0.0)) if shown_whole else window


def survives_resume(path: str, record: Record, content: Content) -> bool:
    """Of what the host put there itself: it reads instruction files again, the rest is in the transcript or gone."""
    nested = record["reason"].startswith(NESTED)
    return (nested and not record["batch"]) or host_has(path, record, content)


def host_has(path: str, record: Record, content: Content) -> bool:
    """Root instruction files precede the conversation; a skill is where it was invoked."""
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
    """The text of this file changed, or left the window: files that were not delivered because of it are wanted again,
    `but` for these."""
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
    """At the directory of this rule, and at every one from which a walk leads there."""
    level = level_of(path)
    for directory in [place for place in window.touched if under(place, level)]:
        del window.touched[directory]
