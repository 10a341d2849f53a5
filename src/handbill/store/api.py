"""The interface of a store. One contract test suite checks every implementation."""

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
            """Return the window as last written, without waiting for writers.

            Raises CorruptState.
            """

        def update(self, key: Key, change: Callable[[Window | None], tuple[Window | None, T]]) -> T:
            """Run `change` on the newest window under a lock, and save the window that it returns.

            A corrupt window is put aside, and `change` gets None. If `change` returns the window
            that it was given (or None), nothing is written.
            """

        def put_aside(self, key: Key) -> None:
            """Put aside a window that has a corrupt record. A window that is valid by now stays."""

        def append(self, stream: str, lines: Iterable[dict[str, Any]]) -> None:
            """Add lines to a log. Concurrent writers never break a line."""

        def note_missed(self, key: Key) -> bool:
            """Record that a hook could not do its work for this window, without a lock.

            False: that was already recorded.
            """

        def missed(self, key: Key) -> bool: ...

        def clear_missed(self, key: Key) -> None: ...

        def post(self, session: str, notice: dict[str, Any]) -> None:
            """Leave a message for this session's hooks: a command's result, or a delegated task."""

        def notices(self, session: str) -> list[dict[str, Any]]:
            """Return the messages that are not settled yet, oldest first, each with its `id`."""

        def settle_notices(self, session: str, ids: Collection[str]) -> None:
            """Remove these messages, which were handled. Messages that arrived meanwhile stay."""

        def link(self, session: str, folder: str) -> None:
            """Record which work session a client's session belongs to."""

        def linked(self, session: str) -> str: ...

        def keep_page(self, name: str, text: str) -> str:
            """Save a page that Handbill wrote as a file, and return its path."""

        def note(self, key: Key, kind: str, value: dict[str, Any] | None) -> None:
            """Replace a small note about a window. None removes it."""

        def noted(self, key: Key, kind: str) -> dict[str, Any] | None:
            """Return a note. Raises CorruptState if it cannot be parsed."""

        def leave_handover(self, handover: dict[str, Any]) -> None:
            """Leave a handover for the next agent that starts in this project.

            It replaces an earlier one of the same session.
            """

        def take_handover(self, session: str, *, again: bool = False) -> dict[str, Any] | None:
            """Return the oldest handover that nobody took.

            The same session gets the same one again. `again`: return only that one.
            """

        def known(self) -> list[Key]:
            """Return every known window. Only people's commands use it, because it lists all."""


DELIVERIES, ERRORS = "deliveries", "errors"
