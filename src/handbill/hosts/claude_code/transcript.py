"""Find the record of a Claude Code window, and the tool calls in it; pure, on bytes.

Records appear about 100 ms late. So a missing record proves nothing until a later one is there.
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
    """Return the tool calls with the ids `there`, else all calls since the last compaction.

    Each call includes its answer, if that is text.
    """
    rest = data
    for record in records_with(data, b'"compact_boundary"') if there is None else ():
        if is_boundary(record) and isinstance(record.get("uuid"), str):
            # its own row, not one that names it
            rest = data[data.rfind(f'"uuid":"{record["uuid"]}"'.encode()) :]
    results = [block for record in records_with(rest, b'"tool_result"') for block in blocks_of(record)]
    answers = {str(block.get("tool_use_id")): block.get("content") for block in results}
    return [
        {**call, "timestamp": record.get("timestamp"), "tool_response": answers.get(call["id"])}
        for record in records_with(rest, b'"tool_use"')
        for call in calls_in(record)
        if there is None or call["id"] in there
    ]


def tokens_used(data: bytes) -> int:
    """Return the tokens of the newest request and its answer, as counted by the server.

    0: no row has the numbers.
    """
    used, rest = 0, data[max(compactions(data), default=0) :]  # Rows before a compaction are gone.
    for record in records_with(rest, b'"usage"'):
        message = record.get("message")
        usage = message.get("usage") if record.get("type") == "assistant" and isinstance(message, dict) else None
        numbers = [usage.get(name) for name in _USAGE] if isinstance(usage, dict) else []
        used = sum(number for number in numbers if isinstance(number, int)) or used
    return used


def prompts(data: bytes) -> list[tuple[str, str]]:
    """Return (id, text) of the prompts that a person typed and that contain an `@`."""
    found = []
    for record in records_with(data, b'"promptId"'):
        texts = typed_in(record) if record.get("type") == "user" and "toolUseResult" not in record else []
        found += [(str(record.get("promptId")), text) for text in texts]
    found += [joined_prompt(record) for record in records_with(data, b'"queued_command"')]
    return [one for one in found if one[0] and "@" in one[1]]


def answers(data: bytes) -> list[str]:
    """Return the texts that the agent wrote, oldest first."""
    found = records_with(data, b'"assistant"')
    said = [block for record in found if record.get("type") == "assistant" for block in blocks_of(record)]
    return [block["text"] for block in said if block.get("type") == "text" and isinstance(block.get("text"), str)]


def path_of(transcript: str, agent_id: str) -> str:
    """Return the transcript of one window. Subagents have their own beside the main one."""
    if not agent_id or agent_id == MAIN or not transcript.endswith(".jsonl"):
        return transcript
    return f"{transcript[:-6]}/subagents/agent-{agent_id}.jsonl"


def reaches(data: bytes, event: Event) -> bool:
    """Whether the transcript includes the results of these calls, or this prompt.

    A denial is a result too. Rows appear about 100 ms late, also in the copy of a fork.
    """
    if event.calls:
        return all(f'"tool_use_id":"{id}"'.encode() in data for id in event.calls)
    if event.agent_id:
        return b'"assistant"' in data
    prompt = event.prompt_id
    return bool(prompt) and f'"{prompt}"'.encode() in data


def compactions(data: bytes) -> list[int]:
    """Return where the rows of compactions begin."""
    found, at = [], data.find(COMPACTED)
    while at != -1:
        start, end = line_around(data, at)
        found.append(start)
        at = data.find(COMPACTED, end)
    return found
