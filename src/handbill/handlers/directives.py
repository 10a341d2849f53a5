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


def handle(event: Event, window: Window, world: World, config: Config) -> Plan | None:
    plan: Plan | None = None
    for place in touched(event, world):
        directory = inside(place, world, config)
        root = boundary(directory, config)
        if not root:
            continue
        plan = _walk(directory, root, plan, event, window, world, config)
    return plan


def _walk(
    directory: str, root: str, plan: Plan | None, event: Event, window: Window, world: World, config: Config
) -> Plan | None:
    seen: dict[str, list[str]] = {}
    for level in walk_up(directory, root):
        if level in window.touched or (plan is not None and level in plan.touched):
            break
        found, unripe = present(level, world, config)
        if not found and not world.is_dir(level):
            continue  # not made yet: look again when it is
        if unripe:
            seen = {}  # look again at it, and at every level from which a walk leads there
        else:
            seen[level] = [name for _, name in found]
        for path, name in found:
            # other types are skill-filtered: noted, delivered when a skill asks for them
            if name not in config.core_types or window.holds(path):
                continue
            if not _host_brings(level, path, event, world, config):
                plan = plan or Plan()
                plan.want(path, f"directive of {level}")
    if seen:
        plan = plan or Plan()
        plan.touched.update(seen)
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
    """The directory as seen from the project, when it was named past a link into the project."""
    if under(directory, config.project):
        return directory
    root, real = world.real(config.project), world.real(directory)
    if under(real, root):
        return config.project + real[len(root) :] if root != "/" else real
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


def present(level: str, world: World, config: Config) -> tuple[list[tuple[str, str]], bool]:
    """(path, name) of the known directive types at one level, core types first; and whether one is still empty."""
    names = world.names(f"{level}/{FOLDER}")
    found = [(f"{level}/{FOLDER}/{name}", name) for name in config.core_types + config.skill_types if name in names]
    bare = f"{level}/AGENTS.md"
    if config.bare_agents_md and "AGENTS.md" not in names and world.is_file(bare):
        found.insert(0, (bare, "AGENTS.md"))
    ripe = [(path, name) for path, name in found if not _is_empty(path, world)]
    return ripe, len(ripe) < len(found)


def _is_empty(path: str, world: World) -> bool:
    size = world.size(path)
    return size < 0 or (size == 0 and world.is_file(path))


def _host_brings(level: str, path: str, event: Event, world: World, config: Config) -> bool:
    """Does the host itself put this file into the window? It says so too late, or not at all."""
    from handbill.handlers.native import imported, reads_agents_md

    bare = f"{level}/AGENTS.md"
    same_as_bare = path == bare or (world.is_file(bare) and world.inode(bare) == world.inode(path))
    return imported(level, path, world) or (
        same_as_bare and event.reads_agents_md and reads_agents_md(level, world, config)
    )
