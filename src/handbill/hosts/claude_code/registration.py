"""Claude Code's settings file: adding and removing our hooks without touching anything else; pure."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from handbill.errors import HandbillError
from handbill.event import DELEGATES, WRITES
from handbill.library.needs import CHANGES, EVERY

MARK = "handbill.hook"
SKILL_LANES = 4  # a skill's first phase has a dozen pages or so
TIMEOUT = 10  # seconds; the client's own default would let a stuck disk hold the agent for minutes

# One process per assistant message (PostToolBatch); the others are rare.
EVENTS = (
    "SessionStart", "UserPromptSubmit", "UserPromptExpansion", "PreToolUse", "PostToolBatch", "SubagentStart",
    "PreCompact", "InstructionsLoaded", "SessionEnd",
)  # fmt: skip
# Only where a gate may hold every call: the last moment of a turn that made none.
FAILSAFE = "Stop"
# What a gate may hold -> the tools that do it. A hook is started before these only.
_HELD = {
    WRITES: ("Write",), CHANGES: ("Edit", "MultiEdit", "NotebookEdit"), DELEGATES: ("Agent", "Task"),
}  # fmt: skip


def held_tools(holds: Collection[str]) -> str:
    """For which tools a hook is started before they run; empty: for all of them."""
    return "" if EVERY in holds else "|".join(tool for kind, tools in _HELD.items() if kind in holds for tool in tools)


HELD_TOOLS = held_tools((WRITES, DELEGATES))


class OddSettings(HandbillError):
    code = "odd-settings"


class OddFormatting(OddSettings):
    """Plain JSON, but not written as we would write it."""


def hook_code(folder: str, packages: str = "") -> str:
    """What the interpreter runs. A missing script would exit 2, which blocks prompts and tool calls;
    inline code with a missing package exits 0, and a missing interpreter fails open by itself.
    `packages`: where PyYAML stands, if not beside us; looked at last, so it costs nothing."""
    more = f";sys.path.append({packages!r})" if packages and packages != folder else ""
    return (
        f"import sys;sys.path.insert(0,{folder!r}){more}\ntry:from handbill.hook import main\n"
        f"except Exception:sys.exit(0)\nmain()"
    )


def handler(interpreter: str, folder: str, *lane: str, packages: str = "") -> dict[str, Any]:
    arguments = ["-I", "-S", "-X", "utf8", "-c", hook_code(folder, packages), "claude-code", *lane]
    return {"type": "command", "command": interpreter, "args": arguments, "timeout": TIMEOUT}


def handlers(
    interpreter: str, folder: str, lanes: int, *, every: bool = False, packages: str = ""
) -> dict[str, list[dict[str, Any]]]:
    """event -> our handlers. Where much has to be said at once there are lanes: each handler may say only so much."""
    events = (*EVENTS, *((FAILSAFE,) if every else ()))
    plain = {event: [handler(interpreter, folder, packages=packages)] for event in events}
    for event, count in (("SessionStart", lanes), ("UserPromptExpansion", SKILL_LANES)):
        if count > 1:
            plain[event] = [
                handler(interpreter, folder, "--lane", f"{i}/{count}", packages=packages) for i in range(1, count + 1)
            ]
    return plain


def is_ours(one: object) -> bool:
    if not isinstance(one, dict):
        return False
    words = [one.get("command"), *(one["args"] if isinstance(one.get("args"), list) else [])]
    return any(isinstance(word, str) and MARK in word for word in words)


def parse(text: str, where: str) -> dict[str, Any]:
    """The settings; refuses what could not be written back as it was."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(items)
        if len(made) != len(items):
            raise OddSettings(f"{where}: a key occurs twice", "keep one of them, then run this again")
        return made

    try:
        value = json.loads(text, object_pairs_hook=pairs) if text.strip() else {}
    except json.JSONDecodeError as error:
        raise OddSettings(
            f"{where}: not plain JSON at line {error.lineno}, column {error.colno} ({error.msg})",
            "comments and trailing commas cannot be kept; remove them, then run this again",
        ) from error
    except ValueError as error:  # a number of thousands of digits
        raise OddSettings(f"{where}: {error}", "correct it, then run this again") from error
    except RecursionError:
        raise OddSettings(f"{where}: it is nested too deep", "move it elsewhere, then run this again") from None
    if not isinstance(value, dict):
        raise OddSettings(f"{where}: not a JSON object", "move it elsewhere, then run this again")
    hooks = value.get("hooks", {})
    if not isinstance(hooks, dict) or not all(_groups_ok(groups) for groups in hooks.values()):
        raise OddSettings(
            f"{where}: `hooks` does not have the form that the client needs", "see the client's hooks reference"
        )
    return value


