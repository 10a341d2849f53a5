"""Find the directives of a directory and of all directories above it, up to the root.

They accumulate: none of them overrides another. Each directory is searched once per window. When it
is touched again, only its changes are handled.
"""

from __future__ import annotations

from handbill.event import READS, event_mentions
from handbill.ledger.window import ELSEWHERE, UNDELIVERABLE
from handbill.paths import below, parent, under
from handbill.plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from handbill.event import Event, Inbox
    from handbill.ledger.window import Record, Window
    from handbill.settings import Settings
    from handbill.world import World

FOLDER = ".directives"
# Limits for one event. The next events handle the rest.
MOST_LEVELS = 200  # directories
MOST_COMPARED = 400  # directories that were searched before
MOST_WAITING = 1000  # files that wait for delivery
MOST_DEPTH = 128  # the greatest depth of a path

_KNOWN = (ELSEWHERE, UNDELIVERABLE)

# How a directory was touched. Some hosts add a bare AGENTS.md only together with a file that is
# read. A call that the client refused touches nothing. For a directory in the project, its rules
# are still delivered with the refusal.
READ, LOOKED, ACTED, WANTED = "read", "looked", "acted", "wanted"
# in an earlier event, so the host has already added what that touch adds
DONE_BEFORE = "done before"


def in_order(touches: Iterable[tuple[str, str]], world: World, settings: Settings) -> list[tuple[str, str]]:
    """Sort touches: the user's own directories first, because a project may be slow.

    If two calls touch one directory, the call that the host reacts to is first, then the call that
    needs the rules now.
    """

    def is_of_project(place: str) -> bool:
        return under(world.inside(place), world.project)

    strength = (READ, ACTED, DONE_BEFORE, LOOKED, WANTED)
    return sorted(touches, key=lambda touch: (is_of_project(touch[0]), strength.index(touch[1])))


class DirectiveSearch:
    """Collect the directives that the directories of one event require."""

    __slots__ = (
        "began",
        "compared",
        "settings",
        "done",
        "event",
        "inbox",
        "level",
        "level_began",
        "mentioned",
        "new",
        "own",
        "plan",
        "read",
        "types",
        "waits",
        "window",
        "world",
    )

    def __init__(
        self,
        event: Event,
        inbox: Inbox,
        window: Window,
        world: World,
        settings: Settings,
        types: tuple[str, ...] | None = None,
    ) -> None:
        self.event = event
        self.inbox = inbox
        self.window = window
        self.world = world
        self.settings = settings
        asked = window.work.get("directives") if types is None else types
        self.types = settings.core_types + (tuple(asked) if isinstance(asked, (list, tuple)) else ())
        self.plan = Plan()
        self.done: set[str] = set()
        self.new: dict[str, Record] = {}  # levels of the current walk
        self.compared = 0
        self.level = ""  # the level that is being searched
        self.began = self.level_began = world.spent()
        self.waits = False  # the host may add a file because of a call of this event
        self.mentioned: list[str] = []
        self.own = event.own_paths()
        reads = [tool for tool in event.tools if tool.does == READS and tool.id in event.calls]
        self.read = {path for tool in reads for path in tool.files if path in self.own}
        self.read |= event_mentions(event)

    def at(self, place: str, how: str = ACTED) -> None:
        directory = self.world.inside(place)
        folder = f"{directory}/".find(f"/{FOLDER}/")
        # A call that reads rules touches the directory that they apply to.
        directory = directory[:folder] if folder >= 0 else directory
        if self.compared >= MOST_COMPARED and directory in self.window.touched:
            return  # Its changes are found when it is touched again.
        root = root_of(directory, self.world, self.settings, self.inbox.added)
        if not root or (how == WANTED and not under(root, self.world.project)):
            return
        if not under(root, self.world.project) and root not in self.plan.roots:
            self.plan.roots.append(root)
        new: dict[str, Record] = {}
        self.new = new
        for level in walk_up(directory, root):
            if level in self.done:
                break
            if self._is_full(len(new), under(root, self.world.project)):
                self.plan.unfinished = True  # The next event handles the rest.
                break
            self.done.add(level)
            self.level, self.level_began = level, self.world.spent()
            seen = self.window.touched.get(level)
            stamp = self.world.stamp(f"{level}/{FOLDER}")
            if seen is not None and seen.get("stamp", stamp) == stamp and not self._has_new_bare(level, seen):
                self.compared += 1
                self._changed(level, seen, how)
            elif not self._first(level, stamp, new, how):
                self.new = new = {}  # Search it again later, and every level below it in this walk.
        self.plan.touched.update(new)

    def _has_new_bare(self, level: str, seen: Record) -> bool:
        """Whether a new AGENTS.md exists beside the rules folder, whose stamp does not cover it."""
        wanted = (
            wants_bare(level, self.world, self.settings)
            and "AGENTS.md" not in seen["found"]
            and not seen.get("left_out")
        )
        return wanted and self.world.is_file(f"{level}/AGENTS.md")

    def give_up(self) -> str:
        """Return the directory that took most of the time, or "" if none did.

        Such a directory is left out, so that it does not block the others in the next event.
        """
        self.plan.unfinished = True
        self.plan.touched.update(self.new)
        now = self.world.spent()
        mine = self.level and under(self.level, self.world.project)
        if not mine or now - self.level_began < (now - self.began) / 2:
            return ""  # A directory of the user may be slow because of the project's settings.
        stamp = self.world.stamp(f"{self.level}/{FOLDER}")
        self.plan.touched[self.level] = {"found": [], "stamp": stamp, "left_out": True}
        return self.level

    def _is_full(self, more: int, in_project: bool) -> bool:
        """Whether one event cannot handle more. `more`: directories besides those of the plan.

        The user's rules from other places have their own limit, however many rules a project has.
        """
        levels, files = len(self.plan.touched) + more, len(self.plan.wants) + len(self.window.pending)
        if levels < MOST_LEVELS and files < MOST_WAITING:
            return False
        paths = [*(want.path for want in self.plan.wants), *self.window.pending]
        return more + self._count(self.plan.touched, in_project) >= MOST_LEVELS or (
            self._count(paths, in_project) >= MOST_WAITING
        )

    def _count(self, paths: Iterable[str], in_project: bool) -> int:
        return sum(under(path, self.world.project) == in_project for path in paths)

    def _first(self, level: str, stamp: str, new: dict[str, Record], how: str) -> bool:
        from handbill.library.directive_levels import look_at

        return look_at(self, level, stamp, new, how)

    def _changed(self, level: str, seen: Record, how: str) -> None:
        for name in seen["found"]:
            path = f"{level}/{FOLDER}/{name}"
            if name == "AGENTS.md" and not self._is_known(path):
                path = f"{level}/{name}"
                if how == READ and self.event.reads_agents_md:
                    from handbill.library.directive_levels import note_copy_of_host

                    note_copy_of_host(self, level, path)
            if path in self.window.flags.get(UNDELIVERABLE, ()) and not self.window.holds(path):
                from handbill.library.directive_levels import ask_if_corrected

                ask_if_corrected(self, level, path, how)
            else:
                self.compare(path)

    def _is_known(self, path: str) -> bool:
        flags = self.window.flags
        return any(path in known for known in (self.window.files, *(flags.get(name, ()) for name in _KNOWN)))

    def compare(self, path: str) -> None:
        record = self.window.files.get(path)
        if record is None and path in self.window.flags.get(ELSEWHERE, {}):
            stamp, _, reason = self.window.flags[ELSEWHERE][path]
            if self.world.stamp(path) != stamp and self.world.can_deliver(path):
                self.plan.want(path, reason)  # It may no longer have the same text as another file.
            return
        if record is not None and path in event_mentions(self.event):
            from handbill.library.directive_levels import show_if_whole

            if show_if_whole(self, path):
                return
        before = record.get("stamp") if record is not None and path not in self.own else ""
        is_refused = path in self.window.flags.get(UNDELIVERABLE, ())
        if record is not None and before and (is_refused or self.world.stamp(path) != before):
            from handbill.library.changed_files import check

            check(path, self.window, self.plan, self.world)


