"""How things look to people: one console, paths shortened, times and sizes in words."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from handbill.cli.clean import one_line
from handbill.reports.plain_text import count as count  # the verbs have all of it from here
from handbill.reports.plain_text import moment_of, path_name
from handbill.reports.plain_text import own_page as own_page
from handbill.reports.plain_text import when as when

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


def console() -> Console:
    from rich.console import Console

    from handbill.cli.clean_output import CleanOutput

    # Without a terminal rich falls back to 80 columns and would cut paths that a pipe could carry.
    width = None if os.isatty(1) or "COLUMNS" in os.environ else 160
    made = Console(width=width, highlight=False, soft_wrap=False)
    made.push_render_hook(CleanOutput())  # the single exit: nothing raw gets past it
    return made


def table(*columns: str, title: str = "") -> Table:
    from rich import box
    from rich.table import Table

    made = Table(title=title or None, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for column in columns:
        name, _, how = column.partition("|")
        made.add_column(name, justify="right" if "r" in how else "left", overflow="fold", no_wrap="n" in how)
    return made


def safe(text: str) -> str:
    """Text from outside, between markup: a `[x]` in it is not a style, and it stays on its line."""
    from rich.markup import escape

    return escape(one_line(text))


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def listed(names: list[str], most: int = 10) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def short(path: str, project: str = "") -> str:
    """A path as people say it, safe to stand between markup."""
    return safe(path_name(path, project, os.path.expanduser("~")))


def stamp() -> str:
    """Now, as it is written down: in UTC. People are shown their own time."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def when_written(written: str) -> str:
    """A stamp, as the time that it was here."""
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
