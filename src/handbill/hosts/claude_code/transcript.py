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


_USAGE = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


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


def tokens_used(data: bytes) -> int:
    """Tokens of the newest request and its answer, as the model's server counted them; 0: no row says so."""
    used, rest = 0, data[max(compactions(data), default=0) :]  # what came before a compaction is gone
    for record in records_with(rest, b'"usage"'):
        message = record.get("message")
        usage = message.get("usage") if record.get("type") == "assistant" and isinstance(message, dict) else None
        numbers = [usage.get(name) for name in _USAGE] if isinstance(usage, dict) else []
        used = sum(number for number in numbers if isinstance(number, int)) or used
    return used


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
    prompt = event.prompt_id
    return bool(prompt) and f'"{prompt}"'.encode() in data


def compactions(data: bytes) -> list[int]:
    """Where the rows of compactions begin."""
    found, at = [], data.find(COMPACTED)
    while at != -1:
        start, end = line_around(data, at)
        found.append(start)
        at = data.find(COMPACTED, end)
    return found
