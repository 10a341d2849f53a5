"""What a gate needs in a project: room at the start of a window, and calls that it may hold."""

from __future__ import annotations

EVERY = "every"  # call: a gate may hold any of them
CHANGES = "changes"  # a gate may hold calls that change an existing file, too; `ev.WRITES`: only new files


class Needs:
    """What a gate needs in this project: room for characters at the start of a window, and calls to hold."""

    __slots__ = ("characters", "holds")

    def __init__(self, characters: int = 0, holds: tuple[str, ...] = ()) -> None:
        self.characters = characters
        self.holds = holds
