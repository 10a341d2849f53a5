"""Find the paths among a shell command's plain arguments; words that a shell expands are
omitted."""

from __future__ import annotations

_ENDS = "|&;<>()\n"
_EXPANDS = "$`*?[{~"
MOST = 40  # a command line with more words than this is data, not a list of paths
LONGEST = 1 << 20  # no system starts a longer command


def plain_arguments(command: str) -> list[str]:
    """Return words that may be paths, without quotes, in order; no options and no expansions."""
    words: list[str] = []
    letters: list[str] = []  # letters of one word: adding each to a long string takes too long
    quote, active, expands = "", False, False
    index, size = 0, min(len(command), LONGEST)
    while index <= size and len(words) < MOST:
        char = command[index] if index < size else "\n"
        index += 1
        if quote:
            if char == quote:
                quote = ""
            elif char == "\\" and quote == '"' and index < size:
                letters.append(command[index])
                index += 1
            else:
                expands = expands or (quote == '"' and char in "$`")
                letters.append(char)
        elif char in "'\"":
            quote, active = char, True
        elif char == "\\" and index < size:
            letters.append(command[index])
            active = True
            index += 1
        elif char in " \t" or char in _ENDS:
            if active and letters and not expands and letters[0] != "-":
                words.append("".join(letters))
            letters, active, expands = [], False, False
        else:
            expands = expands or char in _EXPANDS
            letters.append(char)
            active = True
    return words


def looks_like_path(word: str) -> bool:
    return "/" in word or "." in word[1:] or word in (".", "..")
