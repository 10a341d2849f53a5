"""Where Claude Code keeps the record of a window, and the tool calls in it; pure, on bytes.

Records appear about 100 ms late, so absence proves nothing unless a later record is there.
"""

from __future__ import annotations

from handbill.core.event import MAIN
from handbill.hosts.claude_rows import calls_in, is_boundary, records_with

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def calls(data: bytes) -> list[dict[str, Any]]:
    """Every tool call since the last compaction, for directories whose event was missed."""
    rest = data
    for record in records_with(data, b'"compact_boundary"'):
        if is_boundary(record) and isinstance(record.get("uuid"), str):
            rest = data[data.rfind(record["uuid"].encode()) :]
    found = records_with(rest, b'"tool_use"')
    return [{**call, "timestamp": record.get("timestamp")} for record in found for call in calls_in(record)]


def path_of(transcript: str, agent_id: str) -> str:
    """The transcript of one window: subagents have their own beside the main one."""
    if not agent_id or agent_id == MAIN or not transcript.endswith(".jsonl"):
        return transcript
    return f"{transcript[:-6]}/subagents/agent-{agent_id}.jsonl"
