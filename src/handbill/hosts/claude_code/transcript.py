"""Where Claude Code keeps the record of a window, and the tool calls in it; pure, on bytes.

Records appear about 100 ms late, so absence proves nothing unless a later record is there.
"""

from __future__ import annotations

from handbill.event import MAIN
from handbill.hosts.claude_code.rows import blocks_of, calls_in, is_boundary, joined_prompt, records_with, typed_in
from handbill.hosts.claude_code.signs import COMPACTED, line_around

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from handbill.event import Event


def calls(data: bytes, there: Collection[str] | None = None) -> list[dict[str, Any]]:
    """The tool calls with the ids `there`, else all since the last compaction; with the answers that are text."""
    rest = data
    for record in records_with(data, b'"compact_boundary"') if there is None else ():
        if is_boundary(record) and isinstance(record.get("uuid"), str):
            rest = data[data.rfind(f'"uuid":"{record["uuid"]}"'.encode()) :]  # its own row, not one that names it
    results = [block for record in records_with(rest, b'"tool_result"') for block in blocks_of(record)]
    answers = {str(block.get("tool_use_id")): block.get("content") for block in results}
    return [
        {**call, "timestamp": record.get("timestamp"), "tool_response": answers.get(call["id"])}
        for record in records_with(rest, b'"tool_use"')
        for call in calls_in(record)
        if there is None or call["id"] in there
    ]


def version_in(data: bytes) -> tuple[int, ...]:
    """Of the client that wrote the newest row; empty: the rows do not say."""
    parts = data.rpartition(b'"version":"')[2].partition(b'"')[0].split(b".")
    return tuple(map(int, parts)) if len(parts) == 3 and all(part.isdigit() for part in parts) else ()


def runs_now(data: bytes, words: str) -> bool:
    """Is a shell command with these words running? Its call is there, and its result is not."""
    calls = [call for record in records_with(data, b'"tool_use"') for call in calls_in(record)]
    inputs = [(call["id"], call.get("input")) for call in calls if call.get("name") == "Bash"]
    open_ones = [id for id, values in inputs if isinstance(values, dict) and words in str(values.get("command", ""))]
    results = {
        block.get("tool_use_id") for record in records_with(data, b'"tool_result"') for block in blocks_of(record)
    }
    return any(id not in results for id in open_ones)


def prompts(data: bytes) -> list[tuple[str, str]]:
    """(id, text) of what a person typed."""
    found = []
    for record in records_with(data, b'"promptId"'):
        texts = typed_in(record) if record.get("type") == "user" and "toolUseResult" not in record else []
        found += [(str(record.get("promptId")), text) for text in texts]
    found += [joined_prompt(record) for record in records_with(data, b'"queued_command"')]
    return [one for one in found if one[0] and "@" in one[1]]


def answers(data: bytes) -> list[str]:
    """The texts that the agent wrote, the oldest first."""
    found = records_with(data, b'"assistant"')
    said = [block for record in found if record.get("type") == "assistant" for block in blocks_of(record)]
    return [block["text"] for block in said if block.get("type") == "text" and isinstance(block.get("text"), str)]


def path_of(transcript: str, agent_id: str) -> str:
    """The transcript of one window: subagents have their own beside the main one."""
    if not agent_id or agent_id == MAIN or not transcript.endswith(".jsonl"):
        return transcript
    return f"{transcript[:-6]}/subagents/agent-{agent_id}.jsonl"


def reaches(data: bytes, event: Event) -> bool:
    """Is the transcript written up to the results of these calls (a denial is one), or up to this prompt?

    Rows are about 100 ms late, a fork's copies too.
    """
    if event.calls:
        return all(f'"tool_use_id":"{id}"'.encode() in data for id in event.calls)
    if event.agent_id:
        return b'"assistant"' in data
    prompt = event.raw.get("prompt_id")
    return isinstance(prompt, str) and bool(prompt) and f'"{prompt}"'.encode() in data


def compactions(data: bytes) -> list[int]:
    """Where the rows of compactions begin."""
    found, at = [], data.find(COMPACTED)
    while at != -1:
        start, end = line_around(data, at)
        found.append(start)
        at = data.find(COMPACTED, end)
    return found
