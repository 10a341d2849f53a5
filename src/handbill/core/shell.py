"""Paths that a shell command names as plain arguments; anything a shell would expand is left alone."""

from __future__ import annotations

_ENDS = "|&;<>()\n"
_EXPANDS = "$`*?[{~"
MOST = 40  # a command line with more words than this is data, not a list of paths


def plain_arguments(command: str) -> list[str]:
    """Words that may be paths, quotes removed, in order; options and expansions left out."""
    words: list[str] = []
    word, quote, active, expands = "", "", False, False
    index, size = 0, len(command)
    while index <= size and len(words) < MOST:
        char = command[index] if index < size else "\n"
        index += 1
        if quote:
            if char == quote:
                quote = ""
            elif char == "\\" and quote == '"' and index < size:
                word += command[index]
                index += 1
            else:
                expands = expands or (quote == '"' and char in "$`")
                word += char
        elif char in "'\"":
            quote, active = char, True
        elif char == "\\" and index < size:
            word += command[index]
            active = True
            index += 1
        elif char in " \t" or char in _ENDS:
            if active and word and not expands and not word.startswith("-"):
                words.append(word)
            word, active, expands = "", False, False
        else:
            expands = expands or char in _EXPANDS
            word += char
            active = True
    return words


def looks_like_path(word: str) -> bool:
    return "/" in word or "." in word[1:] or word in (".", "..")
