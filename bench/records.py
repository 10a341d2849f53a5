"""Lines of a client's transcript, in the forms and sizes that Claude Code 2.1.325 writes."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

Record = dict[str, Any]


# The newest row of each transcript, which is the parent of the next row.
_LAST: dict[Path, str] = {}


def append(path: Path, *records: Record) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(_line(_linked(path, record)) for record in records)


def _linked(path: Path, record: Record) -> Record:
    linked = {**record, "parentUuid": _LAST.get(path), "uuid": str(uuid.uuid4())}
    _LAST[path] = linked["uuid"]
    return linked


def _line(record: Record) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"


def _with_frame(session: str, **values: Any) -> Record:
    return {
        "parentUuid": str(uuid.uuid4()), "isSidechain": False, **values, "uuid": str(uuid.uuid4()),
        "timestamp": "2026-11-15T21:20:06.320Z", "userType": "external", "entrypoint": "sdk-cli",
        "sessionId": session, "version": "2.1.325", "gitBranch": "master",
    }  # fmt: skip


def prompt(session: str, text: str) -> Record:
    return _with_frame(session, promptId=str(uuid.uuid4()), type="user", message={"role": "user", "content": text})


def calls(session: str, tools: Sequence[Record]) -> Iterator[Record]:
    """Yield the assistant's message and the result of each of its calls."""
    blocks = [
        {"type": "tool_use", "id": tool["tool_use_id"], "name": tool["tool_name"], "input": tool["tool_input"]}
        for tool in tools
    ]
    message = {"id": f"msg_{uuid.uuid4().hex}", "type": "message", "role": "assistant", "content": blocks}
    yield _with_frame(session, message=message, type="assistant")
    for tool in tools:
        result = {"tool_use_id": tool["tool_use_id"], "type": "tool_result", "content": tool["tool_response"]}
        yield _with_frame(session, type="user", message={"role": "user", "content": [result]})


def injection(session: str, event: str, text: str) -> Record:
    """Return the record of a hook's text that reached the window."""
    attachment = {"type": "hook_additional_context", "content": [text], "hookName": event, "hookEvent": event}
    return _with_frame(session, attachment=attachment, type="attachment")


def snapshot(session: str, size: int) -> Record:
    """Return a record of the kind that fills most of a real transcript."""
    sentence = "You are an agent working with the user toward their goals.\n\t\"Quoted\", `code` and {'braces': 1}.\n"
    attachment = {"type": "prompt_snapshot", "systemPrompt": [sentence * (size // len(sentence) + 1)]}
    return _with_frame(session, attachment=attachment, type="attachment")


def fill(path: Path, session: str, size: int) -> None:
    """Write at least `size` bytes of earlier conversation."""
    turn = [{"tool_name": "Read", "tool_input": {"file_path": "/x/y.py"}, "tool_response": "1\tvalue = 1\n" * 400}]
    tools = [{**tool, "tool_use_id": "toolu_earlier"} for tool in turn]
    piece = [prompt(session, "go on"), *calls(session, tools), snapshot(session, 40_000)]
    written = 0
    while written < size:
        before = path.stat().st_size if path.exists() else 0
        append(path, *piece)
        written += path.stat().st_size - before