def walk_up(directory: str, root: str) -> list[str]:
    """Return the levels from a directory up to its root, without those that are too deep."""
    directory = "/".join(directory.split("/")[: max(MOST_DEPTH, root.count("/") + 1)]) or "/"
    found = [directory]
    while directory != root:
        directory = parent(directory)
        found.append(directory)
    return found


def wants_bare(level: str, world: World, settings: Settings) -> bool:
    # A project's settings apply to that project only.
    return settings.bare_agents_md or not under(level, world.project)


# --- the root that a directory belongs to: the walk ends there ------------------------------------


def root_of(directory: str, world: World, settings: Settings, added: Collection[str] = ()) -> str:
    """Return the root where the walk ends; "" if this place has no directives.

    `added`: directories that the user added for this session.
    """
    if under(directory, world.project):
        root = _worktree(directory, world.project, world) or world.project
    else:
        # The project's settings may name any directory. One that contains the project or the home
        # folder is ignored.
        holds = [world.real(place) for place in (world.project, world.home)] if added else []
        own = [root for root in added if not any(under(place, world.real(root)) for place in holds)]
        homes = (world.user_library, *settings.allowed, *own)
        root = next((home for home in homes if under(directory, home)), "") or _worktree(directory, "/", world)
    # A project's settings apply to the project and its worktrees, not to directories that the user
    # added or allowed.
    is_its_own = under(directory, world.project) or root not in (world.user_library, *settings.allowed, *added)
    excluded = root and is_its_own and any(part in settings.excluded for part in below(directory, root))
    return "" if excluded else root


def _worktree(directory: str, stop: str, world: World) -> str:
    """Return the nearest folder, from here up to but without `stop`, that is a project worktree."""
    while directory != stop and directory != "/":
        if world.is_file(f"{directory}/.git"):
            from handbill.library.worktrees import is_worktree

            return directory if is_worktree(directory, world) else ""
        directory = parent(directory)
    return ""
