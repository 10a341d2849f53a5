"""Adding to a JSON text, and taking that out again: every other byte stays as it is.

What is added looks like what is around it. An object or array that was empty before keeps a sign
behind what was added, so that it is empty again afterwards; one without that sign was made by us
and goes away with what is in it.

    file            an empty one (gap) gets              one that we made
    several lines   NEW, line end, gap, line end, `}`    NEW, line end, `}`
    one line        NEW, two spaces, gap, `}`            NEW, `}`
"""

from __future__ import annotations

from handbill.text.json_tree import GAP, Item, Value, after_gap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    # (indentation, or None for one line; is a colon followed by a space?) -> the new text, with \n between lines
    Render = Callable[[str | None, bool], str]
    Path = Sequence[tuple[Value, int]]  # from the root on: a box, and which of its items

_USUAL = "  "
_MARK = "  "


class Style:
    """How a file is written: in lines that are indented by `indent` (None: in one line)."""

    __slots__ = ("indent", "newline", "spaced")

    def __init__(self, text: str, root: Value) -> None:
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self.indent: str | None = _USUAL
        self.spaced = True
        if root.items:
            first = root.items[0]
            gap = text[root.start + 1 : first.start]
            self.indent = gap[gap.rfind("\n") + 1 :] if "\n" in gap else None
            self.spaced = text[first.value.start - 1] in GAP


def insert(text: str, box: Value, style: Style, render: Render) -> str:
    """A new last item of a box."""
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
    """Another value in the place of an item's value."""
    return text[: item.value.start] + _written(_gap_before(text, item), style, render) + text[item.value.end :]


def remove(text: str, path: Path) -> str | None:
    """Without an item, and without the boxes that were made for it; None: the root was made for it, too."""
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
    """The first item of a box that was empty."""
    gap = text[box.start + 1 : box.end - 1]
    if style.indent is None:
        new = render(None, style.spaced) + _MARK + gap
    else:
        line = text.rfind("\n", 0, box.start) + 1
        outer = text[line : after_gap(text, line)]
        inner = style.newline + outer + style.indent
        new = inner + _written(inner, style, render) + style.newline + gap + style.newline + outer
    return text[: box.start + 1] + new + text[box.end - 1 :]


def _gap_of_before(tail: str) -> str | None:
    """The gap of a box that was empty, from what is behind its only item; None: it was made by us."""
    if tail.startswith(_MARK):
        return tail[len(_MARK) :]
    newline = "\r\n" if tail.startswith("\r\n") else "\n"
    last = tail.rfind(newline)
    return tail[len(newline) : last] if tail.startswith(newline) and last else None


def _written(gap: str, style: Style, render: Render) -> str:
    """As it is written behind that gap: in as many lines as what is around it."""
    if "\n" not in gap:
        return render(None, style.spaced)
    new = render(_USUAL if style.indent is None else style.indent, style.spaced)
    return new.replace("\n", _line_break(gap))


def _gap_before(text: str, item: Item) -> str:
    before = text[: item.start]
    return before[len(before.rstrip(GAP)) :]


def _line_break(gap: str) -> str:
    """The last line break of a gap, with the indentation behind it."""
    at = gap.rfind("\n")
    return gap[at - 1 if gap[at - 1 : at] == "\r" else at :]
