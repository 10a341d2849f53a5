"""How full a window is, as its host reports it."""

from __future__ import annotations


class Usage:
    """How full a window is: tokens, and the size of the window where the host says so (0: it does not)."""

    __slots__ = ("size", "tokens")

    def __init__(self, tokens: int, size: int = 0) -> None:
        self.tokens = tokens
        self.size = size
