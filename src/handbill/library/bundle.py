"""Several files that belong together: which are given by content within a budget, which are listed, which cannot be."""

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


_MOST_FILES, _MOST_READ = 200, 4 << 20  # files, characters
_TITLE = 200  # characters around a page


class Bundle:
    """`paths`: the most important first. What of them is in the window already plays no part: every lane of a
    start, and a ledger that had to be rebuilt, must come to the same answer."""

    __slots__ = ("given", "left", "sizes", "unusable")

    def __init__(self, paths: Iterable[str], world: World, budget: int, permits: Collection[str] = ()) -> None:
        self.sizes: dict[str, int] = {}
        self.unusable: dict[str, str] = {}  # path -> why
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
        """These are not given after all: somebody wants the agent to read them itself."""
        for path in paths:
            if path in self.given:
                self.given.remove(path)
                self.left.append(path)

    def names(self, world: World) -> str:
        """Those that are given, as a list; without the project's path, because there is nothing left to read."""
        return bullets(shown(path.removeprefix(f"{world.project}/")) for path in self.given)

    def refusals(self) -> list[str]:
        return [f"{shown(path)} {why}" for path, why in self.unusable.items()]

    def leftovers(self, gate: str, world: World, settings: Settings, refused: Iterable[str] = ()) -> list[str]:
        """What a gate says of files that it does not give: for lack of room, or because they cannot be given."""
        found = []
        if self.left:
            lines = bullets(f"{shown(path)} (about {self.sizes[path]:,} tokens)" for path in self.left)
            found.append(say(gate, "left", world, settings, left=lines, left_count=len(self.left)))
        unusable = [*refused, *self.refusals()]
        if unusable:
            found.append(say(gate, "unusable", world, settings, unusable=bullets(unusable)))
        return found


def size_of(path: str, world: World) -> int:
    """Characters that a file takes in a window, with its title; 0: it cannot be delivered."""
    document = world.load(path)
    return 0 if isinstance(document, Refusal) else units(document.text) + _TITLE


def within(budget: int, files: Iterable[str], world: World) -> int:
    """Characters of several files and of the message about them, as far as a budget of tokens allows."""
    size = sum(size_of(path, world) for path in files)
    return min(size, int(budget * PER_TOKEN)) + 1000 if size else 0
