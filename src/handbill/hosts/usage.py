"""How full a window is, as its host reports it."""

from __future__ import annotations


class Usage:
    """The tokens in a window, and the size of the window (0 if the host does not report it)."""

    __slots__ = ("size", "tokens")

    def __init__(self, tokens: int, size: int = 0) -> None:
        self.tokens = tokens
        self.size = size
