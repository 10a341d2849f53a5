"""Files that a prompt names with `@`: the client attaches them, and no tool event tells of it."""

from __future__ import annotations

from handbill.core.event import MENTION, Tool
from handbill.core.paths import join

_MOST = 40
_LONGEST = 4096
_ENDS = ",.;:!?)]}'\""


def mentions(prompt: str, cwd: str, home: str, id: str = "") -> list[Tool]:
    """As calls that read: a range of lines is a part of a file."""
    found = mentioned(prompt, cwd, home)
    return [Tool(MENTION, id, places=(path,), values={"limit": True} if ranged else {}) for path, ranged in found]


def in_command(body: str, words: str, cwd: str) -> list[Tool]:
    """`words`: its arguments. Each mention counts as partial, because we do not check what the client shows."""
    if "@" not in body:
        return []
    for name, value in (("$ARGUMENTS", words), *((f"${i}", word) for i, word in enumerate(words.split()[:9], 1))):
        body = body.replace(name, value)
    return [Tool(MENTION, places=(path,), values={"limit": True}) for path, _ in mentioned(body, cwd, "")]


def mentioned(prompt: str, cwd: str, home: str) -> list[tuple[str, bool]]:
    """(absolute path, is it a range of its lines), in order; whether it exists is not asked.

    `@` counts at the start of a line or after a space.
    """
    found: dict[str, bool] = {}
    at = prompt.find("@")
    while at >= 0 and len(found) < _MOST:
        if at == 0 or prompt[at - 1].isspace():
            name, ranged = _name(prompt, at + 1)
            if name and len(name) <= _LONGEST and "\0" not in name:
                path = join(home, name[2:]) if name.startswith("~/") and home else join(cwd, name.rstrip("/") or "/")
                found[path] = found.get(path, True) and ranged
        at = prompt.find("@", at + 1)
    return list(found.items())


def _name(prompt: str, start: int) -> tuple[str, bool]:
    """The name after an `@`: quoted, or up to the next space; and whether a range of lines follows it."""
    if prompt.startswith('"', start):
        name = prompt[start + 1 : max(prompt.find('"', start + 1), 0)]
    else:
        words = prompt[start : start + _LONGEST].split(maxsplit=1)
        name = words[0].rstrip(_ENDS) if words and not prompt[start : start + 1].isspace() else ""
    before, mark, lines = name.rpartition("#L")
    ranged = bool(mark) and lines.replace("-", "").replace("L", "").isdecimal()
    return (before if ranged else name), ranged
