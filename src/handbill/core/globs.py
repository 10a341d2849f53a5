"""Which files a pattern means: `*` and `?` within a name, `**` for any number of folders."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST = 200
_DEEPEST = 8


def matches(name: str, pattern: str) -> bool:
    """One name against one pattern; the shortest way that works is taken, so a long name costs no more."""
    at, star, mark, position = 0, -1, 0, 0
    while position < len(name):
        if at < len(pattern) and pattern[at] == "*":
            star, mark = at, position
            at += 1
        elif at < len(pattern) and pattern[at] in ("?", name[position]):
            at += 1
            position += 1
        elif star >= 0:
            at, mark = star + 1, mark + 1
            position = mark
        else:
            return False
    return not pattern[at:].strip("*")


def expand(pattern: str, root: str, names: Callable[[str], list[str]], is_file: Callable[[str], bool]) -> list[str]:
    """Files below `root` that the pattern means, in the order of their names."""
    found: dict[str, None] = {}
    for path in _below(root, [part for part in pattern.split("/") if part and part != "."], names, 0):
        if len(found) >= MOST:
            break
        if is_file(path):
            found[path] = None
    return list(found)


def _below(folder: str, parts: list[str], names: Callable[[str], list[str]], depth: int) -> Iterator[str]:
    if not parts:
        yield folder
        return
    first, rest = parts[0], parts[1:]
    if first == "..":
        return  # what a role needs stands in its project
    if first == "**":
        yield from _below(folder, rest, names, depth)
        for name in names(folder) if depth < _DEEPEST else ():
            if not name.startswith("."):
                yield from _below(f"{folder}/{name}", parts, names, depth + 1)
    elif "*" in first or "?" in first:
        for name in names(folder):
            if matches(name, first) and (not name.startswith(".") or first.startswith(".")):
                yield from _below(f"{folder}/{name}", rest, names, depth)
    else:
        yield from _below(f"{folder}/{first}", rest, names, depth)
