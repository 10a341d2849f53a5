"""Reading Claude Code's own record of a conversation (JSON lines); pure, on bytes.

Records appear about 100 ms late, so absence proves nothing unless a later record is there.
"""

from __future__ import annotations

from handbill.core.epochs import Survivors
from handbill.core.event import MAIN
from handbill.core.pack import HELD, read_title
from handbill.core.receipts import Evidence
from handbill.hotjson import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from handbill.core.event import Event
    from handbill.core.receipts import Title
    from handbill.core.window import Record

_INJECTION = b'"hook_additional_context"'
_CUT = "<persisted-output>"
_BOUNDARY = b'"compact_boundary"'


def records_with(data: bytes, marker: bytes) -> Iterator[dict[str, Any]]:
    """The whole records whose line holds `marker`; half-written lines are passed over."""
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


def record_of(line: bytes) -> dict[str, Any] | None:
    try:
        value = loads(line.decode("utf-8", "replace"))
    except ValueError:
        return None  # cut off at the start of the part we read, or being written now
    return value if isinstance(value, dict) else None


def attachment_of(record: dict[str, Any]) -> dict[str, Any]:
    value = record.get("attachment")
    return value if isinstance(value, dict) else {}


def blocks_of(record: dict[str, Any]) -> list[dict[str, Any]]:
    """What a message consists of; plain text is one block."""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def titles_in(record: dict[str, Any]) -> tuple[dict[Title, int], dict[Title, int]]:
    """Our blocks in one injection, title -> size: whole ones, and those the host cut to a preview.

    One record holds the values of all handlers of a start; only a value of its own can be cut.
    """
    attachment = attachment_of(record)
    whole: dict[Title, int] = {}
    cut: dict[Title, int] = {}
    if record.get("type") == "user":
        for reason in _denials(record):
            whole.update(_blocks(reason))
    if attachment.get("type") != "hook_additional_context":
        return whole, cut
    content = attachment.get("content")
    for text in content if isinstance(content, list) else [content]:
        if isinstance(text, str):
            if text.startswith(_CUT):
                cut.update(dict.fromkeys(filter(None, map(read_title, text.split("\n"))), 0))
            else:
                whole.update(_blocks(text))
    return whole, cut


def _denials(record: dict[str, Any]) -> Iterator[str]:
    """Reasons of calls that we denied: the only tool results that carry pages of ours."""
    for block in blocks_of(record):
        if block.get("type") == "tool_result" and block.get("is_error") is True:
            inner = block.get("content")
            parts = (
                [part.get("text") for part in inner if isinstance(part, dict)] if isinstance(inner, list) else [inner]
            )
            for text in parts:
                if isinstance(text, str) and HELD in text[:200]:
                    yield text


def _blocks(text: str) -> dict[Title, int]:
    """A title stands first or after an empty line; elsewhere it is only quoted by a page."""
    found: dict[Title, int] = {}
    current, before = None, ""
    for line in text.split("\n"):
        title = read_title(line) if not before and line.startswith("[") else None
        if title is not None:
            current = title
            found[title] = 0
        elif current is not None:
            found[current] += len(line) + 1
        before = line
    return found


def evidence(tail: bytes | None, claims: list[Record], event: Event, *, records: bool) -> Evidence:
    """What the transcript, from the oldest open claim on, says about the open claims."""
    if tail is None:
        return Evidence(readable=False, records=records)
    arrived: set[Title] = set()
    cut: set[Title] = set()
    for marker in (_INJECTION, HELD.encode()):
        for record in records_with(tail, marker):
            whole, preview = titles_in(record)
            arrived.update(whole)
            cut.update(preview)
    passed = {claim["id"] for claim in claims if _passed(tail, claim, event)} if records else set()
    return Evidence(arrived, cut, passed, records=records)


def _passed(tail: bytes, claim: Record, event: Event) -> bool:
    """Does a record stand behind the place where this claim's injection would stand?"""
    batch = claim["batch"]
    if event.is_moment(batch):
        return False
    for tool in event.tools:
        if tool.id and _quoted(tool.id) in tail:
            return True
    kind, _, rest = batch.partition(":")
    if kind == "session_started":
        # a compaction's claim may have older records flushed behind it: only a later call proves
        return not rest.startswith("compact:") and _assistant_after(tail, 0)
    if kind == "prompt_submitted":
        prompt = rest.rpartition(":")[2]
        at = tail.find(b'"promptId":' + _quoted(prompt)) if prompt else -1
        return at >= 0 and _assistant_after(tail, at)
    at = tail.rfind(b'"tool_use_id":' + _quoted(batch))
    return at >= 0 and _assistant_after(tail, at)


def _quoted(text: str) -> bytes:
    return b'"' + text.encode("utf-8", "replace") + b'"'


def _assistant_after(tail: bytes, at: int) -> bool:
    rest = tail[tail.find(b"\n", at) + 1 :] if at else tail
    return any(record.get("type") == "assistant" for record in records_with(rest, b'"type":"assistant"'))


def followed(data: bytes, batch: str) -> bool:
    """Does another message of the assistant stand behind the results of this call?"""
    at = data.rfind(b'"tool_use_id":' + _quoted(batch))
    return at >= 0 and _assistant_after(data, at)


