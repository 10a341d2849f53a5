"""Directives of every directory that a tool touched: walk-up child -> root, cumulative, nothing shadowed.

Each directory is looked at once per window; a walk ends at the first one already seen, because
its ancestors were seen with it.
"""

from __future__ import annotations

from handbill.core.paths import below, parent, under
from handbill.core.plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from handbill.config import Config
    from handbill.core.event import Event
    from handbill.core.window import Window
    from handbill.world import World

FOLDER = ".directives"
_CLAUDE_MD = ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md")


def handle(event: Event, window: Window, world: World, config: Config) -> Plan | None:
    plan: Plan | None = None
    host_reads: bool | None = None
    for place in touched(event, world):
        directory = inside(place, world, config)
        root = boundary(directory, config)
        if not root:
            continue
        for level in walk_up(directory, root):
            if level in window.touched or (plan is not None and level in plan.touched):
                break
            plan = plan or Plan()
            found = present(level, world, config)
            plan.touched[level] = [name for _, name in found]
            for path, name in found:
                if name not in config.core_types:
                    continue  # skill-filtered: noted, delivered when a skill asks for it
                if "/" + FOLDER + "/" not in path:
                    if host_reads is None:
                        host_reads = event.reads_agents_md and not any(
                            world.is_file(f"{config.project}/{name}") for name in _CLAUDE_MD
                        )
                    if host_reads or _imported(level, path, world):
                        continue
                plan.want(path, f"directive of {level}")
    return plan


def touched(event: Event, world: World) -> Iterator[str]:
    for tool in event.tools:
        for path in tool.files:
            yield parent(path)
        for path in tool.places:
            if world.is_dir(path):
                yield path
            elif tool.name != "Bash" or world.is_file(path):
                yield parent(path)


def inside(directory: str, world: World, config: Config) -> str:
    """The directory as seen from the project, when it was named past a link to the project."""
    if under(directory, config.project):
        return directory
    real = world.real(config.project)
    if real != config.project and under(directory, real):
        return config.project + directory[len(real) :]
    return directory


def boundary(directory: str, config: Config) -> str:
    """Where the walk-up ends; empty: no directives for this place."""
    if under(directory, config.project):
        excluded = any(part in config.excluded for part in below(directory, config.project))
        return "" if excluded else config.project
    for root in (config.user_library, *config.allowed):
        if under(directory, root):
            return root
    return ""


def walk_up(directory: str, root: str) -> Iterator[str]:
    while True:
        yield directory
        if directory == root:
            return
        directory = parent(directory)


def present(level: str, world: World, config: Config) -> list[tuple[str, str]]:
    """(path, name) of the known directive types at one level, core types first."""
    names = world.names(f"{level}/{FOLDER}")
    found = [(f"{level}/{FOLDER}/{name}", name) for name in config.core_types + config.skill_types if name in names]
    bare = f"{level}/AGENTS.md"
    if config.bare_agents_md and "AGENTS.md" not in names and world.is_file(bare):
        found.insert(0, (bare, "AGENTS.md"))
    return found


def _imported(level: str, path: str, world: World) -> bool:
    """Does the CLAUDE.md beside it bring this AGENTS.md (as a link or an @import)?"""
    beside = f"{level}/CLAUDE.md"
    inode = world.inode(beside)
    if not inode:
        return False
    if inode == world.inode(path):
        return True
    text = world.tail(beside, 0, 1 << 20) or b""
    return b"@AGENTS.md" in text or b"@./AGENTS.md" in text
