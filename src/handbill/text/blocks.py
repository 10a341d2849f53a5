"""Fit files into the output limit of one hook: whole files first, a larger one in labelled parts.

Sizes are UTF-16 code units, which the hosts count.
"""

from __future__ import annotations

from handbill.text.document import DIGEST

Title = tuple[str, str, int, int]  # shown path, digest, part, parts

PRELOADED, UPDATED = "Preloaded", "Updated"
_LONGEST_WORD = max(PRELOADED, UPDATED, key=len)
# This begins a denial that carries pages: other tool results in the host's record do not have it.
HELD = "[Held by Handbill]"
_SEPARATOR = " · "
BETWEEN = "\n\n"
_HEX = frozenset("0123456789abcdef")
_OPENINGS = (f"[{PRELOADED}: ", f"[{UPDATED}: ")
_LOOK_ALIKE = (f"[{PRELOADED}:", f"[{UPDATED}:")  # any space may follow
_SAME = ('The same rules as in "', '" apply here. Their text is in this window.')
# Spaces and joiners that people write. Python calls them unprintable, but they are harmless.
_PLAIN_SPACE = frozenset(
    "\n\t\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200c\u200d\u202f\u205f\u3000"
)
_BLANKS = (
    # printable, but invisible
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\ufe0f"
)
_JOINERS = "\u200c\u200d"
# A reader would still recognize a title after these characters.
_BEFORE = "".join(_PLAIN_SPACE) + _BLANKS + "\f\v>*_#-| "
_LINES = 600  # units within which a cut looks for a line end


def units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16")) // 2 - 1


def shown(path: str) -> str:
    """Return a path on one line. It cannot look like a field of a title, whatever its name
    contains."""
    is_plain = path.isprintable() and "\\" not in path and _SEPARATOR not in path
    if is_plain and not any(blank in path for blank in _BLANKS):
        return path
    return path.encode("unicode_escape").decode("ascii")


def quotable(path: str) -> str:
    """Return a path for quotes in our own sentence: a name may look like the rest of that
    sentence."""
    return shown(path) if '"' not in path else path.encode("unicode_escape").decode("ascii").replace('"', "\\x22")


def meant(shown_path: str) -> str:
    """Return the path of a shown one: only escaped paths contain a backslash."""
    try:
        return shown_path.encode("ascii").decode("unicode_escape") if "\\" in shown_path else shown_path
    except ValueError:
        return shown_path  # a foreign line that looks like a title of ours


def title(path: str, digest: str, length: int, part: int = 1, parts: int = 1, word: str = PRELOADED) -> str:
    """Return the first line of a block.

    `length` gives the end of its text, so that no text can pretend to be a block.
    """
    label = f"{_SEPARATOR}part {part}/{parts}" if parts > 1 else ""
    return f"[{word}: {shown(path)}{_SEPARATOR}{digest}{_SEPARATOR}{length}{label}]"


def read_title(line: str) -> Title | None:
    """Return (shown path, digest, part, parts) from a block's first line; None if it is not one."""
    found = _parsed(line)
    return found[0] if found is not None else None


def _parsed(line: str) -> tuple[Title, int] | None:
    """Return the title, and the number of characters of text that follow it."""
    if not line.endswith("]") or not line.startswith(_OPENINGS):
        return None
    fields = line[line.find(": ") + 2 : -1].rsplit(_SEPARATOR, 3)
    part = parts = 1
    if len(fields) == 4 and fields[3].startswith("part "):
        first, _, last = fields.pop()[5:].partition("/")
        if not (_is_number(first, 4) and _is_number(last, 4)):
            return None
        part, parts = int(first), int(last)
    if len(fields) < 3:
        return None
    path, digest, length = _SEPARATOR.join(fields[:-2]), fields[-2], fields[-1]
    if not path.startswith("/") or len(digest) != DIGEST or not _HEX.issuperset(digest) or not 1 <= part <= parts:
        return None
    return ((path, digest, part, parts), int(length)) if _is_number(length, 9) else None


def _is_number(text: str, digits: int) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= digits


def bodies_in(text: str, at: int = 0) -> list[tuple[Title, str]]:
    """Return the blocks in a text from `at` on, with their texts; titles within those do not
    count."""
    found: list[tuple[Title, str]] = []
    while at < len(text):
        end = text.find("\n", at)
        parsed = _parsed(text[at:end]) if end >= 0 else None
        if parsed is None or end + 1 + parsed[1] > len(text):
            break  # not a block of ours, or cut off
        named, length = parsed
        at = end + 1 + length
        found.append((named, text[end + 1 : at]))
        if not text.startswith(BETWEEN, at):
            break
        at += len(BETWEEN)
    return found


def same_rules(other: str) -> str:
    """Return the line that replaces a text which the window has under another name."""
    return f"{_SAME[0]}{quotable(other)}{_SAME[1]}"


def same_rules_as(body: str) -> str:
    """Return the shown path that such a line refers to; "" if it is not such a line."""
    is_line = body.startswith(_SAME[0]) and body.endswith(_SAME[1]) and "\n" not in body
    return body.removeprefix(_SAME[0]).removesuffix(_SAME[1]) if is_line else ""


