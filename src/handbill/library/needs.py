"""What a gate needs in a project: room at the start of a window, and calls that it may hold."""

from __future__ import annotations

# What a gate may hold: the kinds of calls of `event` (`RUNS`, `DELEGATES`, …), and these two.
EVERY = "every"  # all calls
CHANGES = "changes"  # with `WRITES`: also changes of files that exist, not only new files


class Needs:
    """What a gate needs in this project: room for characters at the start of a window, and calls to hold."""

    __slots__ = ("characters", "holds")

    def __init__(self, characters: int = 0, holds: tuple[str, ...] = ()) -> None:
        self.characters = characters
        self.holds = holds
