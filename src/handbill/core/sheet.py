"""A file as it was read for delivery, or why it is not delivered."""

from __future__ import annotations

DIGEST = 16  # characters of a digest


class Sheet:
    __slots__ = ("digest", "inode", "path", "stamp", "text")

    def __init__(self, path: str, inode: str, digest: str, text: str, stamp: str = "") -> None:
        self.path = path
        self.inode = inode
        self.digest = digest
        self.text = text
        self.stamp = stamp  # changes when the file does


class Refusal:
    """`quiet`: nothing is wrong (it is gone, or empty). `stamp`: of the state that was read; empty: try it again."""

    __slots__ = ("path", "quiet", "stamp", "why")

    def __init__(self, path: str, why: str, quiet: bool = False, stamp: str = "") -> None:
        self.path = path
        self.why = why
        self.quiet = quiet
        self.stamp = stamp