def _groups_ok(groups: object) -> bool:
    return isinstance(groups, list) and all(
        isinstance(group, dict) and isinstance(group.get("hooks", []), list) for group in groups
    )


def without_ours(settings: dict[str, Any]) -> dict[str, Any]:
    if "hooks" not in settings:
        return settings
    hooks: dict[str, Any] = {}
    for event, groups in settings["hooks"].items():
        kept = []
        for group in groups:
            rest = [one for one in group.get("hooks", []) if not is_ours(one)]
            if rest or len(rest) == len(group.get("hooks", [])):
                kept.append({**group, "hooks": rest} if "hooks" in group else group)
        if kept or not groups:
            hooks[event] = kept
    rest_of = {key: value for key, value in settings.items() if key != "hooks"}
    if hooks or not settings["hooks"]:
        return {**settings, "hooks": hooks}
    return rest_of


def with_ours(
    settings: dict[str, Any], ours: dict[str, list[dict[str, Any]]], held: str = HELD_TOOLS
) -> dict[str, Any]:
    clean = without_ours(settings)
    hooks = {event: list(groups) for event, groups in clean.get("hooks", {}).items()}
    for event, made in ours.items():
        tools = held if event == "PreToolUse" else ""
        hooks.setdefault(event, []).append({"matcher": tools, "hooks": made} if tools else {"hooks": made})
    return {**clean, "hooks": hooks}


def hooks_disabled(text: str) -> bool:
    try:
        value = json.loads(text) if text.strip() else {}
    except ValueError:
        return False
    return isinstance(value, dict) and value.get("disableAllHooks") is True


def registered(settings: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """event -> our handlers as they stand in the file."""
    found: dict[str, list[dict[str, Any]]] = {}
    for event, groups in settings.get("hooks", {}).items():
        mine = [one for group in groups for one in group.get("hooks", []) if is_ours(one)]
        if mine:
            found[event] = mine
    return found


def matchers(settings: dict[str, Any], event: str) -> set[str]:
    """The tools that our handlers of an event are registered for, as written."""
    groups = settings.get("hooks", {}).get(event, [])
    return {str(group.get("matcher", "")) for group in groups if any(map(is_ours, group.get("hooks", [])))}


_STYLES: tuple[int | str | None, ...] = (2, 4, "\t", 3, 1, 8, None)


def style_of(text: str, value: dict[str, Any]) -> tuple[int | str | None, bool, str]:
    """(indent, ASCII only, end) with which `value` is written exactly as `text`."""
    if not text.strip():
        return 2, False, "\n"
    for indent in _STYLES:
        for ascii_only in (False, True):
            for end in ("\n", "", "\r\n"):
                if json.dumps(value, indent=indent, ensure_ascii=ascii_only) + end == text:
                    return indent, ascii_only, end
    raise OddFormatting(
        "its formatting would change",
        "`--reformat` rewrites it with two spaces; `--dry-run` shows what would be added, to paste by hand",
    )


def written(value: dict[str, Any], style: tuple[int | str | None, bool, str]) -> str:
    indent, ascii_only, end = style
    return json.dumps(value, indent=indent, ensure_ascii=ascii_only) + end
