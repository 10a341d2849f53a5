"""Files that a prompt names with `@`: the client attaches them, and no tool event tells of it."""

from __future__ import annotations

from handbill.core.paths import join

_MOST = 40
_LONGEST = 4096
_ENDS = ",.;:!?)]}'\""


def mentioned(prompt: str, cwd: str, home: str) -> list[str]:
    """Absolute paths, in order; whether they exist is not asked. `@` counts at the start of a line or after a space."""
    found: dict[str, None] = {}
    at = prompt.find("@")
    while at >= 0 and len(found) < _MOST:
        if at == 0 or prompt[at - 1].isspace():
            name = _name(prompt, at + 1)
            if name and len(name) <= _LONGEST and "\0" not in name:
                path = join(home, name[2:]) if name.startswith("~/") and home else join(cwd, name.rstrip("/") or "/")
                found[path] = None
        at = prompt.find("@", at + 1)
    return list(found)


def _name(prompt: str, start: int) -> str:
    """What stands behind an `@`: quoted, or up to the next space; a range of lines is no part of it."""
    if prompt.startswith('"', start):
        name = prompt[start + 1 : max(prompt.find('"', start + 1), 0)]
    else:
        words = prompt[start : start + _LONGEST].split(maxsplit=1)
        name = words[0].rstrip(_ENDS) if words and not prompt[start : start + 1].isspace() else ""
    before, mark, lines = name.rpartition("#L")
    return before if mark and lines.replace("-", "").replace("L", "").isdecimal() else name
