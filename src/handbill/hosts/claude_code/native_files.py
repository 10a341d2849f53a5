"""Find files that the host itself reads for a directory: CLAUDE.md, its imports, AGENTS.md."""

from __future__ import annotations

from handbill.fast_json import loads
from handbill.ledger.window import GUESSED, NESTED
from handbill.library.directive_levels import LATER, NEXT
from handbill.library.directive_search import ACTED, DONE_BEFORE, LOOKED, READ, WANTED
from handbill.paths import join, parent, under

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handbill.event import Event
    from handbill.settings import Settings
    from handbill.world import World

_CLAUDE_MD = ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md")
_MOST = 1 << 16  # bytes of a CLAUDE.md; clients warn of a longer one
# with more, the files that the client reads are not certain
_MOST_PATTERNS, _MOST_LETTERS = 200, 4000
_UNUSUAL = frozenset("[]{}()!+@\\")  # special characters in a pattern
_ANYTHING = ["**"]  # for when the excluded files are not known
# The client does not split words at these characters, but Python does.
_NOT_SPACE = str.maketrans(dict.fromkeys("\x1c\x1d\x1e\x1f\x85", "x"))
_SETTINGS = (".claude/settings.local.json", ".claude/settings.json")
_MOST_SETTINGS = 1 << 20  # bytes


def brings(level: str, path: str, how: str, event: Event, world: World, settings: Settings) -> str:
    """Return why the host itself adds this file to the window; empty if it does not.

    The host reports such a file too late, or not at all.
    """
    # The client was started here, and reads instructions from here upwards.
    start = event.project or world.project
    if under(start, level) and not event.reads_root:
        return ""
    if imported(level, path, world, settings):
        if under(start, level) or how == READ:
            return f"{GUESSED}CLAUDE.md" if under(start, level) else f"{NESTED}, {GUESSED}CLAUDE.md"
        return {LOOKED: LATER, WANTED: LATER, ACTED: NEXT if event.reads_touched else "", DONE_BEFORE: ""}[how]
    bare = f"{level}/AGENTS.md"
    same_as_bare = path == bare or (world.is_file(bare) and world.inode(bare) == world.inode(path))
    if not same_as_bare or not event.reads_agents_md or not reads_agents_md(level, world, settings):
        return ""
    if under(start, level):
        return "session_start"
    # In a folder below, the client adds it only together with a file that is read there.
    return {READ: f"{NESTED}, read by the host", LOOKED: LATER, WANTED: LATER, ACTED: "", DONE_BEFORE: ""}[how]


def imported(level: str, path: str, world: World, settings: Settings) -> bool:
    """Whether the CLAUDE.md of this level adds the file, as a link or by an @import."""
    for beside in _CLAUDE_MD:
        source = join(level, beside)
        inode = world.inode(source)
        if not inode or _is_excluded(source, world, settings):
            continue
        if inode == world.inode(path):
            return True
        imports = world.once(f"imports of {source}", lambda at=source: _imports(at, world))  # type: ignore[misc]
        if path in imports:
            # The client checks the exclusions for an imported file, too.
            return not _is_excluded(path, world, settings)
    return False


def _imports(path: str, world: World) -> frozenset[str]:
    """Return the files that a CLAUDE.md names, relative to its own folder."""
    text = (world.tail(path, 0, _MOST) or b"").decode("utf-8", "replace")
    if "@" not in text:
        return frozenset()
    from handbill.text.prose import prose

    words = " ".join(prose(text)).translate(_NOT_SPACE).split()
    folder = parent(path)
    return frozenset(join(folder, found[1:]) for word in words if (found := _without_stars(word)).startswith("@"))


def _without_stars(word: str) -> str:
    """Remove the stars of emphasis. A star on one side only is a part of the text."""
    inner = word.strip("*")
    stars = (len(word) - len(inner)) // 2
    return inner if word == "*" * stars + inner + "*" * stars else word


def reads_agents_md(level: str, world: World, settings: Settings) -> bool:
    """Whether the client reads AGENTS.md.

    It does, unless a CLAUDE.md applies there or the settings disable it.
    """
    places = [level, world.project]
    while places[-1] != "/":
        places.append(parent(places[-1]))
    # The user's own file for all projects has no effect here.
    own = f"{world.user_library}/CLAUDE.md"
    files = [path for place in places for name in _CLAUDE_MD if (path := join(place, name)) != own]
    if any(world.is_file(path) and world.size(path) for path in files):
        return False
    if _is_excluded(f"{level}/AGENTS.md", world, settings):
        return False
    return not world.once("agents-md", lambda: _is_switched_off(world, settings))


def _is_switched_off(world: World, settings: Settings) -> bool:
    for one in _settings(b"agents-md", world, settings):
        plugins = one.get("enabledPlugins") if one is not None else {}
        if one is None or (
            isinstance(plugins, dict)
            and any(name.endswith("agents-md@builtin") and value is False for name, value in plugins.items())
        ):
            return True
    return False


def _is_excluded(path: str, world: World, settings: Settings) -> bool:
    """Whether the settings prevent the client from reading this file."""
    patterns: list[str] = world.once("claudeMdExcludes", lambda: _excludes(world, settings))
    if not patterns:
        return False
    from handbill.text.globs import matches

    # Here a star also matches slashes: if it is not certain that the client reads a file, we
    # deliver it.
    names = {path, world.real(path)}
    return any(
        _UNUSUAL.intersection(pattern) or any(matches(name, _as_stars(pattern)) for name in names)
        for pattern in patterns
    )


def _as_stars(pattern: str) -> str:
    """Simplify a pattern: `**/` matches any number of folders, or none."""
    pattern = pattern.replace("**/", "*").replace("/./", "/")
    while "**" in pattern or "//" in pattern:
        pattern = pattern.replace("**", "*").replace("//", "/")
    return pattern


def _excludes(world: World, settings: Settings) -> list[str]:
    found: list[str] = []
    for one in _settings(b"claudeMdExcludes", world, settings):
        if one is None:
            return _ANYTHING
        listed = one.get("claudeMdExcludes")
        found += [pattern for pattern in listed if isinstance(pattern, str)] if isinstance(listed, list) else []
    is_usual = len(found) <= _MOST_PATTERNS and sum(map(len, found)) <= _MOST_LETTERS
    return found if is_usual else _ANYTHING


def _settings(word: bytes, world: World, settings: Settings) -> list[dict[str, Any] | None]:
    """Return the settings files that may mention this word; None for one that cannot be read."""
    found: list[dict[str, Any] | None] = []
    for path in (*(f"{world.project}/{name}" for name in _SETTINGS), f"{world.home}/{_SETTINGS[1]}"):
        text = world.tail(path, 0, _MOST_SETTINGS) or b""
        if len(text) == _MOST_SETTINGS:
            found.append(None)
        elif word in text or b"\\u" in text:  # The word may be written with escapes.
            try:
                read = loads(text.decode("utf-8", "replace"))
            except (ValueError, RecursionError):
                found.append(None)
            else:
                found.append(read if isinstance(read, dict) else {})
    return found
