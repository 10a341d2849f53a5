"""What is in a context window now, by its host's own record: the one answer that receipts, resume, fork,
compaction, rewind and reports are judged by."""

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
        self.same: dict[tuple[str, Title], str] = {}  # (denied call, or none; block of one line) -> whose text it means
        self.parts: dict[Title, str] = {}  # texts of the blocks that are parts of a file
        self.untrue: set[tuple[str, str]] = set()  # (file, digest) whose parts do not make the text of that digest
        self.denials: dict[str, dict[Title, int]] = {}  # tool call -> our blocks in the reason it was denied with
        self.order: dict[tuple[str, Title], int] = {}  # (denied call, or none; block) -> its place
        self.started: set[Title] = set()  # blocks that came with a start of the window
        self.cut: set[Title] = set()  # blocks that the host replaced by a preview
        self.prompts: dict[str, int] = {}  # id of a prompt -> where in the record it is
        self.typed: set[str] = set()  # prompts whose own text is there, not only the results of their calls
        self.calls: list[str] = []  # ids of the tool calls
        self.file_calls: set[str] = set()  # of tools whose errors only the host itself writes
        self.other_calls: set[str] = set()  # what these show of files proves nothing
        self.files: dict[str, str] = {}  # path -> text that the host itself shows: read, mentioned or restored
        self.answered: set[str] = set()  # calls and prompts behind which the model answered again
        self.last_answer = -1  # where in the record the model's newest answer begins
        self.leaf = ""  # the row that the next one will follow
        self.boundary_row = ""  # of the newest compaction
        self.boundary = -1  # where the newest compaction is recorded
        self.commands: set[str] = set()  # skills and commands that the user typed or the model called
        self.skills: list[str] = []  # folders of the skills that the host put into the window

    def titles(self, denied: Collection[str]) -> dict[Title, int]:
        """Our blocks, with those of these denied calls. Other results may quote a denial, so a call must be named."""
        found = dict(self.blocks)
        for call in denied:
            found.update(self.denials.get(call, {}))
        return found

    def in_order(self) -> list[tuple[str, Title]]:
        """(denied call, or none; block), the oldest first: of two states of a file the later one counts.

        Of denials, only those of tools whose errors nobody but the host writes.
        """
        found = [("", title) for title in self.blocks]
        for call in self.calls:
            if call in self.file_calls:
                found += [(call, title) for title in self.denials.get(call, {})]
        return sorted(found, key=lambda one: self.order.get(one, -1))

    def newest(self, titles: Collection[Title]) -> set[Title]:
        """Without the blocks of a file that a later block replaced by another state of that file."""
        places = sorted((place, title) for (_, title), place in self.order.items())
        state = {title[0]: title[1] for _, title in places}  # file -> the state of its last block
        return {title for title in titles if state.get(title[0], title[1]) == title[1]}

    def went_past(self, claim: Record) -> bool:
        """Did the model answer after the place where this claim's text belongs?"""
        _, _, rest = claim["batch"].partition(":")
        if rest.startswith(_COMPACT):  # older answers may be written behind the claim, but not behind the compaction
            return 0 <= self.boundary < self.last_answer >= int(claim["offset"])
        named = _named(claim["batch"])
        return named in self.answered if named else self.last_answer >= int(claim["offset"])

    def skipped(self, claim: Record) -> bool:
        """The host never took the prompt or batch of this claim, or took it back: the model has answered a prompt
        that was written after the claim, and this window does not have the claim's own."""
        named = _named(claim["batch"])
        later = [id for id, at in self.prompts.items() if at >= int(claim["offset"]) and id in self.answered]
        return bool(named and later) and self.whole and named not in self.prompts and named not in self.calls

    def has_batch(self, batch: str) -> bool:
        """Is this call or prompt in the window? Of a prompt, its own text: results of its calls may outlive it."""
        return _named(batch) in self.calls or _named(batch) in self.typed

    def lines(self) -> set[Title]:
        """Titles under which the window has only a line that refers to another file's text."""
        found = set()
        for title in {title for _, title in self.same}:
            places = [call for call, blocks in (("", self.blocks), *self.denials.items()) if title in blocks]
            if all((call, title) in self.same for call in places):
                found.add(title)
        return found

    def went_on(self, batch: str) -> bool:
        """Did the model answer again after this batch or prompt?"""
        return _named(batch) in self.answered


def _named(batch: str) -> str:
    """The call or prompt that a batch is named after; empty: a start has neither."""
    return batch.rpartition(":")[2]
