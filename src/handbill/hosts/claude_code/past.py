"""Answer commands from a transcript: client version, running commands, last compaction."""

from __future__ import annotations

from handbill.hosts.claude_code.compaction import last_compaction
from handbill.hosts.claude_code.rows import blocks_of, calls_in, records_with

__all__ = ["last_compaction", "runs_now", "version_in"]


def version_in(data: bytes) -> tuple[int, ...]:
    """Return the version of the client that wrote the newest row; empty if the rows have none."""
    parts = data.rpartition(b'"version":"')[2].partition(b'"')[0].split(b".")
    return tuple(map(int, parts)) if len(parts) == 3 and all(part.isdigit() for part in parts) else ()


def runs_now(data: bytes, words: str) -> bool:
    """Whether a shell command with these words is running: its call has no result yet."""
    calls = [call for record in records_with(data, b'"tool_use"') for call in calls_in(record)]
    inputs = [(call["id"], call.get("input")) for call in calls if call.get("name") == "Bash"]
    open_ones = [id for id, values in inputs if isinstance(values, dict) and words in str(values.get("command", ""))]
    results = {
        block.get("tool_use_id") for record in records_with(data, b'"tool_result"') for block in blocks_of(record)
    }
    return any(id not in results for id in open_ones)
