"""Markdown without its code and HTML: the lines in which a host looks for imports. As a host reads it, so do we."""

from __future__ import annotations

from handbill.core.markdown import list_marker, live

_CODE = 4  # columns
_RAW = ("<pre", "<script", "<style", "<textarea")  # these end with their own closing tag, not with an empty line
_MOST_LISTS = 20  # in each other


def prose(text: str) -> list[str]:
    """Lines outside of fences, code spans, comments, indented code and HTML. Where it is not certain that a line is
    prose, it is left out."""
    reader = _Reader()
    return [line for line in _without_comments(live(text)).split("\n") if reader.is_prose(line)]


def _without_comments(text: str) -> str:
    first, *others = text.split("<!--")
    return first + "".join(piece.partition("-->")[2] for piece in others)


class _Reader:
    """Reads line by line. `lists`: the columns in which the text of each open list item begins."""

    def __init__(self) -> None:
        self.lists: list[int] = []
        self.in_code = self.in_html = False
        self.after_blank = True
        self.closing = ""  # of an HTML block that no empty line ends

    def is_prose(self, line: str) -> bool:
        column, rest = _unquoted(line.expandtabs(_CODE))
        if self.closing:
            self.closing = "" if self.closing in rest else self.closing
            return False
        if not rest:
            self.after_blank, self.in_html = True, False
            return False
        fresh, self.after_blank = self.after_blank or self.in_code, False
        width = list_marker(rest)
        if fresh or width:
            while self.lists and column < self.lists[-1]:
                self.lists.pop()
        self.in_code = fresh and column - (self.lists[-1] if self.lists else 0) >= _CODE
        if self.in_code or self.in_html:
            return False
        while width and len(self.lists) < _MOST_LISTS:
            inner = rest[width:].lstrip(" ")
            column += len(rest) - len(inner)
            self.lists.append(column)
            if len(rest) - width - len(inner) >= _CODE:
                return False  # code in the first line of the item
            rest = inner
            width = list_marker(rest)
        return not self._opens_html(rest)

    def _opens_html(self, rest: str) -> bool:
        second = rest[1:2]
        if not rest.startswith("<") or not (second.isalpha() or second in ("/", "!", "?")):
            return False
        name = next((name for name in _RAW if rest.lower().startswith(name)), "")
        closing = f"</{name[1:]}"
        self.in_html, self.closing = not name, closing if name and closing not in rest.lower() else ""
        return True


def _unquoted(line: str) -> tuple[int, str]:
    """(the column of its first letter, the rest) of a line, inside of the quotes that it is in."""
    rest = line.lstrip(" ")
    column = len(line) - len(rest)
    while rest.startswith(">") and column < _CODE:
        inner = rest[1:].removeprefix(" ")
        rest = inner.lstrip(" ")
        column = len(inner) - len(rest)
    return column, rest.rstrip()
