"""The client writes its record about a tenth of a second late: a fast hook may have to wait for it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from handbill.world import World

_PAUSE, _LOOKS = 0.025, 20  # half a second in all


def as_it_grows(transcript: str, world: World) -> Iterator[None]:
    """Once at first, then each time that the file has grown: to read a large one takes longer than a pause."""
    size = -2
    for _ in range(_LOOKS):
        before, size = size, world.size(transcript)
        if size != before:
            yield
        world.pause(_PAUSE)
