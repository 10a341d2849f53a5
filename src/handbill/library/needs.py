"""The needs of a gate in a project: room at the start of a window, and calls that it may hold."""

from __future__ import annotations

# Values for `holds`: the kinds of calls from `event` (`RUNS`, `DELEGATES`, …), and these two.
EVERY = "every"  # all calls
CHANGES = "changes"  # with `WRITES`: also changes to existing files, not only new files


class Needs:
    """The characters that a gate needs at the start of a window, and the calls that it may hold."""

    __slots__ = ("characters", "holds")

    def __init__(self, characters: int = 0, holds: tuple[str, ...] = ()) -> None:
        self.characters = characters
        self.holds = holds
