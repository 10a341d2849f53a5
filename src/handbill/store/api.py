"""What a store does. One contract test suite holds every implementation to it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from typing import Any, Protocol, TypeVar

    from handbill.ledger.window import Window

    Key = tuple[str, str]  # session id, agent id or "main"
    T = TypeVar("T")

    class Store(Protocol):
        def read(self, key: Key) -> Window | None:
            """The window as last written, without waiting for writers. Raises CorruptState."""

        def update(self, key: Key, change: Callable[[Window | None], tuple[Window | None, T]]) -> T:
            """Run `change` on the newest window, alone, and keep what it returns.

            A broken window is put aside and `change` gets None. Returning the window that was
            given (or None) writes nothing.
            """

        def put_aside(self, key: Key) -> None:
            """A window in which a record proved to be broken; one that is sound by now stays."""

        def append(self, stream: str, lines: Iterable[dict[str, Any]]) -> None:
            """Add lines to a log; a line is never torn, whoever else writes."""

        def note_missed(self, key: Key) -> bool:
            """A hook could not do its work for this window; needs no lock. False: that was known."""

        def missed(self, key: Key) -> bool: ...

        def clear_missed(self, key: Key) -> None: ...

        def post(self, session: str, notice: dict[str, Any]) -> None:
            """Leave word for this session's hooks: what a command did, or which task was handed out."""

        def notices(self, session: str) -> list[dict[str, Any]]:
            """What was posted and not settled yet, oldest first; each with its `id`."""

        def settle_notices(self, session: str, ids: Collection[str]) -> None:
            """These were taken; others that came meanwhile stay."""

        def link(self, session: str, folder: str) -> None:
            """Which piece of work a client's session is at."""

        def linked(self, session: str) -> str: ...

        def keep_page(self, name: str, text: str) -> str:
            """A page of our own making as a file; returns its path."""

        def note(self, key: Key, kind: str, value: dict[str, Any] | None) -> None:
            """A small note about a window, replaced whole; None removes it."""

        def noted(self, key: Key, kind: str) -> dict[str, Any] | None:
            """Raises CorruptState when it cannot be understood."""

        def leave_handover(self, handover: dict[str, Any]) -> None:
            """For the next agent that starts in this project; a newer one of the same session replaces it."""

        def take_handover(self, session: str, *, again: bool = False) -> dict[str, Any] | None:
            """The oldest that nobody took; asking again with the same session gives the same one.
            `again`: only that one."""

        def known(self) -> list[Key]:
            """Every window there is. For people's commands only: it looks at all of them."""


DELIVERIES, ERRORS = "deliveries", "errors"
