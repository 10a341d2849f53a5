"""How output looks to people: one console, short paths, and readable times and sizes."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from handbill.cli.clean import one_line
from handbill.reports.plain_text import count as count  # the verbs import all of it from here
from handbill.reports.plain_text import moment_of, path_name
from handbill.reports.plain_text import own_page as own_page
from handbill.reports.plain_text import when as when

if TYPE_CHECKING:
    from rich.console import Console

    from handbill.cli.table import Table


_WIDE = 10_000  # columns: a pipe accepts lines of any length


def console() -> Console:
    from handbill.cli.word_console import WordConsole

    width = None if os.isatty(1) or "COLUMNS" in os.environ else _WIDE
    return WordConsole(width=width, highlight=False, soft_wrap=False)


def table(*columns: str, title: str = "") -> Table:
    """Return a table. `Column` describes the flags in the names of columns."""
    from handbill.cli.table import Table

    return Table(columns, title)


def labelled(screen: Console, label: str, text: str, *, whole_paths: bool = False) -> None:
    """Print a label and its text. Further lines are indented to the text's first word."""
    from rich.text import Text

    from handbill.cli.wrapping import with_short_paths, wrapped

    begin, rest = Text.from_markup(label), Text.from_markup(text)
    rest = rest if whole_paths else with_short_paths(rest, screen.width - begin.cell_len)
    for line in wrapped(begin + rest, screen.width, begin.cell_len):
        screen.print(line, soft_wrap=True)


def safe(text: str) -> str:
    """Return outside text on one line and escaped, so that a `[x]` in it is not read as a style."""
    from rich.markup import escape

    return escape(one_line(text))


def shortened(text: str, most: int) -> str:
    """Shorten a text, between two words if possible."""
    if len(text) <= most:
        return text
    start = text[:most]
    return f"{start[: start.rfind(' ')].rstrip(' ,;.')} …" if " " in start else f"{text[: most - 1]}…"


def listed(names: list[str], most: int = 10) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def short(path: str, project: str = "") -> str:
    """Return a path in its usual short form, safe to use between markup."""
    return safe(path_name(path, project, os.path.expanduser("~")))


def stamp() -> str:
    """Return the current time in UTC, for records. People see their local time."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def when_written(written: str) -> str:
    """Return the local time of a stamp."""
    moment = moment_of(written)
    return when(moment) if moment else written or "–"


def ago(moment: float) -> str:
    seconds = max(0.0, time.time() - moment)
    for size, word in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {word} ago"
    return "just now"


STATE_STYLE = {
    "confirmed": "green", "seen": "green", "assumed": "green", "sent": "yellow", "pending": "yellow",
    "partial": "yellow", "updated": "cyan", "lost": "red", "truncated": "red",
}  # fmt: skip


def styled(state: str) -> str:
    style = STATE_STYLE.get(state, "")
    return f"[{style}]{state}[/]" if style else state
