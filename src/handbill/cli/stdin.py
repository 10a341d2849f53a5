"""Reads piped input with time limits: an agent's shell may leave stdin open and silent."""

from __future__ import annotations

import os
import select
import stat
import sys
import time
from typing import Any

from handbill.errors import HandbillError
from handbill.fast_json import loads

FIRST = 2.0  # seconds to wait for the first byte
# The same for a verb that needs input: the command before the pipe may still be running.
NEEDED = 15.0
IDLE = 10.0  # seconds between later bytes
MOST = 8 << 20
_FORM = 'send one JSON object: {"field": "value"}'


class BadInput(HandbillError):
    code = "bad-input"


class Piped:
    def __init__(self, text: str, silent: bool = False) -> None:
        self.text = text
        self.silent = silent  # stdin was open, but nothing arrived

    @property
    def note(self) -> list[str]:
        return ["stdin stayed open but sent nothing, so it counts as empty"] if self.silent else []


def piped(first: float = FIRST) -> Piped:
    try:
        handle = sys.stdin.fileno()
        mode = os.fstat(handle).st_mode
    except (OSError, ValueError, AttributeError):
        return Piped("")  # stdin is closed or missing
    if os.isatty(handle):
        return Piped("")
    data = b""
    waits = not stat.S_ISREG(mode)
    deadline = time.monotonic() + first
    while len(data) < MOST:
        if waits and not select.select([handle], [], [], max(0.0, deadline - time.monotonic()))[0]:
            if data:
                raise BadInput("stdin stopped in the middle", "end the input, e.g. with a here-document")
            return Piped("", silent=True)
        piece = os.read(handle, 1 << 16)
        if not piece:
            break
        data += piece
        deadline = time.monotonic() + IDLE
    try:
        return Piped(data.decode("utf-8").removeprefix("\ufeff"))
    except UnicodeDecodeError as error:
        raise BadInput(f"stdin is not UTF-8: {error}", "send UTF-8 text") from error


def as_object(text: str, what: str) -> dict[str, Any]:
    """Parse the JSON object on stdin; return {} if the text is empty."""
    if not text.strip():
        return {}
    try:
        value = loads(text)
    except RecursionError:
        raise BadInput(f"the {what} on stdin cannot be read: it is nested too deep", _FORM) from None
    except ValueError as error:
        raise BadInput(f"the {what} on stdin cannot be read: {error}", _FORM) from error
    if not isinstance(value, dict):
        raise BadInput(f"the {what} on stdin must be one JSON object", _FORM)
    return value
