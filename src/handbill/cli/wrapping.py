"""Lines that fit a terminal: text breaks between words only, and a path loses its beginning, not its end."""

from __future__ import annotations

from rich.cells import cell_len
from rich.text import Text

SHORTEST_PATH = 24  # columns that a path keeps


def wrapped(text: Text, width: int, hang: int = 0) -> list[Text]:
    """Of at most `width` columns each, unless a single word is longer. `hang`: by how much later lines are indented."""
    found: list[Text] = []
    for line in text.split("\n", allow_blank=True):
        for number, piece in enumerate(_lines(line, width, hang)):
            piece.rstrip()
            found.append(Text(" " * hang if number else "") + piece)
    return found


def _lines(line: Text, width: int, hang: int) -> list[Text]:
    plain = line.plain
    cuts: list[int] = []
    at = len(plain) - len(plain.lstrip(" "))  # a line keeps its own indentation
    taken = cell_len(plain[:at])
    while at < len(plain):
        end = _end_of_word(plain, at)
        size = cell_len(plain[at:end].rstrip(" "))
        if taken + size > width and at > (cuts[-1] if cuts else 0) and plain[:at].strip(" "):
            cuts.append(at)
            taken = hang
        taken += cell_len(plain[at:end])
        at = end
    return list(line.divide(cuts))


def _end_of_word(plain: str, at: int) -> int:
    """With the spaces behind it."""
    end = plain.find(" ", at)
    if end < 0:
        return len(plain)
    while plain[end : end + 1] == " ":
        end += 1
    return end


def shortened_left(text: Text, width: int) -> Text:
    """`…/api/.directives/AGENTS.md`: the end of a path says most. It begins at a folder's name where that fits."""
    if text.cell_len <= width:
        return text
    plain, start, left = text.plain, len(text.plain), width - 1
    while start > 0 and (left := left - cell_len(plain[start - 1])) >= 0:
        start -= 1
    folder = plain.find("/", start)
    if 0 <= folder < len(plain.rstrip("/")) - 1:
        start = folder
    return Text("…") + text[start:]


def with_short_paths(text: Text, width: int) -> Text:
    """The words of a text that are paths and too long for a line, shortened."""
    if all(cell_len(word) <= width for word in text.plain.split()):
        return text
    words = text.split(" ", allow_blank=True)
    return Text(" ").join(shortened_left(word, width) if "/" in word.plain else word for word in words)


def least_width(text: Text) -> int:
    """Of the longest word; a path can be shortened."""
    words = text.plain.split()
    return max((min(cell_len(word), SHORTEST_PATH) if "/" in word else cell_len(word) for word in words), default=0)