def unescaped(text: str) -> str:
    found = []
    for line in text.splitlines(keepends=True):
        found.append(line[1:] if line.startswith("\\") and _looks_like_title(line[1:]) else line)
    return "".join(found)


def harmless(text: str) -> str:
    """Escape control characters, which a terminal obeys, and invisible letters."""
    if text.isascii() and text.isprintable():
        return text
    odd = {letter for letter in set(text) if _is_odd(letter)}
    if "\ufe0f\ufe0f" not in text:
        odd.discard("\ufe0f")  # it makes the sign before it an emoji, which people write
    if any(f"{one}{other}" in text for one in _JOINERS for other in _JOINERS):
        odd.update(_JOINERS)  # people write only single joiners
    return text.translate({ord(c): c.encode("unicode_escape").decode() for c in odd}) if odd else text


def _is_odd(letter: str) -> bool:
    if not letter.isprintable():
        return letter not in _PLAIN_SPACE
    return letter in _BLANKS or "\ufe00" <= letter <= "\ufe0f" or "\U000e0100" <= letter <= "\U000e01ef"


def one_line(value: object, most: int = 300) -> str:
    """Return a project's text for a line of ours: on one line, it cannot look like another line."""
    return " ".join(str(value).split())[:most]


def escaped(text: str) -> str:
    """Put a backslash before lines that look like our titles: a reader must not take them for
    titles."""
    if not any(opening in text for opening in _LOOK_ALIKE):
        return text
    lines = text.splitlines(keepends=True)  # a reader may take other characters for line ends, too
    return "".join("\\" + line if _looks_like_title(line) else line for line in lines)


def _looks_like_title(line: str) -> bool:
    """Whether a line looks like a title, even after backslashes: `unescaped` must restore every
    text."""
    return line.lstrip("\\").lstrip(_BEFORE).startswith(_LOOK_ALIKE)


def block(path: str, digest: str, text: str, part: int = 1, parts: int = 1, word: str = PRELOADED) -> str:
    """Return a block. `text` is a part from `parts_of`."""
    return f"{title(path, digest, len(text), part, parts, word)}\n{text}"


def parts_of(path: str, digest: str, text: str, room: int) -> list[str]:
    """Return the file's text as the fewest parts whose blocks each fit in `room`."""
    text = escaped(text)
    if units(block(path, digest, text, word=_LONGEST_WORD)) <= room:
        return [text]
    # Four digits each are enough for the part numbers of any file that we read.
    free = room - units(title(path, digest, len(text), 9999, 9999, _LONGEST_WORD)) - 1
    if free < 200:
        raise ValueError(f"cannot be delivered: its path is too long for a message of {room:,} characters")
    pieces = split(text, free)
    if any(_begins_like_title(*two) for two in zip(pieces, pieces[1:])):
        pieces = split(text, free - 1)
    return [
        pieces[0],
        *("\\" + one if _begins_like_title(before, one) else one for before, one in zip(pieces, pieces[1:])),
    ]


def joined(parts: list[str]) -> str:
    """Return the text that `parts_of` divided."""
    found = parts[:1]
    for part in parts[1:]:
        is_marked = part.startswith("\\") and _begins_like_title(found[-1], part)
        found.append(part[1:] if is_marked else part)
    return "".join(found)


def _begins_like_title(before: str, part: str) -> bool:
    """Whether a cut within a line leaves a beginning that a reader could take for a title of
    ours."""
    return len(f"{before[-1:]}x".splitlines()) == 1 and _looks_like_title(part)


def split(text: str, room: int) -> list[str]:
    """Cut into the fewest pieces of at most `room` units, at line ends if that adds no piece.

    The first piece takes the remainder, so that it can share an event with whole files. Only that
    piece has slack: each cut may move later by no more than the cut before it did.
    """
    wide = text.encode("utf-16")
    mark, wide = wide[:2], wide[2:]
    total = len(wide) // 2
    if not text.isascii():
        room -= 1  # a cut never splits a surrogate pair, which may cost one unit
    count = -(-total // room)
    first = total - (count - 1) * room
    slack = min(room - first, _LINES)  # not all of it: the first piece should stay the smallest
    newline = b"\n\0" if mark == b"\xff\xfe" else b"\0\n"
    cuts = [0]
    for index in range(count - 1):
        nominal = first + index * room
        cut = _line_end(wide, newline, nominal, nominal + slack)
        cut = nominal + slack if cut is None else cut
        slack = cut - nominal
        cuts.append(cut + _inside_pair(wide, mark, cut))
    cuts.append(total)
    return [(mark + wide[2 * a : 2 * b]).decode("utf-16") for a, b in zip(cuts, cuts[1:])]


def _line_end(wide: bytes, newline: bytes, low: int, high: int) -> int | None:
    """Return the last cut in [low, high] that follows a newline."""
    at = wide.rfind(newline, 2 * max(low - 1, 0), 2 * high)
    while at % 2 and at >= 0:  # two adjacent characters can look like a newline between them
        at = wide.rfind(newline, 2 * max(low - 1, 0), at + 1)
    return at // 2 + 1 if at >= 0 else None


def _inside_pair(wide: bytes, mark: bytes, cut: int) -> int:
    before = wide[2 * cut - 1] if mark == b"\xff\xfe" else wide[2 * cut - 2]
    return 1 if 0xD8 <= before <= 0xDB else 0
