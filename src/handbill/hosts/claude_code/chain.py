"""Select the transcript rows of a window: chain, kept segment, leaf, and rows beside the chain.

A live window holds everything that was written since it began (`loader` is None). A resumed window
holds the rows that its version's loader rebuilds.
"""

from __future__ import annotations

from handbill.hosts.claude_code.branch import is_marked
from handbill.hosts.claude_code.rows import (
    attachment_of,
    has_result,
    is_boundary,
    is_message,
    message_id,
    metadata_of,
    preserved,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from handbill.hosts.claude_code.rows import Row, Rows
    from handbill.ledger.own_rows import Marks, OwnRows


class Loader:
    """How a client version rebuilds a resumed window.

    `siblings`: it puts back attachments beside the chain.
    """

    __slots__ = ("siblings",)

    def __init__(self, *, siblings: bool) -> None:
        self.siblings = siblings


def _anchor(boundary: Row) -> str:
    for name in ("preservedMessages", "preservedSegment"):
        value = metadata_of(boundary).get(name)
        if isinstance(value, dict):
            return str(value.get("anchorUuid", ""))
    return ""


def drop_foreign_compactions(rows: Rows, own: OwnRows) -> bool:
    """Drop compactions that are not in this window; return whether any existed.

    Either another client that writes to the same transcript was compacted, or a rewind went back to
    before a compaction. The window's own rows are followed back from its newest mark, or from the
    newest row. They pass a compaction of their own through its boundary, or go from a row after it
    to a row that it kept. If they first reach a message that it did not keep, it is foreign.
    Compactions from before the window was resumed are its own: the loader applies all of them.
    """
    marked = next((found for marks in own.marks if (found := _last_marked(rows, marks))), rows.last)
    chain = _ancestors(rows, marked) if marked else []
    live = [uuid for uuid, row in rows.by_id.items() if is_boundary(row) and rows.at[uuid] >= own.resumed_at]
    foreign = [uuid for uuid in live if _is_foreign(rows, uuid, chain)]
    for uuid in foreign:
        del rows.by_id[uuid]
    return bool(foreign)


def _is_foreign(rows: Rows, boundary: str, chain: list[str]) -> bool:
    at = rows.at[boundary]
    behind = [uuid for uuid in chain if rows.at[uuid] > at]
    if not behind or boundary in chain:
        return False
    if len(behind) == len(chain) and is_boundary(rows.by_id[chain[-1]]):
        # The window begins with a newer compaction, which may have kept this one's row.
        return False
    kept = set(preserved(rows.by_id[boundary]))
    if not kept:
        return True
    for uuid in chain[len(behind) :]:  # backwards, from the newest row before the compaction
        if uuid in kept:
            return False
        if is_message(rows.by_id[uuid]):
            return True
    return rows.parent[chain[-1]] not in kept


def _last_marked(rows: Rows, marks: Collection[str]) -> str:
    return next((uuid for uuid in reversed(rows.by_id) if is_marked(rows.by_id[uuid], marks)), "")


def relinked(rows: Rows, *, live: bool, partial: bool) -> str | None:
    """Move the rows that the newest compaction kept after it, and drop all others before it.

    Return the last kept row, "" if none was kept, or None if some of them were not read.
    """
    order = list(rows.by_id)
    marks = [index for index, uuid in enumerate(order) if is_boundary(rows.by_id[uuid])]
    if not any(preserved(rows.by_id[order[index]]) for index in marks):
        return ""
    last = marks[-1]
    boundary = rows.by_id[order[last]]
    named = preserved(boundary)
    uuids = _kept(rows, boundary)
    if named and (not uuids or any(uuid not in rows.by_id for uuid in uuids)):
        if partial:
            return None
        if not live:
            return ""  # The loader changes nothing in this case.
        # The running client has them, even if its list is wrong.
        uuids = _present(rows, order[:last], named)
    if uuids:
        _link(rows, uuids, _anchor(boundary), live=live)
    kept = set(uuids)
    for uuid in order[:last]:
        if uuid not in kept:
            del rows.by_id[uuid]
    for uuid, row in rows.by_id.items():
        gone = rows.parent[uuid] and rows.parent[uuid] not in rows.by_id and uuid not in kept
        if uuids and gone and is_message(row):
            rows.parent[uuid] = uuids[-1]
    return uuids[-1] if uuids else ""


def _kept(rows: Rows, boundary: Row) -> list[str]:
    """Return the kept rows in order. If only the ends are known, follow the chain between them."""
    named, metadata = preserved(boundary), metadata_of(boundary)
    if isinstance(metadata.get("preservedMessages"), dict) or not named:
        return named
    head, tail = named[0], named[-1]
    found: list[str] = []
    while tail in rows.by_id and tail not in found:
        found.append(tail)
        if tail == head:
            return found[::-1]
        tail = rows.parent[tail]
    return []


def _present(rows: Rows, before: list[str], named: list[str]) -> list[str]:
    there = [index for index, uuid in enumerate(before) if uuid in named]
    return before[there[0] :] if there else []


def _link(rows: Rows, uuids: list[str], anchor: str, *, live: bool) -> None:
    children = [uuid for uuid in rows.by_id if rows.parent[uuid] == anchor and uuid not in uuids]
    for uuid, parent in zip(uuids, [anchor, *uuids]):
        rows.parent[uuid] = parent
    for number, uuid in enumerate(children):
        if live and number and _is_prompt(rows.by_id[uuid]):
            continue  # A rewind went back to before the kept rows.
        rows.parent[uuid] = uuids[-1]


def _is_prompt(row: Row) -> bool:
    return row.get("type") == "user" and not has_result(row)


def leaf_of(rows: Rows, kept: str, loader: Loader | None, own: Marks = ()) -> str:
    if loader is None:
        other = _other_branch(rows, own)
        if other:
            return other
        # If no message was added since, the kept rows are last.
        behind = rows.last in _ancestors(rows, kept)
        return rows.last if rows.last in rows.by_id and not behind else kept
    if rows.cleared:
        return ""
    noted = rows.checkpoint if rows.checkpoint in rows.by_id else ""
    if not kept or (rows.explicit and noted):
        if not rows.explicit and _went_on(rows, noted, loader):
            noted = rows.last
        leaf = _speaker(rows, noted or rows.last)
        if leaf:
            return leaf
    return _newest_end(rows)


def _went_on(rows: Rows, noted: str, loader: Loader) -> bool:
    """Whether the conversation continued after the row that the client noted.

    Any result of simultaneous calls counts if the client puts back rows beside the chain.
    """
    chain = _ancestors(rows, rows.last)
    if noted in chain or not loader.siblings or noted not in rows.by_id or not has_result(rows.by_id[noted]):
        return noted in chain
    answer = message_id(rows.by_id.get(rows.parent[noted], {}))
    return bool(answer) and any(message_id(rows.by_id[uuid]) == answer for uuid in chain)


def _other_branch(rows: Rows, own: Marks) -> str:
    """Return the end of this window's branch if a second client wrote the newest row."""
    for marks in own:
        if not marks:
            continue
        marked = [uuid for uuid, row in rows.by_id.items() if is_marked(row, marks)]
        if not marked:
            continue
        if marked[-1] in _ancestors(rows, rows.last):
            return ""
        below = {marked[-1]}
        for uuid in rows.by_id:  # Parents precede their children.
            if rows.parent[uuid] in below:
                below.add(uuid)
        return next(uuid for uuid in reversed(rows.by_id) if uuid in below)
    return ""


def _newest_end(rows: Rows) -> str:
    """Return the end of a branch that was noted or written last."""
    messages = {uuid for uuid, row in rows.by_id.items() if is_message(row)}
    # Attachments may be between messages.
    ends = messages - {_speaker(rows, rows.parent[uuid]) for uuid in messages}
    if len(ends) > 1:
        chosen = rows.checkpoint if rows.checkpoint in ends else rows.last
        ends = {_speaker(rows, chosen)} - {""} or ends if chosen in rows.by_id else ends
    found = [uuid for uuid in rows.by_id if uuid in ends and (rows.agent or not rows.by_id[uuid].get("isSidechain"))]
    return max(found, key=lambda uuid: str(rows.by_id[uuid].get("timestamp")), default="")


def _speaker(rows: Rows, uuid: str) -> str:
    """Return the nearest message of the user or the assistant at or above a row."""
    passed: set[str] = set()
    while uuid in rows.by_id and uuid not in passed:
        if is_message(rows.by_id[uuid]):
            return uuid
        passed.add(uuid)
        uuid = rows.parent[uuid]
    return ""


def _ancestors(rows: Rows, uuid: str) -> list[str]:
    found: dict[str, None] = {}
    while uuid in rows.by_id and uuid not in found:
        found[uuid] = None
        uuid = rows.parent[uuid]
    return list(found)


def chain_from(rows: Rows, leaf: str, *, live: bool) -> list[str]:
    found = _ancestors(rows, leaf)
    while not live and found and rows.parent[found[-1]] and rows.parent[found[-1]] not in rows.by_id:
        # The parent was never written, so the loader takes the row just before.
        near = _close_before(rows, found)
        if not near:
            break
        found += [uuid for uuid in _ancestors(rows, near) if uuid not in found]
    return found[::-1]


def _close_before(rows: Rows, found: list[str]) -> str:
    from datetime import datetime, timedelta

    def moment(uuid: str) -> datetime | None:
        try:
            found = datetime.fromisoformat(str(rows.by_id[uuid].get("timestamp")))
        except ValueError:
            return None
        return found if found.tzinfo is not None else None

    at, seen = moment(found[-1]), set(found)
    gaps = {uuid: at - then for uuid in rows.by_id if uuid not in seen and at and (then := moment(uuid)) is not None}
    near = {uuid: gap for uuid, gap in gaps.items() if timedelta() <= gap <= timedelta(seconds=5)}
    return min(near, key=lambda uuid: near[uuid], default="")


def _is_of_a_start(row: Row) -> bool:
    """Whether hooks added this row at a start. Beside the chain, it is another process's."""
    return attachment_of(row).get("hookEvent") == "SessionStart"


def beside_chain(rows: Rows, inside: set[str], chain: list[str], loader: Loader | None) -> set[str]:
    """Return rows off the chain that are in the window: not another prompt, nor its answers."""
    answers = {message_id(rows.by_id[uuid]) for uuid in chain if rows.by_id[uuid].get("type") == "assistant"}
    answers.discard("")
    leaf = chain[-1] if chain else ""
    found: set[str] = set()
    below = {leaf}
    for uuid, row in rows.by_id.items():
        if uuid in inside:
            continue
        parent, kind = rows.parent[uuid], row.get("type")
        near = parent in inside or parent in found
        hangs = kind in ("attachment", "system") and not is_boundary(row)
        if kind == "assistant":
            taken = message_id(row) in answers
        elif has_result(row):
            taken = near
        else:
            beside = near and (loader is None or loader.siblings) and not (loader is None and _is_of_a_start(row))
            taken = hangs and (beside or parent in below)
        if taken:
            found.add(uuid)
            if hangs and parent in below:
                below.add(uuid)
    return found
