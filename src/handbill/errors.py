"""Failures. Expected ones are `HandbillError`; each one that reaches the hook leaves a trace
line."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class HandbillError(Exception):
    """An expected failure: one line for the person, and the remedy."""

    code = "error"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class CorruptState(HandbillError):
    """A state file that we cannot read; it is moved aside, never overwritten."""

    code = "corrupt-state"


class TookTooLong(BaseException):
    """Work exceeded its time. Not an Exception, so that no handler on the way treats it as its own
    fault.

    `partial`: the result so far. `where`: the step that took the time, if it is known.
    """

    partial: Any = None
    where = ""
