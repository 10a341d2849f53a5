"""Files that the host reads by itself when a directory is touched: CLAUDE.md, what it imports, AGENTS.md."""

from __future__ import annotations

from handbill.core.paths import join, parent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.config import Config
    from handbill.world import World

_CLAUDE_MD = ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md")
_MOST = 1 << 18  # of a CLAUDE.md; no model reads a longer one
_SETTINGS = (".claude/settings.local.json", ".claude/settings.json")


def imported(level: str, path: str, world: World, config: Config) -> bool:
    """Does the CLAUDE.md of this level bring the file (as a link, or by an @import)?"""
    name = path[len(level) + 1 :]
    for beside in _CLAUDE_MD:
        inode = world.inode(f"{level}/{beside}")
        if not inode or world.once("claude-md", lambda: _excludes(b"CLAUDE", world, config)):
            continue
        if inode == world.inode(path):
            return True
        text = (world.tail(f"{level}/{beside}", 0, _MOST) or b"").decode("utf-8", "replace")
        if f"@{name}" in text or f"@./{name}" in text:
            from handbill.core.markdown import live

            return not {f"@{name}", f"@./{name}"}.isdisjoint(_without_comments(live(text)).split())
    return False


def _without_comments(text: str) -> str:
    first, *others = text.split("<!--")
    return first + "".join(piece.partition("-->")[2] for piece in others)


def reads_agents_md(level: str, world: World, config: Config) -> bool:
    """The client reads AGENTS.md unless a CLAUDE.md applies there, or it was told not to."""
    places = [level, config.project]
    while places[-1] != "/":
        places.append(parent(places[-1]))
    own = f"{config.user_library}/CLAUDE.md"  # the user's own, for all projects, changes nothing
    files = [path for place in places for name in _CLAUDE_MD if (path := join(place, name)) != own]
    if any(world.is_file(path) and world.size(path) for path in files):
        return False
    return not world.once("agents-md", lambda: _is_switched_off(world, config))


def _is_switched_off(world: World, config: Config) -> bool:
    return any(b'agents-md@builtin":false' in text for text in _settings(world, config)) or _excludes(
        b"AGENTS.md", world, config
    )


def _excludes(name: bytes, world: World, config: Config) -> bool:
    """Do the settings keep the client from reading files of this name?"""
    return any(
        name in text.partition(b'"claudeMdExcludes":[')[2].partition(b"]")[0] for text in _settings(world, config)
    )


def _settings(world: World, config: Config) -> list[bytes]:
    paths = [*(f"{config.project}/{name}" for name in _SETTINGS), f"{config.home}/{_SETTINGS[1]}"]
    return [b"".join((world.tail(path, 0, 1 << 20) or b"").split()) for path in paths]
