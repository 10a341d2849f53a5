"""Sizes in tokens, and the pages that fit a budget. An estimate: hosts do not publish
tokenizers."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# Tokens per byte of a kind, chosen so that two public tokenizers seldom count more (bench/run.py
# tokens). Spaces count with the word after them. The first UTF-8 byte of a character of another
# script counts for all of it.
_PLAIN = (
    (b"abcdefghijklmnopqrstuvwxyz", 0.3),
    (b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", 0.95),  # also in keys, hashes and other random text
    (b"0123456789", 0.7),
    (b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", 0.75),
    (b"\n", 0.5),
)
_LATIN = bytes(range(0xC2, 0xCE))  # with accents
_OTHER = (
    (_LATIN, 1.35),
    (b"\xce\xcf", 1.4),  # Greek
    (bytes(range(0xD0, 0xD4)), 0.8),  # Cyrillic
    (bytes(range(0xD4, 0xE0)), 1.2),  # Armenian, Hebrew, Arabic
    (b"\xe0", 1.85),  # the scripts of India, Thai
    (b"\xe1", 2.0),
    (b"\xe2", 1.6),  # punctuation, arrows, mathematics
    (bytes(range(0xE3, 0xF0)), 1.4),  # Chinese, Japanese, Korean
    (bytes(range(0xF0, 0xF8)), 3.0),  # emoji
)
_FOREIGN_WORD = 2.5  # tokens that an accent adds, because its letters are not an English word
_FOREIGN_LETTER = 0.25  # the most that accents add for each letter

PER_TOKEN = 4  # characters per token of plain English, where only a text's length is known


def tokens(text: str) -> int:
    """Return an estimate that is more likely too high than too low."""
    data = text.encode("utf-8", "replace")
    total = sum(cost * _count(data, kind) for kind, cost in _PLAIN)
    if not data.isascii():
        total += sum(cost * _count(data, kind) for kind, cost in _OTHER)
        total += min(_FOREIGN_WORD * _count(data, _LATIN), _FOREIGN_LETTER * _count(data, _PLAIN[0][0]))
    return -int(-total // 1)


def _count(data: bytes, kind: bytes) -> int:
    return len(data) - len(data.translate(None, kind))


def of_length(characters: int) -> int:
    """Return an estimate where only the length of a text is known."""
    return round(characters / PER_TOKEN)


def taken(sizes: Iterable[tuple[str, int]], budget: int) -> list[str]:
    """Return the names that fit, by importance; a later one that fits is still included."""
    found = []
    for name, size in sizes:
        if size <= budget:
            found.append(name)
            budget -= size
    return found
