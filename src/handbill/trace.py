"""Lines that record a failure. Loaded only after one."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def describe(error: BaseException) -> str:
    """Return the error's class, its text and the innermost places, without importing
    `traceback`."""
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
