"""Directives of every directory that a tool touched: walk-up child -> root, cumulative, nothing shadowed.

Each directory is looked at once per window; touched again, only what changed in it since.
"""

from __future__ import annotations

from handbill.core.paths import below, parent, under
from handbill.core.plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from handbill.config import Config
    from handbill.core.event import Event
    from handbill.core.window import Record, Window
    from handbill.world import World

FOLDER = ".directives"


def handle(event: Event, window: Window, world: World, config: Config) -> Plan | None:
    look = Look(event, window, world, config)
    for place in touched(event, world):
        look.at(place)
    return look.plan or None


class Look:
    """What the directories of one event ask for."""

    __slots__ = ("config", "done", "event", "own", "plan", "types", "window", "world")

    def __init__(
        self, event: Event, window: Window, world: World, config: Config, types: tuple[str, ...] | None = None
    ) -> None:
        self.event = event
        self.window = window
        self.world = world
        self.config = config
        asked = window.work.get("directives") if types is None else types
        self.types = config.core_types + (tuple(asked) if isinstance(asked, (list, tuple)) else ())
        self.plan = Plan()
        self.done: set[str] = set()
        self.own = event.own_paths()

    def at(self, place: str) -> None:
        directory = inside(place, self.world, self.config)
        root = boundary(directory, self.config)
        if not root:
            return
        new: dict[str, Record] = {}
        for level in walk_up(directory, root):
            if level in self.done:
                break
            self.done.add(level)
            seen = self.window.touched.get(level)
            stamp = self.world.stamp(f"{level}/{FOLDER}")
            if seen is not None and seen.get("stamp", stamp) == stamp:
                self._changed(level, seen)
            elif not self._new(level, stamp, new):
                new = {}  # look again at it, and at every level from which a walk leads there
        self.plan.touched.update(new)

    def _new(self, level: str, stamp: str, new: dict[str, Record]) -> bool:
        """A level that was not looked at, or to whose folder something was added; False: it is not ripe."""
        found, unripe = present(level, self.world, self.config, self.types)
        if not found and not self.world.is_dir(level):
            return True  # not made yet: look again when it is
        if not unripe:
            new[level] = {"found": [name for _, name in found], "stamp": stamp}
        for path, name in found:
            # other types are skill-filtered: noted, delivered when a skill asks for them
            if name not in self.types:
                continue
            if self.window.holds(path):
                self._compared(path)
                continue
            if not _host_brings(level, path, self.event, self.world, self.config):
                self.plan.want(path, f"directive of {level}")
        return not unripe

    def _changed(self, level: str, seen: Record) -> None:
        for name in seen["found"]:
            path = f"{level}/{FOLDER}/{name}"
            if name == "AGENTS.md" and path not in self.window.files:
                path = f"{level}/{name}"
            self._compared(path)

    def _compared(self, path: str) -> None:
        record = self.window.files.get(path)
        before = record.get("stamp") if record is not None and path not in self.own else ""
        if record is not None and before and self.world.stamp(path) != before:
            from handbill.handlers.freshness import check

            check(path, record, self.plan, self.world)


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


def present(
    level: str, world: World, config: Config, asked: tuple[str, ...] = ()
) -> tuple[list[tuple[str, str]], bool]:
    """(path, name) of the directives at one level, core types first, then the known and the asked for ones;
    and whether one is still empty."""
    names = world.names(f"{level}/{FOLDER}")
    types = dict.fromkeys(config.core_types + config.skill_types + asked)
    found = [(f"{level}/{FOLDER}/{name}", name) for name in types if name in names]
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
