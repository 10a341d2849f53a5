"""What is in a context window now, by its host's own record: the one answer that receipts, resume, fork,
compaction, rewind and reports are judged by."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from handbill.core.pack import Title
    from handbill.core.window import Record

_COMPACT = "compact:"


class Content:
    __slots__ = (
        "answered", "blocks", "boundary", "calls", "cut", "denials", "file_calls", "last_answer", "skills",
        "whole",
    )  # fmt: skip

    def __init__(self, *, whole: bool = True) -> None:
        self.whole = whole  # False: the window began before the part of the record that was read
        self.blocks: dict[Title, int] = {}  # our blocks, with their sizes
        self.denials: dict[str, dict[Title, int]] = {}  # tool call -> our blocks in the reason it was denied with
        self.cut: set[Title] = set()  # blocks that the host replaced by a preview
        self.calls: list[str] = []  # ids of the tool calls
        self.file_calls: set[str] = set()  # of tools whose errors only the host itself writes
        self.answered: set[str] = set()  # calls and prompts behind which the model answered again
        self.last_answer = -1  # where in the record the model's newest answer begins
        self.boundary = -1  # where the newest compaction is recorded
        self.skills: list[str] = []  # folders of the skills that the host put into the window

    def titles(self, denied: Collection[str]) -> dict[Title, int]:
        """Our blocks, with those of these denied calls. Other results may quote a denial, so a call must be named."""
        found = dict(self.blocks)
        for call in denied:
            found.update(self.denials.get(call, {}))
        return found

    def went_past(self, claim: Record) -> bool:
        """Did the model answer after the place where this claim's text belongs?"""
        kind, _, rest = claim["batch"].partition(":")
        if not rest:
            return kind in self.answered
        if rest.startswith(_COMPACT):  # older answers may be written behind the claim, but not behind the compaction
            return self.boundary >= int(claim["offset"]) and self.last_answer > self.boundary
        prompt = rest.rpartition(":")[2]
        return prompt in self.answered if prompt else self.last_answer >= int(claim["offset"])
