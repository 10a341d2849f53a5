"""Failures: expected ones are `HandbillError`; at the hook boundary each leaves one line in the trace."""

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


class StateBusy(HandbillError):
    code = "state-busy"


class StateUnwritable(HandbillError):
    """Read-only, full, or another user's: neither root takes a window."""

    code = "state-unwritable"


class TookTooLong(BaseException):
    """Not an Exception: nothing on the way may take it for a fault of its own. `partial`: what was done by then."""

    partial: Any = None


def describe(error: BaseException) -> str:
    """Name, text and the innermost places, without importing `traceback`."""
    places = []
    frame = error.__traceback__
    while frame is not None:
        code = frame.tb_frame.f_code
        places.append(f"{code.co_filename.rpartition('/handbill/')[2]}:{frame.tb_lineno}")
        frame = frame.tb_next
    return f"{type(error).__name__}: {error} ({' > '.join(places[-4:])})"


def trace_line(now: float, where: str, what: str, hint: str = "", **more: Any) -> dict[str, Any]:
    line: dict[str, Any] = {"ts": round(now, 3), "where": where, "error": " ".join(what.split())}
    if hint:
        line["hint"] = hint
    line.update({name: value for name, value in more.items() if value})
    return line
