"""Define the hooks to register with Claude Code, and read hooks from a settings file; pure."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from handbill.errors import HandbillError
from handbill.event import DELEGATES, WRITES
from handbill.hosts.claude_code.tools import DOES, PARTIAL_WRITES
from handbill.library.needs import CHANGES, EVERY
from handbill.text.json_tree import BOM, GAP, NotJson, Value
from handbill.text.json_tree import parse as tree_of

MARK = "handbill.hook"  # part of each of our commands, and so of the client's records of them
HOST = "claude-code"  # identifies the caller to the hook
SKILL_LANES = 4  # The first phase of a skill has about a dozen pages.
TIMEOUT = 10  # seconds; the client's default would let a stuck disk block the agent for minutes

# PostToolBatch starts one process per assistant message. The others are rare.
EVENTS = (
    "SessionStart", "UserPromptSubmit", "UserPromptExpansion", "PreToolUse", "PostToolBatch", "SubagentStart",
    "PreCompact", "InstructionsLoaded", "SessionEnd",
)  # fmt: skip
# Registered only if a gate may hold every call: the end of a turn that made no calls.
FAILSAFE = "Stop"


def held_tools(holds: Collection[str]) -> str:
    """Return the tools whose calls start a hook before they run; empty for all tools.

    `holds`: kinds of calls.
    """
    if EVERY in holds:
        return ""
    return "|".join(tool for tool, does in DOES.items() if does in holds and _is_held(tool, does, holds))


def _is_held(tool: str, does: str, holds: Collection[str]) -> bool:
    """Whether calls of this tool are held.

    `WRITES` is for new files. Changes to an existing file are held only if a gate needs that.
    """
    return does != WRITES or tool not in PARTIAL_WRITES or CHANGES in holds


HELD_TOOLS = held_tools((WRITES, DELEGATES))


_READ = ("hooks", "disableAllHooks")
# the hook settings of one settings file
HookSettings = dict[str, Any]


class OddSettings(HandbillError):
    code = "odd-settings"


def hook_code(folder: str, packages: str = "") -> str:
    """Return the code that the interpreter runs.

    Without the package, it ends silently, as if no hook were registered. In our folder, it looks
    for Python files only. The usual finder would first look for a zip file and three kinds of
    compiled modules each time (0.7 of 31 million instructions). `packages`: the folder of PyYAML if
    it is not ours. It is searched last, so it costs nothing.
    """
    more = f";sys.path.append({packages!r})" if packages and packages != folder else ""
    return (
        f"import sys\nF=sys.modules['_frozen_importlib_external'];D={folder!r};M=type(sys)('__future__')\n"
        "M.annotations=0;sys.modules['__future__']=M\n"
        "def only_python(path):\n"
        " if path.startswith(D):return F.FileFinder(path,(F.SourceFileLoader,['.py']))\n"
        " raise ImportError\n"
        f"sys.path_hooks[:-1]=[only_python];sys.path.insert(0,D){more}\n"
        "try:from handbill.hook import main\nexcept Exception:sys.exit(0)\nmain()"
    )


def inline(interpreter: str, folder: str, packages: str = "") -> list[str]:
    """Return a command that needs no file of its own.

    Without its file, `python FILE` would exit with code 2, which blocks prompts.
    """
    return [interpreter, "-I", "-S", "-X", "utf8", "-c", hook_code(folder, packages)]


def handler(command: Sequence[str], *lane: str) -> dict[str, Any]:
    return {"type": "command", "command": command[0], "args": [*command[1:], HOST, *lane], "timeout": TIMEOUT}


def handlers(command: Sequence[str], lanes: int, *, every: bool = False) -> dict[str, list[dict[str, Any]]]:
    """Return event -> our handlers. Events that need much text have several handlers ("lanes").

    Several are needed because the text of each handler is limited.
    """
    events = (*EVENTS, *((FAILSAFE,) if every else ()))
    plain = {event: [handler(command)] for event in events}
    for event, count in (("SessionStart", lanes), ("UserPromptExpansion", SKILL_LANES)):
        if count > 1:
            plain[event] = [handler(command, "--lane", f"{i}/{count}") for i in range(1, count + 1)]
    return plain


def grouped(ours: Mapping[str, list[dict[str, Any]]], held: str = HELD_TOOLS) -> dict[str, dict[str, Any]]:
    """Return event -> the one group to register for it.

    A hook before a call is started only for `held` tools.
    """
    found: dict[str, dict[str, Any]] = {event: {"hooks": made} for event, made in ours.items()}
    if held and "PreToolUse" in found:
        found["PreToolUse"] = {"matcher": held, **found["PreToolUse"]}
    return found


def words_of(one: Mapping[str, Any]) -> list[Any]:
    """Return the command line of a handler."""
    return [one.get("command"), *(one["args"] if isinstance(one.get("args"), list) else [])]


def is_ours(one: object) -> bool:
    return isinstance(one, dict) and any(isinstance(word, str) and MARK in word for word in words_of(one))


def parse(text: str, where: str) -> HookSettings:
    """Return the hook settings of a settings file. Reject files that the client does not read."""
    if not text.removeprefix(BOM).strip(GAP):
        return {}
    try:
        root = tree_of(text)
        found = {key: loaded(text, value) for key in _READ if (value := root.member(key)) is not None}
    except NotJson as error:
        raise OddSettings(
            f"{where} is not valid JSON at line {error.line}, column {error.column}: {error.why}",
            "Claude Code ignores such a file without a message; correct it, then run this again",
        ) from error
    except RecursionError as error:
        raise OddSettings(f"{where}: its hooks cannot be read: {error}", "correct it, then run this again") from error
    if root.kind != "{":
        raise OddSettings(f"{where} is not a JSON object", "move it elsewhere, then run this again")
    hooks = found.get("hooks", {})
    if not isinstance(hooks, dict) or not all(_groups_ok(groups) for groups in hooks.values()):
        raise OddSettings(
            f"{where}: `hooks` does not have the form that the client needs", "see the client's hooks reference"
        )
    return found


def loaded(text: str, value: Value) -> Any:
    return json.loads(text[value.start : value.end], parse_int=_number)


def _number(digits: str) -> float:
    """Convert an integer. Python refuses thousands of digits, and JavaScript has only floats."""
    return int(digits) if len(digits) < 100 else float(digits)


def _groups_ok(groups: object) -> bool:
    return isinstance(groups, list) and all(
        isinstance(group, dict) and isinstance(group.get("hooks", []), list) for group in groups
    )


def hooks_disabled(text: str) -> bool:
    try:
        return parse(text, "").get("disableAllHooks") is True
    except OddSettings:
        return False


def registered(settings: HookSettings) -> dict[str, list[dict[str, Any]]]:
    """Return event -> our handlers as they are in the file."""
    found: dict[str, list[dict[str, Any]]] = {}
    for event, groups in settings.get("hooks", {}).items():
        mine = [one for group in groups for one in group.get("hooks", []) if is_ours(one)]
        if mine:
            found[event] = mine
    return found


def matchers(settings: HookSettings, event: str) -> set[str]:
    """Return the tools for which our handlers of an event are registered, as written."""
    groups = settings.get("hooks", {}).get(event, [])
    return {str(group.get("matcher", "")) for group in groups if any(map(is_ours, group.get("hooks", [])))}
