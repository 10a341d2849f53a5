"""A file that was read for delivery, or the reason why it is not delivered."""

from __future__ import annotations

DIGEST = 16  # characters of a digest


class Document:
    __slots__ = ("digest", "inode", "path", "stamp", "text")

    def __init__(self, path: str, inode: str, digest: str, text: str, stamp: str = "") -> None:
        self.path = path
        self.inode = inode
        self.digest = digest
        self.text = text
        self.stamp = stamp  # changes when the file changes


_LONGEST = 500  # characters of a path: its end is the most informative part
# begins the names of the pages that report undeliverable files to the model
UNDELIVERABLE_PAGE = "undeliverable"


class Refusal:
    """The reason why a file is not delivered.

    `quiet`: the file is gone or empty, which is not a fault. `stamp`: of the state that was read;
    if empty, read the file again. `may_pass`: the disk failed, perhaps only for a moment.
    """

    __slots__ = ("may_pass", "path", "quiet", "stamp", "why")

    def __init__(self, path: str, why: str, quiet: bool = False, stamp: str = "", *, may_pass: bool = False) -> None:
        self.may_pass = may_pass
        self.path = path
        self.why = why
        self.quiet = quiet
        self.stamp = stamp

    @property
    def named(self) -> str:
        """Return the path in quotes."""
        from handbill.text.blocks import quotable

        path = quotable(self.path)
        return f'"{path}"' if len(path) <= _LONGEST else f'"…{path[-_LONGEST:]}"'

    def report(self, *, outdated: str = "") -> str:
        """Return a report for the model. `outdated`: when the file changed, if the window has older
        text."""
        path = self.named
        if outdated:
            found = f"{path} changed at {outdated}, but Handbill could not deliver its new text: it {self.why}. "
            found += "The text in this window is out of date."
        else:
            found = f"Handbill could not deliver {path}: it {self.why}."
        return f"{found} Ask the user to fix it."


def changed_back(path: str, moment: str) -> str:
    """Return a report for the model that corrects the report of outdated text. `moment`: now."""
    from handbill.text.blocks import quotable

    return f'At {moment}, "{quotable(path)}" had its earlier text again. The text in this window is up to date.'
