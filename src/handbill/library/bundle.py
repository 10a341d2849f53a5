"""Divide a group of files: given by content within a budget, listed, or impossible to deliver."""

from __future__ import annotations

from handbill.library.messages import bullets, say
from handbill.text.blocks import shown, units
from handbill.text.document import Refusal
from handbill.text.tokens import PER_TOKEN, taken, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from handbill.plan import Plan
    from handbill.settings import Settings
    from handbill.world import World


_MOST_FILES, _MOST_READ = 200, 4 << 20  # files; characters
_TITLE = 200  # characters around a page, for its title


class Bundle:
    """The files of one group. `paths` lists the most important first.

    The result does not depend on what the window already holds. All lanes of a start, and a rebuilt
    ledger, must reach the same result.
    """

    __slots__ = ("given", "left", "sizes", "unusable")

    def __init__(self, paths: Iterable[str], world: World, budget: int, permits: Collection[str] = ()) -> None:
        self.sizes: dict[str, int] = {}
        self.unusable: dict[str, str] = {}  # path -> reason
        read = 0
        waiting = list(paths)
        for number, path in enumerate(waiting):
            if number >= _MOST_FILES or read > _MOST_READ:
                after = len(waiting) - number - 1
                more = f" ({after:,} more {'was' if after == 1 else 'were'} not read either)" if after else ""
                self.unusable[path] = f"was not read, because the files before it are too many or too large{more}"
                break
            document = world.load(path, permitted=path in permits)
            if isinstance(document, Refusal):
                self.unusable[path] = document.why
            else:
                self.sizes[path] = tokens(document.text)
                read += len(document.text)
        self.given = taken(self.sizes.items(), budget)
        self.left = [path for path in self.sizes if path not in self.given]

    @property
    def count(self) -> int:
        return len(self.sizes) + len(self.unusable)

    def want(self, plan: Plan, reason: str) -> None:
        for path in self.given:
            plan.want(path, reason)

    def leave(self, paths: Iterable[str]) -> None:
        """Do not give these files after all, because the agent must read them itself."""
        for path in paths:
            if path in self.given:
                self.given.remove(path)
                self.left.append(path)

    def names(self, world: World) -> str:
        """Return the given files as a list.

        The project's path is left out, because the agent need not open them.
        """
        return bullets(shown(path.removeprefix(f"{world.project}/")) for path in self.given)

    def refusals(self) -> list[str]:
        return [f"{shown(path)} {why}" for path, why in self.unusable.items()]

    def leftovers(self, gate: str, world: World, settings: Settings, refused: Iterable[str] = ()) -> list[str]:
        """Return a gate's messages about files that do not fit or cannot be delivered."""
        found = []
        if self.left:
            lines = bullets(f"{shown(path)} (about {self.sizes[path]:,} tokens)" for path in self.left)
            found.append(say(gate, "left", world, settings, left=lines, left_count=len(self.left)))
        unusable = [*refused, *self.refusals()]
        if unusable:
            found.append(say(gate, "unusable", world, settings, unusable=bullets(unusable)))
        return found


def size_of(path: str, world: World) -> int:
    """Return the characters that a file and its title take in a window.

    The result is 0 if the file cannot be delivered.
    """
    document = world.load(path)
    return 0 if isinstance(document, Refusal) else units(document.text) + _TITLE


def within(budget: int, files: Iterable[str], world: World) -> int:
    """Return the characters of several files and the message about them, within a token budget."""
    size = sum(size_of(path, world) for path in files)
    return min(size, int(budget * PER_TOKEN)) + 1000 if size else 0
