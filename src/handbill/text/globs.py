"""Find the files that match a pattern: `*` and `?` within a name, `**` for any number of
folders."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

MOST = 200
MOST_TOTAL = 600  # files that all patterns together may match
MOST_FOLDERS = 2000
MOST_STEPS = 50_000  # about a quarter of a second
_DEEPEST = 8


def matches(name: str, pattern: str) -> bool:
    """Match one name against one pattern, each `*` as short as possible: long names stay cheap."""
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


class Expansion:
    """The files that match. `complete`: every folder that the patterns name was read."""

    __slots__ = ("complete", "paths")

    def __init__(self, paths: list[str], complete: bool) -> None:
        self.paths = paths
        self.complete = complete


def expand(
    patterns: Iterable[str],
    root: str,
    names: Callable[[str], list[str]],
    is_file: Callable[[str], bool],
    skip: Collection[str] = (),
) -> Expansion:
    """Return files below `root` that match the patterns, by name. `**` does not enter `skip`."""
    found: dict[str, None] = {}
    walk = _Walk(names, skip)
    for pattern in patterns:
        own = 0
        if len(found) >= MOST_TOTAL:
            return Expansion(list(found), False)
        for path in walk.below(root, [part for part in pattern.split("/") if part and part != "."], 0):
            if own >= MOST:
                break
            if is_file(path):
                found[path] = None
                own += 1
    return Expansion(list(found), walk.left > 0)


class _Walk:
    """A search with a limited number of steps, in case of circular links or many patterns."""

    def __init__(self, names: Callable[[str], list[str]], skip: Collection[str]) -> None:
        self._names = names
        self._skip = skip
        self._listings: dict[str, list[str]] = {}
        self.left = MOST_STEPS

    def _listed(self, folder: str) -> list[str]:
        found = self._listings.get(folder)
        if found is None:
            found = self._names(folder) if len(self._listings) < MOST_FOLDERS and self.left > 0 else []
            self.left -= len(found)
            self._listings[folder] = found
        return found

    def below(self, folder: str, parts: list[str], depth: int) -> Iterator[str]:
        self.left -= 1
        if self.left <= 0:
            return
        if not parts:
            yield folder
            return
        first, rest = parts[0], parts[1:]
        if first == "..":
            return  # a role's files are inside its project
        if first == "**":
            yield from self.below(folder, rest, depth)
            for name in self._listed(folder) if depth < _DEEPEST else ():
                if not name.startswith(".") and name not in self._skip:
                    yield from self.below(f"{folder}/{name}", parts, depth + 1)
        elif "*" in first or "?" in first:
            for name in self._listed(folder):
                self.left -= 1
                if self.left <= 0:
                    return
                if matches(name, first) and (not name.startswith(".") or first.startswith(".")):
                    yield from self.below(f"{folder}/{name}", rest, depth)
        else:
            yield from self.below(f"{folder}/{first}", rest, depth)
