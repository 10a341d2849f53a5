"""Put several files into one budget: each gets a share by section, and omitted ones are listed."""

from __future__ import annotations

from handbill.text.markdown import heading, scan
from handbill.text.tokens import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_SECTIONS = 300  # of one file; the last section contains the rest
_MOST_TOTAL = 2000
_NAMED = 5  # titles of omitted sections


class Section:
    __slots__ = ("file", "size", "taken", "text", "title")

    def __init__(self, file: str, title: str, text: str) -> None:
        self.file = file
        self.title = title
        self.text = text
        self.size = tokens(text)
        self.taken = False


def sections(file: str, text: str) -> list[Section]:
    """Return the text before the first `##`, then each section with its heading; fences stay
    whole."""
    lines = text.split("\n")
    starts = [(0, "")]
    for number, line, fence in scan(text):
        level, title = heading(line) if fence is None else (0, "")
        if level == 2:
            starts.append((number - 1, title[:100]))
    starts = starts[:_MOST_SECTIONS]
    ends = [start for start, _ in starts[1:]] + [len(lines)]
    pieces = [(title, "\n".join(lines[start:end]).strip("\n")) for (start, title), end in zip(starts, ends)]
    return [Section(file, title, piece) for title, piece in pieces if piece.strip()]


class Packet:
    """Sections of several files within a budget.

    `files`: (name, text), the most important first; shares decrease evenly from first to last.
    """

    __slots__ = ("budget", "brief", "sections", "shares")

    def __init__(self, files: Sequence[tuple[str, str]], budget: int) -> None:
        self.budget = budget
        self.brief = False  # True if there is no room to list the omitted sections
        weights = range(len(files), 0, -1)
        self.shares = {name: budget * weight // max(sum(weights), 1) for (name, _), weight in zip(files, weights)}
        self.sections = [section for name, text in files for section in sections(name, text)][:_MOST_TOTAL]
        spare = sum(self._take(name, share) for name, share in self.shares.items())
        for name in self.shares:  # unused shares go to the most important incomplete files
            spare = self._take(name, spare)
        while any(section.taken for section in self.sections) and (over := self.size - budget) > 0:
            for section in reversed([section for section in self.sections if section.taken]):
                section.taken = False  # names and the list need room, too
                over -= section.size
                if over <= 0:
                    break
        self.brief = self.size > budget

    def _take(self, file: str, room: int) -> int:
        for section in self.sections:
            if section.file == file and not section.taken and section.size <= room:
                section.taken = True
                room -= section.size
        return room

    @property
    def left(self) -> list[Section]:
        return [section for section in self.sections if not section.taken]

    @property
    def size(self) -> int:
        return tokens(self.text())

    def text(self) -> str:
        """Return the whole output: included sections, omitted ones, and a closing line."""
        found = [self._taken()] if any(section.taken for section in self.sections) else []
        if self.left and self.brief:
            found.append(f"--- left out: {len(self.left)} section{'' if len(self.left) == 1 else 's'} ---")
        elif self.left:
            found.append(f"--- left out ---\n{self.left_out()}")
        return "\n\n".join([*found, f"--- at most {self.budget:,} tokens (estimate) ---"])

    def _taken(self) -> str:
        found = []
        for name in self.shares:
            taken = [section.text for section in self.sections if section.file == name and section.taken]
            if taken:
                found.append(f"--- {name} ---\n" + "\n\n".join(taken))
        return "\n\n".join(found)

    def left_out(self) -> str:
        """Return one line for each incomplete file."""
        lines = []
        for name in self.shares:
            left = [section for section in self.left if section.file == name]
            if left:
                titles = [section.title or "its beginning" for section in left[:_NAMED]]
                more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
                size = sum(section.size for section in left)
                lines.append(f"- {name}: {', '.join(titles)}{more} (about {size:,} tokens)")
        return "\n".join(lines)