def survivors(data: bytes, *, siblings: bool, complete: bool) -> Survivors:
    """What a client rebuilds from this transcript.

    `siblings`: attachments beside the chain of parents are taken too (newer clients, live windows).
    """
    records = [record for record in map(record_of, _lines(data)) if record is not None and record.get("uuid")]
    by_id = {record["uuid"]: record for record in records}
    boundary = max((i for i, r in enumerate(records) if r.get("subtype") == "compact_boundary"), default=-1)
    leaf = next((r["uuid"] for r in reversed(records) if r.get("type") in ("user", "assistant")), "")
    chain = _chain(leaf, by_id)
    if boundary >= 0:
        segment = segment_of(records[boundary])
        if siblings:
            chain |= {record["uuid"] for record in records[kept_from(records, boundary, segment) : boundary]}
        elif segment.get("tailUuid") in by_id:  # else it names records that only the live client had
            chain |= _chain(segment["tailUuid"], by_id, segment.get("headUuid", ""))
    titles: dict[Title, int] = {}
    tools: list[str] = []
    for record in records:
        beside = record["uuid"] not in chain and record.get("parentUuid") in chain
        if beside and ((siblings and attachment_of(record)) or _has_result(record)):
            chain.add(record["uuid"])  # results of calls made at once: one is in the chain, the client takes all
        if record["uuid"] in chain:
            titles.update(titles_in(record)[0])
            tools += [call["id"] for call in calls_in(record)]
    # what stands before a compaction is gone, whether it was read or not
    return Survivors(titles, tuple(tools), complete or boundary >= 0)


def _has_result(record: dict[str, Any]) -> bool:
    return record.get("type") == "user" and any(block.get("type") == "tool_result" for block in blocks_of(record))


def _lines(data: bytes) -> Iterator[bytes]:
    for line in data.split(b"\n"):
        # what newer clients note about each request is by far the largest share, and repeats the rest
        if line and not line.startswith(b'{"type":"api-request') and b'"uuid":"' in line:
            yield line


def _chain(leaf: str, by_id: dict[str, dict[str, Any]], head: str = "") -> set[str]:
    """A record and its ancestors, up to `head`."""
    chain: set[str] = set()
    while leaf and leaf not in chain:
        chain.add(leaf)
        leaf = "" if leaf == head else by_id.get(leaf, {}).get("parentUuid") or ""
    return chain


def segment_of(boundary: dict[str, Any]) -> dict[str, Any]:
    """The messages that a compaction preserved: {headUuid, anchorUuid, tailUuid}."""
    metadata = boundary.get("compactMetadata")
    segment = metadata.get("preservedSegment") if isinstance(metadata, dict) else None
    return segment if isinstance(segment, dict) else {}


def kept_from(records: list[dict[str, Any]], boundary: int, segment: dict[str, Any]) -> int:
    """Where the preserved messages begin; the boundary itself if nothing was preserved."""
    for index in range(boundary - 1, -1, -1):
        if records[index]["uuid"] == segment.get("headUuid"):
            return index
    return boundary


def kept_tail(data: bytes, since: int) -> Survivors | None:
    """What the newest compaction preserved; None while no boundary stands behind byte `since`.

    Not `complete`: the preserved messages begin before `data`.
    """
    if not any(record.get("subtype") == "compact_boundary" for record in records_with(data[since:], _BOUNDARY)):
        return None
    records = [record for record in map(record_of, _lines(data)) if record is not None and record.get("uuid")]
    boundary = max((i for i, r in enumerate(records) if r.get("subtype") == "compact_boundary"), default=-1)
    segment = segment_of(records[boundary])
    start = kept_from(records, boundary, segment)
    titles: dict[Title, int] = {}
    tools: list[str] = []
    for record in records[start:boundary]:
        titles.update(titles_in(record)[0])
        tools += [call["id"] for call in calls_in(record)]
    complete = start < boundary or not segment.get("headUuid")
    return Survivors(titles, tuple(tools), complete)


def calls_in(record: dict[str, Any]) -> list[dict[str, Any]]:
    if record.get("type") != "assistant":
        return []
    return [b for b in blocks_of(record) if b.get("type") == "tool_use" and isinstance(b.get("id"), str)]


def calls(data: bytes) -> list[dict[str, Any]]:
    """Every tool call since the last compaction, for directories whose event was missed."""
    rest = data
    for record in records_with(data, _BOUNDARY):
        if record.get("subtype") == "compact_boundary":
            rest = data[data.rfind(record["uuid"].encode()) :]
    found = records_with(rest, b'"tool_use"')
    return [{**call, "timestamp": record.get("timestamp")} for record in found for call in calls_in(record)]


_SKILL = b"Base directory for this skill: "


def skills(data: bytes) -> list[str]:
    """Folders of the skills whose bodies stand in the messages since the last compaction."""
    rest = data[max(data.rfind(_BOUNDARY), 0) :]
    found = []
    for record in records_with(rest, _SKILL):
        texts = [block.get("text") for block in blocks_of(record)]
        mark = _SKILL.decode()
        found += [t[len(mark) :].partition("\n")[0] for t in texts if isinstance(t, str) and t.startswith(mark)]
    return found


def path_of(transcript: str, agent_id: str) -> str:
    """The transcript of one window: subagents have their own beside the main one."""
    if not agent_id or agent_id == MAIN or not transcript.endswith(".jsonl"):
        return transcript
    return f"{transcript[:-6]}/subagents/agent-{agent_id}.jsonl"
