"""Wait for the client's record, which is written about a tenth of a second late."""

from __future__ import annotations

from handbill.event import TOOL_BATCH_FINISHED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from handbill.event import Event
    from handbill.ledger.content import Content
    from handbill.world import World

_PAUSE, _LOOKS = 0.025, 20  # half a second in all


def of_unknown_window(event: Event, host: ModuleType, world: World, *, resumed: bool) -> Content | None:
    """Return the content of an unknown window.

    A delivery just before a batch may not be recorded yet. The results of the batch's calls show
    how far the record is.
    """
    for _ in as_it_grows(event.transcript, world):
        content: Content | None = host.window_now(event, world, resumed=resumed, unknown=True)
        if content is not None or event.kind != TOOL_BATCH_FINISHED:
            return content
    return None


def as_it_grows(transcript: str, world: World) -> Iterator[None]:
    """Yield at once, then each time that the file has grown: reading a large one takes longer than
    a pause."""
    size: int | None = None
    for _ in range(_LOOKS):
        before, size = size, world.size(transcript)
        if size != before:
            yield
        if size < 0:
            return  # the transcript does not exist
        world.pause(_PAUSE)
