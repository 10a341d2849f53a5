"""Compare the ledger with the window's content: files may be kept, gone or unknown to it."""

from __future__ import annotations

from handbill.event import SESSION_STARTED, TOOL_CALLED
from handbill.ledger.epochs import SAME_MOMENT, cleared, next_epoch, opened, within
from handbill.ledger.host_files import (
    delivered_before,
    from_transcript,
    host_has,
    look_again,
    restored,
    survives_resume,
    want_dependents,
    with_shown_rules,
    without_reading,
)
from handbill.ledger.window import (
    ASSUMED,
    CONFIRMED,
    HOST_ONCE,
    HOST_TOO,
    NAMED_BY,
    NESTED,
    NOT_SENT,
    OWN,
    READ_ITSELF,
    RESTORED,
    SENT,
    brought_by,
    is_whole,
    see,
    with_letter,
)
from handbill.paths import parent
from handbill.text.blocks import meant, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from handbill.event import Event
    from handbill.ledger.content import Content
    from handbill.ledger.window import Record, Window
    from handbill.text.blocks import Title

    Titles = dict[Title, int]


def denied_calls(window: Window) -> set[str]:
    """Return the tool calls whose denials carried files, according to the ledger."""
    records = [*window.files.values(), *window.from_last_epoch.values()]
    found = {str(record["batch"]) for record in records if record["via"] == TOOL_CALLED}
    found |= {str(call) for record in records for call in record.get("denials", ())}
    return found | {str(claim["batch"]) for claim in window.claims if claim.get("via") == TOOL_CALLED}


def inherited(window: Window, content: Content, *, records: bool) -> Window:
    """Judge the files of the last epoch: the transcript now shows which part a compaction kept."""
    after = window.copy()
    titles = content.titles(denied_calls(window))
    after = _with_kept(after, window.from_last_epoch, content, titles if records else None)
    _drop_orphans(after)
    _want_named(after, window.from_last_epoch)
    after = with_shown_rules(after, content, RESTORED, window.flags.get("compacted", 0.0))
    after.from_last_epoch, after.compacted_at_offset = {}, 0
    after.flags.pop("kept_unknown", None)
    return after


def _with_kept(after: Window, records: Mapping[str, Record], content: Content, titles: Titles | None) -> Window:
    """Add the files that a compaction kept. `titles`: None if deliveries are not recorded."""
    for path, known in records.items():
        record = delivered_before(path, known, content)
        kept = _kept_parts(path, record, titles) if titles is not None else _kept_batch(record, content.calls)
        if kept and path not in after.files:
            after.files[path] = {**record, "parts": kept}
            if NOT_SENT in kept:
                after.pending.setdefault(path, record["reason"])
        elif not kept and record["reason"].startswith(NESTED) and host_has(path, record, content):
            after.files[path] = record  # the call that brought it was kept
        elif not kept:
            after = restored(after, path, record, content)
    return after


def resumed(window: Window, content: Content, event: Event, now: float) -> Window:
    """Keep what the resuming client rebuilds; the rest becomes pending again."""
    after = window.copy()
    titles = content.titles(denied_calls(window))
    for path, record in window.files.items():
        if _of_this_moment(record, event, now):
            continue
        if record["via"] == "host":
            if not survives_resume(path, record, content):
                del after.files[path]
                look_again(after, path)
                want_dependents(after, path)
            continue
        parts = _kept_parts(path, record, titles) or NOT_SENT * len(record["parts"])
        if NOT_SENT in parts and path in content.files and not record.get("updated"):
            after = see(after, path, "", READ_ITSELF, now)  # the agent has read it since
            continue
        after.files[path] = {**record, "parts": parts}
        if NOT_SENT in parts:
            after.pending.setdefault(path, record["reason"])
    # If a compaction was the last event, the client may have rebuilt the files that it kept.
    after = _with_kept(after, window.from_last_epoch, content, titles)
    after = cleared(after)
    after.from_last_epoch, after.compacted_at_offset = {}, 0
    for name in (HOST_ONCE, HOST_TOO, "kept_unknown"):
        after.flags.pop(name, None)
    after.claims = [claim for claim in window.claims if _of_this_moment(claim, event, now)]
    after = without_undone_work(after, content, event)
    after = found(after, content, now)
    for path, reason in _drop_orphans(after).items():  # its directory counts as checked
        after.pending.setdefault(path, reason)
    after = with_shown_rules(after, content, READ_ITSELF, now)
    return after if after.differs(window) else window


