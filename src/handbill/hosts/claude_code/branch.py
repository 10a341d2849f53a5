"""Select this window's rows if a second client writes to the same transcript.

Both clients start from the same row. After it, each client's rows form a branch of their own. A
compaction starts a new chain, and its row names the last row of the old chain
(`logicalParentUuid`).
"""

from __future__ import annotations

from handbill.hosts.claude_code.rows import calls_in, is_boundary, is_message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from handbill.hosts.claude_code.rows import Row, Rows
    from handbill.ledger.own_rows import OwnRows


def drop_rows_of_others(rows: Rows, own: OwnRows) -> None:
    for shared_at in sorted(own.joined, reverse=True):
        newest = _newest_own_row(rows, own, shared_at)
        inside = _branch(rows, newest, shared_at) if newest else set()
        for uuid in [uuid for uuid in rows.by_id if rows.at[uuid] >= shared_at and uuid not in inside]:
            del rows.by_id[uuid]
    if own.joined:
        rows.last = next((uuid for uuid in reversed(rows.by_id) if not rows.by_id[uuid].get("isSidechain")), "")


def _newest_own_row(rows: Rows, own: OwnRows, shared_at: int) -> str:
    """Return the newest row of this window in the shared part.

    The result is empty if that part has neither a marked row of this window nor a compaction of it.
    """
    shared = [uuid for uuid in rows.by_id if rows.at[uuid] >= shared_at]
    marks = {mark for group in own.marks for mark in group}
    marked = next((uuid for uuid in reversed(shared) if is_marked(rows.by_id[uuid], marks)), "")
    if own.compacted_at < shared_at or (marked and rows.at[marked] >= own.compacted_at):
        return marked
    later = [uuid for uuid in shared if rows.at[uuid] >= own.compacted_at and is_boundary(rows.by_id[uuid])]
    branch = _branch(rows, marked, shared_at) if marked else set()
    if any(uuid in branch for uuid in later):
        return marked
    return next((uuid for uuid in later if _follows_no_message(rows, uuid, shared_at)), marked)


def _follows_no_message(rows: Rows, uuid: str, shared_at: int) -> bool:
    """Whether this compaction follows the rows that both clients have.

    That is the case if the window has added no message since another client joined, or has undone
    its messages. The other client's compaction may also follow them, but this window is known to
    have been compacted.
    """
    return not any(is_message(rows.by_id[before]) for before in _back(rows, uuid, shared_at))


def is_marked(row: Row, marks: Collection[str]) -> bool:
    names = (row.get("promptId"), row.get("uuid"), *(call["id"] for call in calls_in(row)))
    return any(isinstance(name, str) and name in marks for name in names)


def _branch(rows: Rows, uuid: str, shared_at: int) -> set[str]:
    """Return the rows from `shared_at` on that are ancestors or descendants of this one."""
    children: dict[str, list[str]] = {}
    for child in rows.by_id:
        children.setdefault(row_before(rows, child), []).append(child)
    found: set[str] = set()
    open_rows = _back(rows, uuid, shared_at)[-1:]
    while open_rows:
        row = open_rows.pop()
        if row not in found:
            found.add(row)
            open_rows += children.get(row, ())
    return found


def _back(rows: Rows, uuid: str, shared_at: int) -> list[str]:
    """Return the rows from this one back to the first one written since `shared_at`."""
    found = {uuid: None}
    while (uuid := row_before(rows, uuid)) in rows.by_id and uuid not in found and rows.at[uuid] >= shared_at:
        found[uuid] = None
    return list(found)


def row_before(rows: Rows, uuid: str) -> str:
    """Return the row that this one follows, even across a compaction."""
    return rows.parent[uuid] or rows.before.get(uuid, "")
