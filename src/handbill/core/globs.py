"""Which files a pattern means: `*` and `?` within a name, `**` for any number of folders."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

MOST = 200
MOST_FOLDERS = 2000
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


def expand(
    pattern: str,
    root: str,
    names: Callable[[str], list[str]],
    is_file: Callable[[str], bool],
    skip: Collection[str] = (),
) -> list[str]:
    """Files below `root` that the pattern means, in the order of their names; `**` does not look into `skip`."""
    found: dict[str, None] = {}
    walk = _Walk(names, skip)
    for path in walk.below(root, [part for part in pattern.split("/") if part and part != "."], 0):
        if len(found) >= MOST:
            break
        if is_file(path):
            found[path] = None
    return list(found)


class _Walk:
    """Ends after so many folders, whatever links lead in circles."""

    def __init__(self, names: Callable[[str], list[str]], skip: Collection[str]) -> None:
        self._names = names
        self._skip = skip
        self._left = MOST_FOLDERS

    def _listed(self, folder: str) -> list[str]:
        self._left -= 1
        return self._names(folder) if self._left >= 0 else []

    def below(self, folder: str, parts: list[str], depth: int) -> Iterator[str]:
        if not parts:
            yield folder
            return
        first, rest = parts[0], parts[1:]
        if first == "..":
            return  # what a role needs stands in its project
        if first == "**":
            yield from self.below(folder, rest, depth)
            for name in self._listed(folder) if depth < _DEEPEST else ():
                if not name.startswith(".") and name not in self._skip:
                    yield from self.below(f"{folder}/{name}", parts, depth + 1)
        elif "*" in first or "?" in first:
            for name in self._listed(folder):
                if matches(name, first) and (not name.startswith(".") or first.startswith(".")):
                    yield from self.below(f"{folder}/{name}", rest, depth)
        else:
            yield from self.below(f"{folder}/{first}", rest, depth)
