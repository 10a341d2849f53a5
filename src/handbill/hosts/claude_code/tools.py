"""Convert Claude Code's tool calls: their kind, and the paths that they touch."""

from __future__ import annotations

from handbill.event import (
    ASKS,
    DELEGATES,
    DONE,
    FAILED,
    HELD,
    LOADS_SKILL,
    READS,
    REFUSED,
    RUNS,
    SEARCHES,
    WRITES,
    Tool,
)
from handbill.paths import join

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_LONGEST = 4096
_SKILL_LOADED = ("Launching skill", "already loaded")
_REFUSALS = ("<tool_use_error>", "Permission to use ", "The user doesn't want to ")
_BEFORE_CALL, _HOOK_ERROR = "PreToolUse:", " hook error: "
_UNCHANGED = "file unchanged since"  # Some versions do not show the same text twice.
_EMPTY = ("the contents are empty", "provided offset (1)")

_LAUNCHED = "Async agent launched"
DOES = {
    "Read": READS, "NotebookRead": READS, "Write": WRITES, "Edit": WRITES, "MultiEdit": WRITES, "NotebookEdit": WRITES,
    "Bash": RUNS, "Glob": SEARCHES, "Grep": SEARCHES, "LS": SEARCHES, "Agent": DELEGATES, "Task": DELEGATES,
    "AskUserQuestion": ASKS, "Skill": LOADS_SKILL,
}  # fmt: skip
_FILE_KEYS = ("file_path", "notebook_path")
PARTIAL_WRITES = ("Edit", "MultiEdit", "NotebookEdit")


def tool(call: Mapping[str, Any], cwd: str) -> Tool:
    """Convert a call in the form of the batch event or of the transcript."""
    name = text_of(call.get("tool_name") or call.get("name"))
    id = text_of(call.get("tool_use_id") or call.get("id"))
    values = call.get("tool_input") if "tool_input" in call else call.get("input")
    values = values if isinstance(values, dict) else {}
    does = DOES.get(name, "")
    response = call.get("tool_response")
    made = Tool(
        does, id, name=name, output=_output(response), outcome=_outcome(name, response),
        at=text_of(call.get("timestamp")),
    )  # fmt: skip
    if does in (READS, WRITES):
        made.files = _paths([text_of(values.get(key)) for key in _FILE_KEYS], cwd)
        made.whole = name not in PARTIAL_WRITES and not (values.get("limit") or values.get("offset"))
    elif does == SEARCHES:
        made.paths = _paths(_searched(name, values, cwd), cwd)
    elif does == RUNS:
        from handbill.text.shell_words import looks_like_path, plain_arguments

        made.command = text_of(values.get("command"))
        made.paths = _paths([word for word in plain_arguments(made.command) if looks_like_path(word)], cwd)
    elif does == LOADS_SKILL:
        made.skill, made.arguments = text_of(values.get("skill")), text_of(values.get("args"))
    elif does == DELEGATES:
        from handbill.work.task import Task

        kind = text_of(values.get("subagent_type")) or "general-purpose"
        # The call has ended, but its agent continues.
        in_background = values.get("run_in_background") is True or _LAUNCHED in made.output[:2000]
        made.task = Task(text_of(values.get("prompt")), kind, in_background=in_background)
    return made


def _searched(name: str, values: Mapping[str, Any], cwd: str) -> list[str]:
    """Return the searched directory, and the fixed beginning of a pattern."""
    places = [text_of(values.get("path")) or cwd]
    pattern = text_of(values.get("pattern")) if name == "Glob" else ""
    fixed = pattern[: min((pattern.find(c) for c in "*?[{" if c in pattern), default=len(pattern))]
    if "/" in fixed:
        places.append(join(join(cwd, places[0]), fixed[: fixed.rfind("/")] or "/"))
    return places


def _outcome(name: str, response: object) -> str:
    """Return the outcome, which the client reports only in text.

    Without an answer, the call counts as done.
    """
    text = response if isinstance(response, str) else ""
    if not text:
        return DONE
    if is_denial(text):
        return HELD
    if text.startswith(_REFUSALS) or (text.startswith(_BEFORE_CALL) and _HOOK_ERROR in text[:200]):
        return REFUSED
    if name == "Read":
        return DONE if _shows_file(text) else FAILED
    if name == "Skill":
        return DONE if any(words in text for words in _SKILL_LOADED) else FAILED
    return FAILED if name == "Bash" and text.startswith("Exit code ") else DONE


def _shows_file(text: str) -> bool:
    """Whether the answer shows a file.

    The lines of a text file are numbered. Any other text explains why they are missing.
    """
    start = text[:120].lstrip()
    rest = start.lstrip("0123456789")
    return (rest != start and rest[:1] in ("\t", "→")) or _UNCHANGED in start or any(words in start for words in _EMPTY)


def is_denial(text: str) -> bool:
    """Whether a call's answer is our denial. Newer clients put the hook's name before our text."""
    if not text.startswith(("[", _BEFORE_CALL)):
        return False
    from handbill.text.blocks import HELD as MARK

    before, error, rest = text.partition(_HOOK_ERROR)
    return text.startswith(MARK) or (bool(error) and before.startswith(_BEFORE_CALL) and rest.startswith(MARK))


def _output(response: object) -> str:
    """Return a call's answer as text. Some answers have several blocks."""
    if isinstance(response, list):
        return "\n".join(text_of(block.get("text")) for block in response if isinstance(block, dict))
    return text_of(response)


def _paths(names: list[str], cwd: str) -> tuple[str, ...]:
    """Return absolute paths, without names that no file system allows."""
    return tuple(join(cwd, name) for name in names if name and "\0" not in name and len(name) <= _LONGEST)


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""
