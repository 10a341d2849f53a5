"""Find files that a prompt names with `@`. The client attaches them without a tool event."""

from __future__ import annotations

from handbill.event import MENTIONS, Tool
from handbill.paths import join

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST = 40
_LONGEST = 4096
_ENDS = ",.;:!?)]}'\""


def mentions(prompt: str, cwd: str, home: str, id: str = "") -> list[Tool]:
    """Return the mentions as calls that read files. A range of lines is a part of a file."""
    found = mentioned(prompt, cwd, home)
    return [Tool(MENTIONS, id, paths=(path,), whole=not ranged) for path, ranged in found]


def in_command(body: str, words: str, cwd: str) -> list[Tool]:
    """Return the files that a command's body mentions. `words`: its arguments.

    Each mention counts as partial, because we do not check how much the client shows.
    """
    found: dict[str, None] = {}
    for name, _ in _names(body):
        found.update(dict.fromkeys(path for path, _ in mentioned(f"@{_filled(name, words[:_LONGEST])}", cwd, "")))
        if len(found) >= _MOST:
            break
    return [Tool(MENTIONS, paths=(path,), whole=False) for path in list(found)[:_MOST]]


def _filled(name: str, words: str) -> str:
    """Replace `$ARGUMENTS`, `$1`, `$2` and so on with the arguments.

    Placeholders inside the arguments are not replaced.
    """
    first, *others = name.split("$")
    found, each = [first], words.split()
    for piece in others:
        rest = piece.lstrip("0123456789")
        number = piece[: len(piece) - len(rest)]
        if piece.startswith("ARGUMENTS"):
            found.append(words + piece.removeprefix("ARGUMENTS"))
        elif 0 < len(number) < 3:
            found.append("".join(each[int(number) - 1 : int(number)]) + rest)
        else:
            found.append(f"${piece}")
    return "".join(found)


def mentioned(prompt: str, cwd: str, home: str) -> list[tuple[str, bool]]:
    """Return (absolute path, whether it is a range of lines) in order.

    This does not check whether the files exist.
    """
    found: dict[str, bool] = {}
    for name, ranged in _names(prompt):
        path = join(home, name[2:]) if name.startswith("~/") and home else join(cwd, name.rstrip("/") or "/")
        found[path] = found.get(path, True) and ranged
        if len(found) >= _MOST:
            break
    return list(found.items())


def _names(text: str) -> Iterator[tuple[str, bool]]:
    """Yield (name, whether it is a range of lines) for each `@` at a line start or a space."""
    at = text.find("@")
    while at >= 0:
        if at == 0 or text[at - 1].isspace():
            name, ranged = _name(text, at + 1)
            if name and len(name) <= _LONGEST and "\0" not in name:
                yield name, ranged
        at = text.find("@", at + 1)


def _name(prompt: str, start: int) -> tuple[str, bool]:
    """Return the name after an `@`, and whether a range of lines follows it.

    The name is quoted, or ends at the next space.
    """
    if prompt.startswith('"', start):
        name = prompt[start + 1 : max(prompt.find('"', start + 1), 0)]
    else:
        words = prompt[start : start + _LONGEST].split(maxsplit=1)
        name = words[0].rstrip(_ENDS) if words and not prompt[start : start + 1].isspace() else ""
    before, mark, lines = name.rpartition("#L")
    ranged = bool(mark) and lines.replace("-", "").replace("L", "").isdecimal()
    return (before if ranged else name), ranged
