"""Read the rows of a Claude Code transcript as its own loader does; pure, on bytes.

Each row names its parent. The conversation is the chain from one row, the leaf, to its first
ancestor.
"""

from __future__ import annotations

from handbill.fast_json import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Row = dict[str, Any]

TYPES = ("user", "assistant", "attachment", "system")
SYNTHETIC = "<synthetic>"  # the model named in answers that the client wrote itself
_REQUEST = b'{"type":"api-request'
_UUID = b'"uuid":"'


def record_of(line: bytes) -> Row | None:
    """Return the record, or None for one that is incomplete or cannot be read."""
    try:
        value = loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def records_with(data: bytes, marker: bytes) -> Iterator[Row]:
    """Yield the complete records whose line contains `marker`."""
    at = data.find(marker)
    while at >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at)
        if end < 0:
            return
        record = record_of(data[start:end])
        if record is not None:
            yield record
        at = data.find(marker, end)


def attachment_of(row: Row) -> Row:
    value = row.get("attachment")
    return value if isinstance(value, dict) else {}


def injected(row: Row) -> list[str]:
    """Return the texts that hooks added. One row has the texts of all handlers of a start."""
    attachment = attachment_of(row)
    content = attachment.get("content") if attachment.get("type") == "hook_additional_context" else ()
    return [text for text in (content if isinstance(content, list) else [content]) if isinstance(text, str)]


def blocks_of(row: Row) -> list[Row]:
    """Return the parts of a message. Plain text is one block."""
    message = row.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def message_id(row: Row) -> str:
    """Return the id that the rows of parallel calls of one answer share."""
    message = row.get("message")
    value = message.get("id") if isinstance(message, dict) else None
    return value if isinstance(value, str) else ""


def has_result(row: Row) -> bool:
    return row.get("type") == "user" and any(block.get("type") == "tool_result" for block in blocks_of(row))


def is_answer(row: Row) -> bool:
    """Whether the model wrote this answer. The client adds its own answers around a resume."""
    message = row.get("message")
    model = message.get("model") if isinstance(message, dict) else ""
    return row.get("type") == "assistant" and model != SYNTHETIC


def is_summary(row: Row) -> bool:
    """Whether this is a compaction's summary.

    It has the user's role and the id of the prompt that was being answered.
    """
    return row.get("isCompactSummary") is True


def typed_in(row: Row) -> list[str]:
    """Return the text that the user typed.

    A command's body has a row of its own, and may contain any text.
    """
    if row.get("type") not in ("user", "system") or row.get("isMeta") is True or is_summary(row):
        return []
    return [text for text in (block.get("text") for block in blocks_of(row)) if isinstance(text, str)]


def prompt_of(row: Row) -> str:
    """Return the id of the prompt that a row in the user's role belongs to.

    The row is that prompt, or a result that arrived while the prompt was being answered.
    """
    id = row.get("promptId") if row.get("type") == "user" else ""
    return id if isinstance(id, str) else ""


def joined_prompt(row: Row) -> tuple[str, str]:
    """Return (id, text) of a queued prompt that joined the running turn.

    Such a prompt does not have a row of its own.
    """
    attachment = attachment_of(row)
    is_one = attachment.get("type") == "queued_command" and attachment.get("commandMode") == "prompt"
    id, text = row.get("uuid"), attachment.get("prompt")
    return (id, text) if is_one and isinstance(id, str) and isinstance(text, str) else ("", "")


def is_message(row: Row) -> bool:
    return row.get("type") in ("user", "assistant")


def is_boundary(row: Row) -> bool:
    return row.get("type") == "system" and row.get("subtype") == "compact_boundary"


def calls_in(row: Row) -> list[Row]:
    if row.get("type") != "assistant":
        return []
    return [b for b in blocks_of(row) if b.get("type") == "tool_use" and isinstance(b.get("id"), str)]


