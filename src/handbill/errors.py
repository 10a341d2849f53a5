"""Failures: expected ones are `HandbillError`; at the hook boundary each leaves one line in the trace (`trace`)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class HandbillError(Exception):
    """An expected failure: one line for the person, and what to do about it."""

    code = "error"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class CorruptState(HandbillError):
    """A state file that is not ours to read; it is moved aside, never overwritten."""

    code = "corrupt-state"


class TookTooLong(BaseException):
    """Not an Exception: nothing on the way may take it for a fault of its own. `partial`: what was done by then;
    `where`: what took the time, if that is known."""

    partial: Any = None
    where = ""
