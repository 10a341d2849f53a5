"""Which rows of a transcript are this window's, if a second client writes to the same file.

Both clients start from the same row. After it, each client's rows form a branch of their own. A compaction starts a
new chain, and its row names the last row of the old chain (`logicalParentUuid`).
"""

from __future__ import annotations

from handbill.hosts.claude_rows import calls_in, is_boundary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from handbill.core.own_rows import OwnRows
    from handbill.hosts.claude_rows import Row, Rows


def drop_rows_of_others(rows: Rows, own: OwnRows) -> None:
    if own.shared_at < 0:
        return
    newest = _newest_own_row(rows, own)
    inside = _branch(rows, newest, own.shared_at) if newest else set()
    for uuid in [uuid for uuid in rows.by_id if rows.at[uuid] >= own.shared_at and uuid not in inside]:
        del rows.by_id[uuid]
    rows.last = next((uuid for uuid in reversed(rows.by_id) if not rows.by_id[uuid].get("isSidechain")), "")


def _newest_own_row(rows: Rows, own: OwnRows) -> str:
    """Empty: the shared part shows neither a marked row of this window nor a compaction of it."""
    shared = [uuid for uuid in rows.by_id if rows.at[uuid] >= own.shared_at]
    marks = {mark for group in own.marks for mark in group}
    marked = next((uuid for uuid in reversed(shared) if is_marked(rows.by_id[uuid], marks)), "")
    if marked or own.compacted_at < own.shared_at:
        return marked
    return next((uuid for uuid in shared if is_boundary(rows.by_id[uuid]) and rows.at[uuid] >= own.compacted_at), "")


def is_marked(row: Row, marks: Collection[str]) -> bool:
    return (
        row.get("promptId") in marks or row.get("uuid") in marks or any(call["id"] in marks for call in calls_in(row))
    )


def _branch(rows: Rows, uuid: str, shared_at: int) -> set[str]:
    """The rows behind `shared_at` that lead to or come from this one."""
    first, passed = uuid, {uuid}
    while (before := row_before(rows, first)) in rows.by_id and before not in passed and rows.at[before] >= shared_at:
        first = before
        passed.add(before)
    found = {first}
    for uuid in rows.by_id:  # parents come before their children
        if row_before(rows, uuid) in found:
            found.add(uuid)
    return found


def row_before(rows: Rows, uuid: str) -> str:
    """The row that this one follows, also if a compaction lies between."""
    logical = rows.by_id[uuid].get("logicalParentUuid") if is_boundary(rows.by_id[uuid]) else ""
    return rows.parent[uuid] or (logical if isinstance(logical, str) else "")