def left(window: Window, content: Content, now: float = 0.0, patience: float = 0.0) -> list[str]:
    """Return files that we or a call of the host delivered and that the transcript no longer shows.
    `patience`: seconds within which the host writes its record."""
    titles, lines = content.titles(denied_calls(window)), content.lines()
    open_parts = {(item[0], item[1]) for claim in window.claims for item in claim["items"]}
    found = []
    for path, record in window.files.items():
        for part, letter in enumerate(record["parts"], 1):
            name = (shown(path), record["hash"], part, len(record["parts"]))
            is_there = name in titles and (name not in lines or bool(record.get("same")))
            if letter in "ks" and not is_there and (path, part) not in open_parts:
                found.append(path)
                break
        if record["reason"].startswith(NESTED) and record["batch"] and not host_has(path, record, content):
            found += [path] if not within(record["at"], now, patience) else []
    return found


def without_undone_reading(window: Window, content: Content, event: Event, now: float, patience: float) -> Window:
    """Forget newer text that the agent read or wrote if it left the window: ours is old then."""
    after = window
    for path, record in window.files.items():
        _, batch, at = record.get(OWN, ("", "", now))
        if not batch or event.is_moment(batch) or content.has_batch(batch) or within(at, now, patience):
            continue
        after = window.copy() if after is window else after
        after.files[path] = without_reading(record)
    return after


def found(window: Window, content: Content, now: float) -> Window:
    """Add files that the window has but the ledger does not: they are not delivered twice."""
    after = window
    blocks = content.in_order()
    newest = content.newest([title for _, title in blocks])
    waiting = {item[0] for claim in window.claims for item in claim["items"]}
    for call, title in blocks:
        shown_path, digest, part, parts = title
        path = meant(shown_path)
        record = after.files.get(path)
        if title not in newest or path in waiting:
            continue  # the file has a newer state, or one is on its way
        if record is not None and (record["via"] == "host" or record.get("same")):
            continue
        if record is not None and not _is_news(record, digest, part, parts):
            continue
        if after is window:
            after = window.copy()
        _adopt(after, title, content, now, call)
        if after.holds(path):
            after.pending.pop(path, None)
    return after


def _is_news(record: Record, digest: str, part: int, parts: int) -> bool:
    """Whether the window differs from the record. A file that is wanted as it is stays wanted."""
    if record["hash"] == digest and len(record["parts"]) == parts:
        return not record.get("before") and record["parts"][part - 1] == NOT_SENT
    return is_whole(record)  # another client on this session received a newer state


def _adopt(window: Window, title: Title, content: Content, now: float, call: str = "") -> None:
    """Add a block. `call`: its denial carries the block, and both stay or go together."""
    size = content.denials[call][title] if call else content.blocks[title]
    shown_path, digest, part, parts = title
    path = meant(shown_path)
    record = window.files.get(path)
    if record is None or record["hash"] != digest or len(record["parts"]) != parts:
        record = from_transcript(digest, parts, now)
        if title in content.started:
            record = {**record, "via": SESSION_STARTED}
        if (call, title) in content.same:
            record = {**record, "same": meant(content.same[call, title])}
    if call:
        record = brought_by(record, TOOL_CALLED, call)
    window.files[path] = {**with_letter(record, part, CONFIRMED), "chars": record["chars"] + size}


