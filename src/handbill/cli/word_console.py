"""Draws all command output: lines break only between words, and all text is cleaned."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.segment import Segment
from rich.text import Text

from handbill.cli.clean import clean
from handbill.cli.table import Table
from handbill.cli.wrapping import with_short_paths, wrapped


class WordConsole(Console):
    """A console that does not break long words.

    rich breaks a word that is longer than a line. This class shortens a path and leaves any other
    word unchanged.
    """

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        self.push_render_hook(_CleanOutput())
        self._last: type[Any] | None = None  # the type of the last printed object

    def print(self, *objects: Any, **how: Any) -> None:
        """Print with a blank line around each table."""
        kind = type(objects[0]) if objects else str
        if self._last is not None and Table in (kind, self._last):
            super().print()
        self._last = kind
        self._print_fitting(*objects, **how)

    def _print_fitting(self, *objects: Any, **how: Any) -> None:
        if how or len(objects) != 1 or not isinstance(objects[0], str):
            super().print(*objects, **{"crop": False, **how})
            return
        indent = len(objects[0]) - len(objects[0].lstrip(" "))
        text = with_short_paths(Text.from_markup(objects[0]), self.width - indent)
        for line in wrapped(text, self.width, indent):
            super().print(line, soft_wrap=True)


class _CleanOutput(RenderHook):
    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_Cleaned(one) for one in renderables]


class _Cleaned:
    """Output that is cleaned after layout. The colors that rich adds are kept."""

    def __init__(self, inner: ConsoleRenderable) -> None:
        self.inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        pieces: Iterable[Segment] = console.render(self.inner, options)
        for text, style, control in pieces:
            yield Segment(text if control else clean(text), style, control)
