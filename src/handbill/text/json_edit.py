"""Add an item to a JSON text and remove it again, without changing any other byte.

The new item has the style of the text around it. An object or array that was empty before gets a
mark after the item, so that it is empty again after the removal. A box without that mark was made
by us, and is removed with its item.

    file            an empty one (gap) gets              one that we made
    several lines   NEW, line end, gap, line end, `}`    NEW, line end, `}`
    one line        NEW, two spaces, gap, `}`            NEW, `}`
"""

from __future__ import annotations

from handbill.text.json_tree import GAP, Item, Value, after_gap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    # (indentation or None for one line, space after colons) -> the new text, with \n between lines
    Render = Callable[[str | None, bool], str]
    Path = Sequence[tuple[Value, int]]  # from the root: a box, and the index of one of its items

_DEEPEST = 40  # characters of an indentation that is kept; a file may have thousands
_USUAL = "  "
_MARK = "  "


class Style:
    """The style of a file: lines indented by `indent`; None for one line."""

    __slots__ = ("indent", "newline", "spaced")

    def __init__(self, text: str, root: Value) -> None:
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self.indent: str | None = _USUAL
        self.spaced = True
        if root.items:
            first = root.items[0]
            gap = text[root.start + 1 : first.start]
            indent = gap[gap.rfind("\n") + 1 :]
            self.indent = (indent if len(indent) <= _DEEPEST else _USUAL) if "\n" in gap else None
            self.spaced = text[first.value.start - 1] in GAP


def insert(text: str, box: Value, style: Style, render: Render) -> str:
    """Append an item to a box."""
    if not box.items:
        return _filled(text, box, style, render)
    last = box.items[-1]
    gap = _gap_before(text, last)
    if "\n" not in gap and len(box.items) == 1:
        gap = " " if style.spaced else ""
    if "\n" in gap:
        gap = _line_break(gap)
    return f"{text[: last.value.end]},{gap}{_written(gap, style, render)}{text[last.value.end :]}"


def replace(text: str, item: Item, style: Style, render: Render) -> str:
    """Replace the value of an item."""
    return text[: item.value.start] + _written(_gap_before(text, item), style, render) + text[item.value.end :]


def remove(text: str, path: Path) -> str | None:
    """Remove an item and the boxes made for it. Return None if the root was made for it, too."""
    box, index = path[-1]
    items = box.items
    if index:
        return text[: items[index - 1].value.end] + text[items[index].value.end :]
    if len(items) > 1:
        return text[: items[0].start] + text[items[1].start :]
    gap = _gap_of_before(text[items[0].value.end : box.end - 1])
    if gap is not None:
        return text[: box.start + 1] + gap + text[box.end - 1 :]
    return remove(text, path[:-1]) if len(path) > 1 else None


def _filled(text: str, box: Value, style: Style, render: Render) -> str:
    """Insert the first item of an empty box."""
    gap = text[box.start + 1 : box.end - 1]
    if style.indent is None:
        new = render(None, style.spaced) + _MARK + gap
    else:
        line = text.rfind("\n", 0, box.start) + 1
        outer = text[line : after_gap(text, line)]
        # A line may begin with thousands of spaces: they are not repeated in each of our lines.
        outer = outer if len(outer) <= _DEEPEST else ""
        inner = style.newline + outer + style.indent
        new = inner + _written(inner, style, render) + style.newline + gap + style.newline + outer
    return text[: box.start + 1] + new + text[box.end - 1 :]


def _gap_of_before(tail: str) -> str | None:
    """Return a box's former gap from the text after its only item; None if we made the box."""
    if tail.startswith(_MARK):
        return tail[len(_MARK) :]
    newline = "\r\n" if tail.startswith("\r\n") else "\n"
    last = tail.rfind(newline)
    return tail[len(newline) : last] if tail.startswith(newline) and last else None


def _written(gap: str, style: Style, render: Render) -> str:
    """Return the new text as it is written after that gap, in one line or several."""
    if "\n" not in gap:
        return render(None, style.spaced)
    new = render(_USUAL if style.indent is None else style.indent, style.spaced)
    line_break = _line_break(gap)
    return new.replace("\n", line_break if len(line_break) <= _DEEPEST else "\n")


def _gap_before(text: str, item: Item) -> str:
    before = text[: item.start]
    return before[len(before.rstrip(GAP)) :]


def _line_break(gap: str) -> str:
    """Return the last line break of a gap, with the indentation after it."""
    at = gap.rfind("\n")
    return gap[at - 1 if gap[at - 1 : at] == "\r" else at :]