def rewound(window: Window, content: Content, event: Event) -> Window:
    """Return the window after the conversation went back: later files are gone."""
    after = next_epoch(window)
    titles = content.titles(denied_calls(window))
    for path, record in window.files.items():
        unchanged = event.is_moment(record["batch"]) or host_has(path, record, content)
        kept = record["parts"] if unchanged else _kept_parts(path, record, titles)
        if not kept:
            del after.files[path]
            if record["reason"].startswith(NESTED) or path in window.flags.get(HOST_TOO, ()):
                after.flags[HOST_ONCE] = list(dict.fromkeys([*after.flags.get(HOST_ONCE, ()), path]))
        elif kept != record["parts"]:
            after.files[path] = {**record, "parts": kept}
            if NOT_SENT in kept:
                after.pending[path] = record["reason"]
    after.claims = [claim for claim in window.claims if event.is_moment(claim["batch"])]
    after.flags["rewound"] = after.epoch
    after = without_undone_work(after, content, event)
    _drop_orphans(after)
    _want_named(after, {**dict(window.files.items()), **_as_records(window.pending)})
    return after


def without_undone_work(window: Window, content: Content, event: Event) -> Window:
    """If a skill was undone, restore the one before it. A skill of a session stays active."""
    work = window.work
    while work and not work.get("session") and not _is_at_work(work, content, event):
        former, *earlier = work.get("before") or [{}]
        work = {**former, "before": earlier} if former else {}
    if work is window.work:
        return window
    after = window.copy()
    after.work = work
    return after


def _as_records(pending: dict[str, str]) -> dict[str, Any]:
    return {path: {"reason": reason} for path, reason in pending.items()}


def _want_named(window: Window, before: Mapping[str, Record]) -> None:
    """Want pages again that are gone or waited, if a page that refers to them is still there."""
    named = {path: record["reason"] for path, record in before.items() if record["reason"].startswith(NAMED_BY)}
    there = {path[path.rfind("/") + 1 :] for path in window.files if window.holds(path)} if named else set()
    for path, reason in named.items():
        if reason.removeprefix(NAMED_BY) in there and not window.holds(path):
            window.pending.setdefault(path, reason)


def _is_at_work(work: dict[str, Any], content: Content, event: Event) -> bool:
    """Whether the batch or prompt that began this work is there; if unknown: the skill's body."""
    batch = str(work.get("begun", ""))
    if batch.rpartition(":")[2]:
        return content.has_batch(batch) or event.is_moment(batch)
    name = str(work.get("skill", "")).rpartition(":")[2]
    ours = [parent(meant(path)) for path, _, _, _ in content.blocks if path.endswith("/SKILL.md")]
    return any(folder.rpartition("/")[2] == name for folder in (*content.skills, *ours))


def _of_this_moment(record: Record, event: Event, now: float) -> bool:
    """Whether another lane of this event delivered it: no transcript can show it yet."""
    is_open = SENT in record.get("parts", SENT)  # not recorded yet
    return bool(is_open and record["batch"] == event.batch and within(record["at"], now, SAME_MOMENT))


def adopted(event: Event, window: Window | None, content: Content, now: float) -> Window:
    """Return a ledger rebuilt from the transcript alone."""
    after = opened(event, window, now)
    for call, title in content.in_order():
        _adopt(after, title, content, now, call)
    _drop_orphans(after)
    for path, record in after.files.items():
        if not is_whole(record):
            after.pending[path] = record["reason"]
    return with_shown_rules(after, content, READ_ITSELF, now)


def _kept_parts(path: str, record: Record, titles: Titles) -> str:
    name, total = shown(path), len(record["parts"])
    letters = [CONFIRMED if (name, record["hash"], part, total) in titles else NOT_SENT for part in range(1, total + 1)]
    return "".join(letters) if CONFIRMED in letters else ""


def _kept_batch(record: Record, calls: list[str]) -> str:
    """Return the parts of a kept tool call, for hosts that do not record injections."""
    parts: str = record["parts"]
    if len(parts) > 1:
        return ""  # only the last part's call is known: better a part twice than a lost part
    return parts.replace(SENT, ASSUMED) if record["batch"] and record["batch"] in calls else ""


def _drop_orphans(window: Window) -> dict[str, str]:
    """Remove lines that refer to a text which is not there. Return {file: reason}."""
    lines = {path: record for path, record in window.files.items() if record.get("same")}
    orphans = {path: record["reason"] for path, record in lines.items() if not window.holds(record["same"])}
    for path in orphans:
        del window.files[path]
        window.pending.pop(path, None)
    return orphans
