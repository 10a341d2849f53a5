"""Markdown without its code and HTML: the lines in which a host looks for imports. As a host reads it, so do we."""

from __future__ import annotations

from handbill.core.markdown import list_marker, live

_CODE = 4  # columns
_RAW = ("pre", "script", "style", "textarea")  # these end with their own closing tag, not with an empty line
_BLOCKS = (
    " address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link "
    "main menu menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead "
    "title tr track ul "
)
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789-"
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
            self.closing = "" if self.closing in rest.lower() else self.closing
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
        return not self._opens_html(rest, fresh)

    def _opens_html(self, rest: str, fresh: bool) -> bool:
        """Does a block of HTML begin? Other tags are a part of the text, unless one is all that a line has."""
        if rest.startswith(("<!", "<?")):
            self.in_html = True
            return True
        name = _tag(rest)
        alone = fresh and rest.find(">") == len(rest) - 1
        if name not in _RAW and f" {name} " not in _BLOCKS and not (name and alone):
            return False
        closing = f"</{name}" if name in _RAW and not rest.startswith("</") else ""
        self.closing = closing if closing not in rest.lower() else ""
        self.in_html = not closing
        return True


def _tag(text: str) -> str:
    """The name of the tag that the text begins with."""
    inner = text[1:].removeprefix("/").lower() if text.startswith("<") else ""
    rest = inner.lstrip(_LETTERS)
    return inner[: len(inner) - len(rest)] if rest[:1] in ("", " ", ">", "/") else ""


def _unquoted(line: str) -> tuple[int, str]:
    """(the column of its first letter, the rest) of a line, inside of the quotes that it is in."""
    rest = line.lstrip(" ")
    column = len(line) - len(rest)
    while rest.startswith(">") and column < _CODE:
        inner = rest[1:].removeprefix(" ")
        rest = inner.lstrip(" ")
        column = len(inner) - len(rest)
    return column, rest.rstrip()
