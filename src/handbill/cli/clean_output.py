"""The single exit for what rich draws: cleaned after it was laid out; rich's own colors are not text."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.segment import Segment

from handbill.cli.clean import clean


class CleanOutput(RenderHook):
    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_Cleaned(one) for one in renderables]


class _Cleaned:
    def __init__(self, inner: ConsoleRenderable) -> None:
        self.inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        pieces: Iterable[Segment] = console.render(self.inner, options)
        for text, style, control in pieces:
            yield Segment(text if control else clean(text), style, control)
