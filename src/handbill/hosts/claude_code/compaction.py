"""Report a compaction to people: the files before it, and what became of each of them."""

from __future__ import annotations

from handbill.hosts.claude_code.rows import attachment_of, blocks_of, calls_in, is_boundary, metadata_of, read
from handbill.hosts.claude_code.skills_shown import folder_in
from handbill.hosts.claude_code.window import blocks_and_cuts, denials, select
from handbill.ledger.own_rows import OwnRows
from handbill.text.blocks import meant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Rec = dict[str, Any]

DELIVERED, READ, SKILL = "delivered", "read by the agent", "skill"
REWOUND = "delivered again, then rewound"
_READERS = ("Read", "NotebookRead")


class Compaction:
    """One compaction. `before`: file -> how it was added. The sets show each file's fate."""

    __slots__ = (
        "at",
        "before",
        "kept",
        "reattached",
        "redelivered",
        "reread",
        "summary",
        "tokens",
        "trigger",
        "undone",
    )

    def __init__(self) -> None:
        self.at = ""
        self.trigger = ""
        # before and after, as counted by the client; 0 if not reported
        self.tokens: tuple[int, int] = (0, 0)
        self.summary = ""
        self.before: dict[str, str] = {}
        self.kept: set[str] = set()  # in the messages that the client kept
        self.reattached: set[str] = set()  # put back by the client itself
        self.redelivered: set[str] = set()
        self.reread: set[str] = set()
        self.undone: set[str] = set()  # delivered again, then undone by a rewind

    def fate(self, file: str) -> str:
        if file in self.kept:
            return "kept by the client"
        if file in self.reattached:
            return "put back by the client"
        if file in self.redelivered:
            return "delivered again"
        if file in self.reread:
            return "read again"
        if file in self.undone:
            return REWOUND
        name = file.rpartition("/")[2]
        return "named in the summary only" if name in self.summary else "gone"


def last_compaction(data: bytes, own: OwnRows, *, agent: bool = False) -> Compaction | None:
    """Return the newest compaction of this window, or None if none applies.

    None also means that a rewind undid it. `agent`: the window is a subagent's.
    """
    rows = read(data, agent=agent)
    after = select(rows, own)
    now = after.inside if after is not None else set()
    boundary = next((uuid for uuid in reversed(rows.by_id) if uuid in now and is_boundary(rows.by_id[uuid])), "")
    if not boundary:
        return None
    found = Compaction()
    record = rows.by_id[boundary]
    metadata = metadata_of(record)
    found.at = str(record.get("timestamp", ""))
    found.trigger = str(metadata.get("trigger", ""))
    found.tokens = (_number(metadata.get("preTokens")), _number(metadata.get("postTokens")))
    earlier = read(data[: rows.at[boundary]], agent=agent)
    before = select(earlier, OwnRows(([record.get("logicalParentUuid") or ""],), own.joined))
    for uuid in [uuid for uuid in earlier.by_id if before is not None and uuid in before.inside]:
        for file, how in _files(earlier.by_id[uuid]).items():
            found.before.setdefault(file, how)
            if uuid in now:
                found.kept.add(file)
    for uuid, row in rows.by_id.items():
        if rows.at[uuid] > rows.at[boundary]:
            if uuid in now:
                _after(row, found)
            else:
                found.undone |= {file for file, how in _files(row).items() if how == DELIVERED}
    return found


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _files(record: Rec) -> dict[str, str]:
    """Return the files that one record added to the window."""
    titles = [*blocks_and_cuts(record)[0], *(title for _, blocks in denials(record) for title in blocks)]
    found = {meant(title[0]): DELIVERED for title in titles}
    for call in calls_in(record):
        given = call.get("input") if call.get("name") in _READERS else None
        path = given.get("file_path") if isinstance(given, dict) else None
        if isinstance(path, str):
            found.setdefault(path, READ)
    attachment = attachment_of(record)
    if attachment.get("type") == "file" and isinstance(attachment.get("filename"), str):
        found.setdefault(attachment["filename"], READ)  # put back by an earlier compaction
    for folder in filter(None, map(folder_in, _texts(record))):
        found[f"{folder}/SKILL.md"] = SKILL
    return found


def _after(record: Rec, found: Compaction) -> None:
    if record.get("isCompactSummary"):
        found.summary = "\n".join(_texts(record))
    attachment = attachment_of(record)
    if attachment.get("type") == "file":
        found.reattached.add(str(attachment.get("filename", "")))
    elif attachment.get("type") == "invoked_skills":
        whole = str(attachment)
        found.reattached |= {
            file for file, how in found.before.items() if how == SKILL and file.split("/")[-2] in whole
        }
    else:
        for file, how in _files(record).items():
            (found.reread if how == READ else found.redelivered).add(file)


def _texts(record: Rec) -> list[str]:
    return [block["text"] for block in blocks_of(record) if isinstance(block.get("text"), str)]