class Rows:
    """The rows of a transcript. `by_id` keeps the place of the first copy of duplicate rows."""

    __slots__ = (
        "agent", "at", "before", "bridges", "by_id", "checkpoint", "cleared", "explicit", "last", "parent",
    )  # fmt: skip

    def __init__(self, *, agent: bool = False) -> None:
        self.agent = agent  # In a subagent's file, every row belongs to a side chain.
        self.by_id: dict[str, Row] = {}
        self.parent: dict[str, str] = {}
        # A compaction has no parent. Its row names the row before it and the kept rows.
        self.before: dict[str, str] = {}
        self.at: dict[str, int] = {}  # where in the file a row begins
        # Rows of other types are left out. Their children get their parents.
        self.bridges: dict[str, str] = {}
        self.last = ""
        self.checkpoint = ""  # the leaf that the client recorded
        self.explicit = self.cleared = False

    def add(self, row: Row, at: int) -> None:
        uuid = row["uuid"]
        self.by_id[uuid] = row
        self.at.setdefault(uuid, at)
        parent = row.get("parentUuid")
        parent = parent if isinstance(parent, str) else ""
        self.parent[uuid] = self.bridges.get(parent, parent)
        if self.agent or not row.get("isSidechain"):
            self.last = uuid
            self.explicit = self.cleared = False
        if is_boundary(row):
            self.checkpoint, self.explicit = "", False
            logical = row.get("logicalParentUuid")
            kept = preserved(row)
            if kept and kept[-1] in self.by_id:
                self.before[uuid] = kept[-1]
            elif isinstance(logical, str):
                self.before[uuid] = self.bridges.get(logical, logical)

    def note_checkpoint(self, record: Row) -> None:
        leaf = record.get("leafUuid")
        if isinstance(leaf, str) and leaf:
            self.explicit = record.get("explicit") is True or (self.explicit and leaf == self.checkpoint)
            self.checkpoint, self.cleared = leaf, False
        elif record.get("explicit") is True:
            self.checkpoint, self.cleared, self.explicit = "", True, False


def read(data: bytes, start: int = 0, *, agent: bool = False) -> Rows:
    """Read rows from `data`, which begins at byte `start` of the file.

    Incomplete lines at both ends are skipped.
    """
    rows = Rows(agent=agent)
    at = data.find(b"\n") + 1 if start else 0
    while True:
        end = data.find(b"\n", at)
        if end < 0:
            return rows
        line = data[at:end]
        # Newer clients record each request, which repeats the rest.
        if not line.startswith(_REQUEST):
            if _UUID in line:
                row = record_of(line) or _link_of(line)
                if row is not None and isinstance(row.get("uuid"), str):
                    if row.get("type") in TYPES:
                        rows.add(row, start + at)
                    else:  # Progress, or a type of a newer client: the chain leads through it.
                        parent = str(row.get("parentUuid") or "")
                        rows.bridges[row["uuid"]] = rows.bridges.get(parent, parent)
            elif b'"last-prompt"' in line:
                record = record_of(line)
                if record is not None and record.get("type") == "last-prompt":
                    rows.note_checkpoint(record)
        at = end + 1


def first_of(data: bytes, uuids: list[str], end: int) -> int:
    """Return where the first of these rows names itself, or `end`."""
    wanted = {uuid.encode() for uuid in uuids}
    at = data.find(_UUID, 0, end) if wanted else -1
    while at >= 0:
        begins = at + len(_UUID)
        if data[begins : data.find(b'"', begins)] in wanted:
            return at
        at = data.find(_UUID, begins, end)
    return end


def preserved(boundary: Row) -> list[str]:
    """Return the rows that a compaction kept, as listed in its own row.

    Some rows list only the first and the last one.
    """
    metadata = metadata_of(boundary)
    messages, segment = metadata.get("preservedMessages"), metadata.get("preservedSegment")
    if isinstance(messages, dict) and isinstance(messages.get("uuids"), list):
        return [uuid for uuid in messages["uuids"] if isinstance(uuid, str)]
    ends = [segment.get("headUuid"), segment.get("tailUuid")] if isinstance(segment, dict) else []
    return [uuid for uuid in ends if isinstance(uuid, str)]


def metadata_of(boundary: Row) -> Row:
    value = boundary.get("compactMetadata")
    return value if isinstance(value, dict) else {}


def _link_of(line: bytes) -> Row | None:
    """Return the place in the chain of a row that cannot be read.

    Without it, all earlier rows would seem gone.
    """
    found: Row = {key: _value(line, key) for key in ("uuid", "parentUuid", "timestamp")}
    found["type"] = next((name for name in TYPES if f'"type":"{name}"'.encode() in line), "")
    found["isSidechain"] = b'"isSidechain":true' in line[:400]
    return found if len(found["uuid"]) == 36 else None


def _value(line: bytes, key: str) -> str:
    mark = f'"{key}":"'.encode()
    at = line.find(mark)
    end = line.find(b'"', at + len(mark)) if at >= 0 else -1
    return line[at + len(mark) : end].decode("utf-8", "replace") if end >= 0 else ""
