"""Makes text safe for a terminal, whether it is from a file, a setting, a name or a transcript."""

from __future__ import annotations

_KEPT = "\n\t"


def clean(text: str) -> str:
    """Spell out control characters, escape sequences and marks that reverse the text direction."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in _KEPT else c.encode("unicode_escape").decode() for c in text)


def one_line(text: str) -> str:
    """Clean the text and spell out line breaks, so that a file name cannot look like our line."""
    return clean(text).replace("\n", "\\n")


def clean_json(text: str) -> str:
    """Clean JSON text by escaping these characters, so that its value stays the same."""
    if text.replace("\n", "").isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else _escape(c) for c in text)


def _escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
