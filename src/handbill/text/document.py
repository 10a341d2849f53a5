"""A file as it was read for delivery, or why it is not delivered."""

from __future__ import annotations

DIGEST = 16  # characters of a digest


class Document:
    __slots__ = ("digest", "inode", "path", "stamp", "text")

    def __init__(self, path: str, inode: str, digest: str, text: str, stamp: str = "") -> None:
        self.path = path
        self.inode = inode
        self.digest = digest
        self.text = text
        self.stamp = stamp  # changes when the file does


_LONGEST = 500  # characters of a path; the end of it says most
UNDELIVERABLE_PAGE = "undeliverable"  # begins the names of the pages that tell the model


class Refusal:
    """`quiet`: nothing is wrong (it is gone, or empty). `stamp`: of the state that was read; empty: try it again.
    `may_pass`: the disk failed, perhaps only for a moment."""

    __slots__ = ("may_pass", "path", "quiet", "stamp", "why")

    def __init__(self, path: str, why: str, quiet: bool = False, stamp: str = "", *, may_pass: bool = False) -> None:
        self.may_pass = may_pass
        self.path = path
        self.why = why
        self.quiet = quiet
        self.stamp = stamp

    @property
    def named(self) -> str:
        """Its path in quotes."""
        from handbill.text.blocks import quotable

        path = quotable(self.path)
        return f'"{path}"' if len(path) <= _LONGEST else f'"…{path[-_LONGEST:]}"'

    def report(self, *, outdated: str = "") -> str:
        """To the model. `outdated`: when the file changed, if the window holds an older text of it."""
        path = self.named
        if outdated:
            found = f"{path} changed at {outdated}, but Handbill could not deliver its new text: it {self.why}. "
            found += "The text in this window is out of date."
        else:
            found = f"Handbill could not deliver {path}: it {self.why}."
        return f"{found} Ask the user to fix it."


def changed_back(path: str, moment: str) -> str:
    """To the model, which was told that its text of this file is out of date. `moment`: now."""
    from handbill.text.blocks import quotable

    return f'At {moment}, "{quotable(path)}" had its earlier text again. The text in this window is up to date.'
