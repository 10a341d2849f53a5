"""Fits lines to a terminal: text breaks only between words, and a path loses its beginning."""

from __future__ import annotations

from rich.cells import cell_len
from rich.text import Text

SHORTEST_PATH = 24  # columns that a path keeps


def wrapped(text: Text, width: int, hang: int = 0) -> list[Text]:
    """Wrap a text to `width` columns; only a single longer word exceeds it.

    `hang` is the additional indentation of later lines.
    """
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
    """Return the end of a word, including the spaces after it."""
    end = plain.find(" ", at)
    if end < 0:
        return len(plain)
    while plain[end : end + 1] == " ":
        end += 1
    return end


def shortened_left(text: Text, width: int) -> Text:
    """Shorten a text from the left, as in `…/api/.directives/AGENTS.md`.

    The end of a path is its most useful part. The result begins with a folder's name if it fits.
    """
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
    """Shorten the paths in a text that are too long for a line."""
    if all(cell_len(word) <= width for word in text.plain.split()):
        return text
    words = text.split(" ", allow_blank=True)
    return Text(" ").join(shortened_left(word, width) if "/" in word.plain else word for word in words)


def least_width(text: Text) -> int:
    """Return the width of the longest word. Paths count less, because they can be shortened."""
    words = text.plain.split()
    return max((min(cell_len(word), SHORTEST_PATH) if "/" in word else cell_len(word) for word in words), default=0)
