"""Text on its way to a terminal: no control character of a file, a setting, a name or a transcript gets through."""

from __future__ import annotations

_KEPT = "\n\t"


def clean(text: str) -> str:
    """Control characters, escape sequences and marks that reverse the direction of writing are spelled out."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in _KEPT else c.encode("unicode_escape").decode() for c in text)


def one_line(text: str) -> str:
    """The same, with line breaks spelled out: what a file is called must not look like a line of ours."""
    return clean(text).replace("\n", "\\n")


def clean_json(text: str) -> str:
    """The same value, written with escapes."""
    if text.replace("\n", "").isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else _escape(c) for c in text)


def _escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
