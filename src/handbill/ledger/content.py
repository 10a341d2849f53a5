"""The content of a context window, read from its host's own record.

Receipts, resume, fork, compaction, rewind and reports all use it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from handbill.ledger.window import Record
    from handbill.text.blocks import Title

_COMPACT = "compact:"


class Content:
    __slots__ = (
        "answered", "blocks", "boundary", "boundary_row", "calls", "commands", "cut", "denials", "file_calls",
        "files", "last_answer", "leaf", "order", "other_calls", "parts", "prompts", "same", "skills", "started",
        "typed", "untrue", "whole",
    )  # fmt: skip

    def __init__(self, *, whole: bool = True) -> None:
        self.whole = whole  # False: the window began before the part of the record that was read
        self.blocks: dict[Title, int] = {}  # our blocks, with their sizes
        # (denied call or "", one-line block) -> the file whose text the line refers to
        self.same: dict[tuple[str, Title], str] = {}
        self.parts: dict[Title, str] = {}  # text of each block that is a part of a file
        # (file, digest): its parts do not make up the text with that digest
        self.untrue: set[tuple[str, str]] = set()
        # tool call -> our blocks in the reason of its denial
        self.denials: dict[str, dict[Title, int]] = {}
        self.order: dict[tuple[str, Title], int] = {}  # (denied call or "", block) -> its position
        self.started: set[Title] = set()  # blocks that a start of the window delivered
        self.cut: set[Title] = set()  # blocks that the host replaced by a preview
        self.prompts: dict[str, int] = {}  # prompt id -> its position in the record
        # prompts whose own text is there, not only the results of their calls
        self.typed: set[str] = set()
        self.calls: list[str] = []  # ids of the tool calls
        self.file_calls: set[str] = set()  # calls of tools whose errors only the host writes
        # other calls: the files that their results show prove nothing
        self.other_calls: set[str] = set()
        # path -> text that the host itself shows because it was read, mentioned or restored
        self.files: dict[str, str] = {}
        self.answered: set[str] = set()  # calls and prompts after which the model answered again
        self.last_answer = -1  # where the model's newest answer begins in the record
        self.leaf = ""  # the row that the next one will follow
        self.boundary_row = ""  # of the newest compaction
        self.boundary = -1  # where the newest compaction is recorded
        # skills and commands that the user typed or the model called
        self.commands: set[str] = set()
        self.skills: list[str] = []  # folders of the skills that the host put into the window

    def titles(self, denied: Collection[str]) -> dict[Title, int]:
        """Return our blocks, including those in the denials of the calls in `denied`.

        Other results may quote a denial, so the calls must be named.
        """
        found = dict(self.blocks)
        for call in denied:
            found.update(self.denials.get(call, {}))
        return found

    def in_order(self) -> list[tuple[str, Title]]:
        """Return (denied call or "", block), oldest first: the later of two states of a file
        counts.

        Only denials of tools whose errors nobody but the host writes are included.
        """
        found = [("", title) for title in self.blocks]
        for call in self.calls:
            if call in self.file_calls:
                found += [(call, title) for title in self.denials.get(call, {})]
        return sorted(found, key=lambda one: self.order.get(one, -1))

    def newest(self, titles: Collection[Title]) -> set[Title]:
        """Return `titles` without blocks that a later block of the same file replaced with another
        state."""
        places = sorted((place, title) for (_, title), place in self.order.items())
        state = {title[0]: title[1] for _, title in places}  # file -> the state of its last block
        return {title for title in titles if state.get(title[0], title[1]) == title[1]}

    def went_past(self, claim: Record) -> bool:
        """Whether the model answered after the position of this claim's text."""
        _, _, rest = claim["batch"].partition(":")
        # older answers may be recorded after the claim, but not after the compaction
        if rest.startswith(_COMPACT):
            return 0 <= self.boundary < self.last_answer >= int(claim["offset"])
        named = _named(claim["batch"])
        return named in self.answered if named else self.last_answer >= int(claim["offset"])

    def skipped(self, claim: Record) -> bool:
        """Whether the host never took the prompt or batch of this claim, or took it back.

        It did if the model has answered a prompt that was recorded after the claim, and this window
        does not have the claim's own prompt or batch.
        """
        named = _named(claim["batch"])
        later = [id for id, at in self.prompts.items() if at >= int(claim["offset"]) and id in self.answered]
        return bool(named and later) and self.whole and named not in self.prompts and named not in self.calls

    def has_batch(self, batch: str) -> bool:
        """Whether this call or prompt is in the window.

        A prompt counts only if its own text is there: the results of its calls may outlive it.
        """
        return _named(batch) in self.calls or _named(batch) in self.typed

    def lines(self) -> set[Title]:
        """Return the titles under which the window has only a line that refers to another file's
        text."""
        found = set()
        for title in {title for _, title in self.same}:
            places = [call for call, blocks in (("", self.blocks), *self.denials.items()) if title in blocks]
            if all((call, title) in self.same for call in places):
                found.add(title)
        return found

    def went_on(self, batch: str) -> bool:
        """Whether the model answered again after this batch or prompt."""
        return _named(batch) in self.answered


def _named(batch: str) -> str:
    """Return the call or prompt that a batch is named after; "" for a start, which has neither."""
    return batch.rpartition(":")[2]
