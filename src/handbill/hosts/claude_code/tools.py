"""Claude Code's tool calls in our words: what each is called, and which paths it touches."""

from __future__ import annotations

from handbill.event import DONE, FAILED, HELD, REFUSED, Tool
from handbill.paths import join

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_LONGEST = 4096
_SKILL_LOADED = ("Launching skill", "already loaded")
_REFUSALS = ("<tool_use_error>", "Permission to use ", "The user doesn't want to ")
_BEFORE_CALL, _HOOK_ERROR = "PreToolUse:", " hook error: "
_UNCHANGED = "file unchanged since"  # some versions do not show the same text twice
_EMPTY = ("the contents are empty", "provided offset (1)")

_FILE_KEYS = {
    "Read": "file_path", "Edit": "file_path", "Write": "file_path", "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path", "NotebookRead": "notebook_path",
}  # fmt: skip


def tool(call: Mapping[str, Any], cwd: str) -> Tool:
    """A call as the batch event or the transcript lists it."""
    name = text_of(call.get("tool_name") or call.get("name"))
    id = text_of(call.get("tool_use_id") or call.get("id"))
    values = call.get("tool_input") if "tool_input" in call else call.get("input")
    values = values if isinstance(values, dict) else {}
    files: list[str] = []
    places: list[str] = []
    if name in _FILE_KEYS:
        files = [text_of(values.get(_FILE_KEYS[name]))]
    elif name in ("Glob", "Grep", "LS"):
        places = [text_of(values.get("path")) or cwd]
        pattern = text_of(values.get("pattern")) if name == "Glob" else ""
        fixed = pattern[: min((pattern.find(c) for c in "*?[{" if c in pattern), default=len(pattern))]
        if "/" in fixed:
            places.append(join(join(cwd, places[0]), fixed[: fixed.rfind("/")] or "/"))
    elif name == "Bash":
        from handbill.text.shell_words import looks_like_path, plain_arguments

        places = [word for word in plain_arguments(text_of(values.get("command"))) if looks_like_path(word)]
    response = call.get("tool_response")
    return Tool(
        name, id, _paths(files, cwd), _paths(places, cwd), values=values, output=_output(response),
        outcome=_outcome(name, response), at=text_of(call.get("timestamp")),
    )  # fmt: skip


def _outcome(name: str, response: object) -> str:
    """The client says it in words only. Without an answer, the call counts as done."""
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
    """Lines of a text file are numbered; anything else that is text says why they are not there."""
    start = text[:120].lstrip()
    rest = start.lstrip("0123456789")
    return (rest != start and rest[:1] in ("\t", "→")) or _UNCHANGED in start or any(words in start for words in _EMPTY)


def is_denial(text: str) -> bool:
    """Does a call's answer say that we held it? Newer clients put the hook's name before our words."""
    if not text.startswith(("[", _BEFORE_CALL)):
        return False
    from handbill.text.blocks import HELD as MARK

    before, error, rest = text.partition(_HOOK_ERROR)
    return text.startswith(MARK) or (bool(error) and before.startswith(_BEFORE_CALL) and rest.startswith(MARK))


def _output(response: object) -> str:
    """What a call answered, as text; some answer in several blocks."""
    if isinstance(response, list):
        return "\n".join(text_of(block.get("text")) for block in response if isinstance(block, dict))
    return text_of(response)


def _paths(names: list[str], cwd: str) -> tuple[str, ...]:
    """What no file system can hold is no path."""
    return tuple(join(cwd, name) for name in names if name and "\0" not in name and len(name) <= _LONGEST)


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""
