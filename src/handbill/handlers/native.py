"""Files that the host reads by itself when a directory is touched: CLAUDE.md, what it imports, AGENTS.md."""

from __future__ import annotations

from handbill.core.paths import join, level_of, parent, under
from handbill.core.window import GUESSED
from handbill.handlers.directives import ACTED, DONE_BEFORE, LATER, LOOKED, NEXT, READ, WANTED, present
from handbill.handlers.roots import root_of
from handbill.hotjson import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.config import Config
    from handbill.core.event import Event
    from handbill.world import World

_CLAUDE_MD = ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md")
_MOST = 1 << 16  # of a CLAUDE.md; clients warn of a longer one
_MOST_PATTERNS = 200  # with more than that, it is not certain which files the client reads
_UNUSUAL = frozenset("[]{}()!+@\\")  # in a pattern
_AROUND = str.maketrans("*[]", "   ")  # an import
_SETTINGS = (".claude/settings.local.json", ".claude/settings.json")


def host_brings(level: str, path: str, how: str, event: Event, world: World, config: Config) -> str:
    """Why the host itself puts this file into the window; empty: it does not. It says so too late, or not at all."""
    start = event.project or config.project  # where the client was started: it reads instructions from there up
    if under(start, level) and not event.reads_root:
        return ""
    if imported(level, path, world, config):
        if under(start, level) or how == READ:
            return f"{GUESSED}CLAUDE.md"
        return {LOOKED: LATER, WANTED: LATER, ACTED: NEXT if event.reads_touched else "", DONE_BEFORE: ""}[how]
    bare = f"{level}/AGENTS.md"
    same_as_bare = path == bare or (world.is_file(bare) and world.inode(bare) == world.inode(path))
    if not same_as_bare or not event.reads_agents_md or not reads_agents_md(level, world, config):
        return ""
    if under(start, level):
        return "session_start"
    # of a folder below, only together with a file that is read there
    return {READ: "nested, read by the host", LOOKED: LATER, WANTED: LATER, ACTED: "", DONE_BEFORE: ""}[how]


def is_rule_here(path: str, event: Event, world: World, config: Config) -> bool:
    """Is this a file that a touch of its directory asks for? The agent may read others of the same name."""
    level = level_of(path)
    known = [found for found, name in present(level, world, config)[0] if name in config.core_types]
    return path in known and bool(root_of(level, world, config, event.added))


def imported(level: str, path: str, world: World, config: Config) -> bool:
    """Does the CLAUDE.md of this level bring the file (as a link, or by an @import)?"""
    name = path[len(level) + 1 :]
    for beside in _CLAUDE_MD:
        source = f"{level}/{beside}"
        inode = world.inode(source)
        if not inode or _is_excluded(source, world, config):
            continue
        if inode == world.inode(path):
            return True
        names = world.once(f"imports of {source}", lambda at=source: _imports(at, world))  # type: ignore[misc]
        if f"@{name}" in names or f"@./{name}" in names:
            return True
    return False


def _imports(path: str, world: World) -> frozenset[str]:
    text = (world.tail(path, 0, _MOST) or b"").decode("utf-8", "replace")
    if "@" not in text:
        return frozenset()
    from handbill.core.prose import prose

    # what is emphasized, or the text of a link, is followed as well
    words = " ".join(prose(text)).translate(_AROUND).split()
    return frozenset(word for word in words if word.startswith("@"))


def reads_agents_md(level: str, world: World, config: Config) -> bool:
    """The client reads AGENTS.md unless a CLAUDE.md applies there, or it was told not to."""
    places = [level, config.project]
    while places[-1] != "/":
        places.append(parent(places[-1]))
    own = f"{config.user_library}/CLAUDE.md"  # the user's own, for all projects, changes nothing
    files = [path for place in places for name in _CLAUDE_MD if (path := join(place, name)) != own]
    if any(world.is_file(path) and world.size(path) for path in files):
        return False
    if _is_excluded(f"{level}/AGENTS.md", world, config):
        return False
    return not world.once("agents-md", lambda: _is_switched_off(world, config))


def _is_switched_off(world: World, config: Config) -> bool:
    return any(b'agents-md@builtin":false' in b"".join(text.split()) for text in _settings(world, config))


def _is_excluded(path: str, world: World, config: Config) -> bool:
    """Do the settings keep the client from reading this file?"""
    patterns: list[str] = world.once("claudeMdExcludes", lambda: _excludes(world, config))
    if not patterns:
        return False
    from handbill.core.globs import matches

    # a star matches slashes here, too: where it is not certain that the client reads a file, we deliver it
    return any(_UNUSUAL.intersection(pattern) or matches(path, pattern.replace("**", "*")) for pattern in patterns)


def _excludes(world: World, config: Config) -> list[str]:
    found: list[str] = []
    for text in _settings(world, config):
        if b"claudeMdExcludes" not in text:
            continue
        try:
            settings = loads(text.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return ["**"]  # nobody knows what it says
        listed = settings.get("claudeMdExcludes") if isinstance(settings, dict) else ()
        found += [pattern for pattern in listed if isinstance(pattern, str)] if isinstance(listed, list) else []
    return found if len(found) <= _MOST_PATTERNS else ["**"]


def _settings(world: World, config: Config) -> list[bytes]:
    paths = [*(f"{config.project}/{name}" for name in _SETTINGS), f"{config.home}/{_SETTINGS[1]}"]
    return [world.tail(path, 0, 1 << 20) or b"" for path in paths]
