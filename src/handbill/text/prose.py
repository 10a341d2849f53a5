"""Markdown without code and HTML: the lines in which a host looks for imports.

The text is parsed as the host parses it.
"""

from __future__ import annotations

from handbill.text.markdown import list_marker, live

_CODE = 4  # columns
# these end with their own closing tag, not with an empty line
_RAW = ("pre", "script", "style", "textarea")
_BLOCKS = (
    " address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link "
    "main menu menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead "
    "title tr track ul "
)
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789-"
_MOST_LISTS = 20  # nested lists


def prose(text: str) -> list[str]:
    """Return the paragraphs without code, HTML, comments, link targets, images and definitions.

    Text that may not be prose is omitted.
    """
    reader = _Reader()
    found: list[list[str]] = [[]]
    for line in _without_comments(live(_without_head(text))).split("\n"):
        is_prose = reader.is_prose(line)
        if not is_prose or reader.is_new:
            found.append([])
        if is_prose:
            found[-1].append(reader.text)
    return [visible("\n".join(lines)) for lines in found if lines]


def _without_head(text: str) -> str:
    """Remove a page's frontmatter, which is between two lines of dashes."""
    if not text.removeprefix("\ufeff").startswith("---"):
        return text
    lines = text.split("\n")
    ends = [number for number, line in enumerate(lines) if number and line.rstrip() == "---"]
    return "\n".join(lines[ends[0] + 1 :]) if ends and lines[0].strip("\ufeff \t\r") == "---" else text


def _without_comments(text: str) -> str:
    first, *others = text.split("<!--")
    return first + "".join(piece.partition("-->")[2] for piece in others)


class _Reader:
    """A reader of lines. `lists`: the columns in which the text of each open list item begins."""

    def __init__(self) -> None:
        self.lists: list[int] = []
        self.in_code = self.in_html = False
        self.after_blank = True
        self.closing = ""  # closing tag of an HTML block that no empty line ends
        self.is_new = False  # the last line began a list item or a heading
        self.text = ""  # text of the last line

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
        self.is_new = bool(width) or rest.startswith("#")
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
                return False  # the first line of the item is code
            rest = inner
            width = list_marker(rest)
        self.text = rest
        return not self._opens_html(rest, fresh)

    def _opens_html(self, rest: str, fresh: bool) -> bool:
        """Whether a block of HTML begins. Other tags are part of the text unless one is the whole
        line."""
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
    """Return the name of the tag at the beginning of a text."""
    inner = text[1:].removeprefix("/").lower() if text.startswith("<") else ""
    rest = inner.lstrip(_LETTERS)
    return inner[: len(inner) - len(rest)] if rest[:1] in ("", " ", ">", "/") else ""


def _unquoted(line: str) -> tuple[int, str]:
    """Return (column of the first letter, rest) of a line without its quote marks."""
    begins = at = 0
    while True:
        while line.startswith(" ", at):
            at += 1
        if not line.startswith(">", at) or at - begins >= _CODE:
            return at - begins, line[at:].rstrip()
        at += 1
        begins = at = at + 1 if line.startswith(" ", at) else at


# --- one paragraph --------------------------------------------------------------------------


def visible(paragraph: str) -> str:
    """Remove definitions, images, link targets and tags. An unclosed one ends the paragraph."""
    if "@" not in paragraph:
        return ""
    text = _without_definitions(paragraph)
    kept: list[str] = []
    begins = at = 0
    while at < len(text):
        if text[at] == "\\":
            at += 2  # the next character is literal
            continue
        end = _end_of_hidden(text, at)
        if end > at:
            kept.append(text[begins:at])
            begins = at = end
        else:
            at += 1
    return " ".join([*kept, text[begins:]])


def _end_of_hidden(text: str, at: int) -> int:
    """Return the end of the image, target or tag that begins here; `at` if none does."""
    letter, two = text[at], text[at : at + 2]
    if two in ("<!", "<?"):
        return len(text)  # it may contain anything
    if letter == "<" and (two[1:].isalpha() or two == "</"):
        end = text.find(">", at) + 1
        tag = text[at:end]
        return end if end and not tag.count('"') % 2 and not tag.count("'") % 2 else len(text)
    if two == "![":
        end = _closed(text, at + 1)
        return _closed(text, end) if text[end : end + 1] in ("(", "[") else end
    return _closed(text, at + 1) if two in ("](", "][") else at


def _closed(text: str, at: int) -> int:
    """Return the position after the closing bracket; the end of the text if it is missing."""
    opening, closing = text[at], {"(": ")", "[": "]"}[text[at]]
    depth = 0
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] == opening:
            depth += 1
        elif text[at] == closing:
            depth -= 1
            if not depth:
                return at + 1
        at += 1
    return len(text)


_TITLE = ('"', "'", "(")


def _without_definitions(paragraph: str) -> str:
    """Remove `[name]: target "title"`, whose three parts may be on separate lines."""
    lines = paragraph.split("\n")
    kept: list[str] = []
    last = max((number for number, line in enumerate(lines) if "]:" in line), default=-1)
    for number, line in enumerate(lines):
        _, mark, target = line.partition("]:")
        following = "".join(lines[number + 1 : number + 2])
        if not line.startswith("[") or (not mark and ("]" in line or number >= last)):
            kept.append(line)
        elif not target.strip() or any(sign in target for sign in _TITLE) or following.startswith(_TITLE):
            break
    return "\n".join(kept)
