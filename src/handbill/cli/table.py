"""A table that fits the terminal: columns wrap, shorten paths, move below the row or disappear."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from handbill.cli.wrapping import SHORTEST_PATH, least_width, shortened_left, with_short_paths, wrapped

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions

_GAP = 2
_INDENT = 2  # columns by which lines below a row are indented
_LEAST_TEXT, _LEAST_PATH = 20, 32  # columns they get before others are moved or left out


class Column:
    """A column, written `name|flags`.

    r: aligned right, for numbers; n: neither wrapped nor shortened, like all numbers; p: a path; +:
    moved below the row if it does not fit; -: left out if it does not fit.
    """

    def __init__(self, written: str) -> None:
        self.name, _, self.flags = written.partition("|")
        self.cells: list[Text] = []

    @property
    def is_rigid(self) -> bool:
        return "r" in self.flags or "n" in self.flags

    @property
    def lines(self) -> list[Text]:
        return [Text(self.name), *(line for cell in self.cells for line in cell.split("\n", allow_blank=True))]

    @property
    def widest(self) -> int:
        return max(line.cell_len for line in self.lines)

    def least(self, tight: bool) -> int:
        if self.is_rigid:
            return self.widest
        if "p" in self.flags:
            return min(self.widest, SHORTEST_PATH if tight else _LEAST_PATH)
        words = max(map(least_width, self.lines))
        return words if tight else max(min(self.widest, _LEAST_TEXT), words)

    def fitted(self, cell: Text, width: int) -> list[Text]:
        """Return the lines of one cell."""
        if self.is_rigid:
            return list(cell.split("\n", allow_blank=True))
        if "p" in self.flags:
            return [shortened_left(line, width) for line in cell.split("\n", allow_blank=True)]
        return wrapped(with_short_paths(cell, width), width)


class Table:
    def __init__(self, columns: tuple[str, ...], title: str) -> None:
        self.columns = [Column(written) for written in columns]
        self.title = title

    def add_row(self, *cells: str) -> None:
        for column, cell in zip(self.columns, cells, strict=True):
            column.cells.append(Text.from_markup(cell))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        for line in self._lines(options.max_width):
            line.no_wrap, line.overflow, line.end = True, "ignore", "\n"
            line.rstrip()
            yield line

    def _lines(self, width: int) -> Iterator[Text]:
        if self.title:
            yield Text(self.title)
        columns = [column for column in self.columns if any(cell.plain.strip() for cell in column.cells)]
        if not columns:
            return
        layout = _layout(columns, width, tight=False) or _layout(columns, width, tight=True)
        if layout is None:
            yield from _stacked(columns, width)
            return
        beside, below, least = layout
        widths = _widths(beside, least, width)
        yield from _row([Text(column.name, "bold") for column in beside], beside, widths)
        if below:
            yield Text(" " * _INDENT + " · ".join(column.name for column in below if column.name), "bold")
        yield Text("─" * _total(widths), "dim")
        for row in range(len(columns[0].cells)):
            yield from _row([column.cells[row] for column in beside], beside, widths)
            yield from _below(below, row, width)


# Side by side, below the row, the least widths.
Layout = tuple[list[Column], list[Column], list[int]]


def _layout(columns: list[Column], width: int, *, tight: bool) -> Layout | None:
    """Place as many columns as possible side by side, then as many as possible in all.

    Return None if not even that fits.
    """
    lesser = [column for column in columns if "-" in column.flags]
    below = [column for column in columns if "+" in column.flags]
    for under in ([], below):
        for left_out in range(len(lesser) + 1):
            gone = [*lesser[len(lesser) - left_out :], *under]
            beside = [column for column in columns if column not in gone]
            least = [column.least(tight) for column in beside]
            if beside and _total(least) <= width:
                return beside, under, least
    return None


def _total(widths: list[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)


def _widths(columns: list[Column], least: list[int], width: int) -> list[int]:
    """Return the widths. Columns that need more than the least width share the rest."""
    widths = list(least)
    left = width - _total(least)
    while left > 0:
        short = [number for number, column in enumerate(columns) if widths[number] < column.widest]
        if not short:
            break
        share = max(1, left // len(short))
        for number in short[:left]:
            more = min(share, columns[number].widest - widths[number])
            widths[number] += more
            left -= more
    return widths


def _row(cells: list[Text], columns: list[Column], widths: list[int]) -> Iterator[Text]:
    fitted = [column.fitted(cell, width) for column, cell, width in zip(columns, cells, widths, strict=True)]
    for number in range(max(map(len, fitted))):
        yield _joined(columns, [lines[number] if number < len(lines) else Text() for lines in fitted], widths)


def _joined(columns: list[Column], pieces: list[Text], widths: list[int]) -> Text:
    line = Text()
    for number, (column, piece, width) in enumerate(zip(columns, pieces, widths, strict=True)):
        space = " " * (width - piece.cell_len)
        line.append(" " * _GAP if number else "")
        line = line + (Text(space) + piece if "r" in column.flags else piece + Text(space))
    return line


def _below(columns: list[Column], row: int, width: int) -> Iterator[Text]:
    cells = [column.cells[row] for column in columns if column.cells[row].plain.strip()]
    if cells:
        text = with_short_paths(Text(" · ").join(cells), width - _INDENT)
        for line in wrapped(text, width - _INDENT):
            yield Text(" " * _INDENT) + line


def _stacked(columns: list[Column], width: int) -> Iterator[Text]:
    """Yield a line for each cell, when nothing fits side by side."""
    first, *others = columns
    for row in range(len(first.cells)):
        yield from wrapped(with_short_paths(first.cells[row], width), width)
        for column in others:
            if column.cells[row].plain.strip():
                label = Text(f"{column.name}: " if column.name else "")
                text = with_short_paths(label + column.cells[row], width - _INDENT)
                yield from (Text(" " * _INDENT) + line for line in wrapped(text, width - _INDENT))
