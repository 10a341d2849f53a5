"""How things look to people: one console, paths shortened, times and sizes in words."""

from __future__ import annotations

import os
import time
from datetime import datetime
from typing import TYPE_CHECKING

from handbill.cli.clean import one_line
from handbill.text.tokens import PER_TOKEN

if TYPE_CHECKING:
    from rich.console import Console

    from handbill.cli.table import Table


_WIDE = 10_000  # columns: a pipe carries lines of any length


def console() -> Console:
    from handbill.cli.word_console import WordConsole

    width = None if os.isatty(1) or "COLUMNS" in os.environ else _WIDE
    return WordConsole(width=width, highlight=False, soft_wrap=False)


def table(*columns: str, title: str = "") -> Table:
    """See `Column` for the flags behind the names of columns."""
    from handbill.cli.table import Table

    return Table(columns, title)


def labelled(screen: Console, label: str, text: str, *, whole_paths: bool = False) -> None:
    """A line that begins with `label`; the lines that its text needs besides begin below the text's first word."""
    from rich.text import Text

    from handbill.cli.wrapping import with_short_paths, wrapped

    begin, rest = Text.from_markup(label), Text.from_markup(text)
    rest = rest if whole_paths else with_short_paths(rest, screen.width - begin.cell_len)
    for line in wrapped(begin + rest, screen.width, begin.cell_len):
        screen.print(line, soft_wrap=True)


def safe(text: str) -> str:
    """Text from outside, between markup: a `[x]` in it is not a style, and it stays on its line."""
    from rich.markup import escape

    return escape(one_line(text))


def shortened(text: str, most: int) -> str:
    """Cut between two words, if the text has words."""
    if len(text) <= most:
        return text
    start = text[:most]
    return f"{start[: start.rfind(' ')].rstrip(' ,;.')} …" if " " in start else f"{text[: most - 1]}…"


def count(number: int, word: str, several: str = "") -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {several or word + 's'}"


def listed(names: list[str], most: int = 10) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def own_page(path: str) -> str:
    """What a gate said, by name: the file's own ends in a digest. Empty: it is no such page."""
    at = path.find("/.engine/pages/")
    return "page:" + path[at + 15 :].rpartition("-")[0] if at >= 0 else ""


def short(path: str, project: str = "") -> str:
    """A path as people say it, safe to stand between markup."""
    home = os.path.expanduser("~")
    library = path.find("/handbill/data/")
    own = own_page(path)
    if own:
        path = own
    elif project and (path == project or path.startswith(project + "/")):
        path = path[len(project) + 1 :] or "."
    elif library >= 0:
        path = "library:" + path[library + 15 :].removeprefix("directives/")
    elif path.startswith(home + "/"):
        path = "~" + path[len(home) :]
    return safe(path)


def stamp() -> str:
    """Now, as it is written down: in UTC. People are shown their own time."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def moment_of(written: str) -> float:
    """When that was; 0.0: it is not such a stamp."""
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        return 0.0
    return moment.timestamp() if moment.tzinfo is not None else 0.0


def when_written(written: str) -> str:
    """A stamp, as the time that it was here."""
    moment = moment_of(written)
    return when(moment) if moment else written or "–"


def when(moment: float) -> str:
    """In the time of the person's own zone."""
    if not moment:
        return "–"
    same_day = time.strftime("%Y%m%d", time.localtime(moment)) == time.strftime("%Y%m%d")
    return time.strftime("%H:%M:%S" if same_day else "%Y-%m-%d %H:%M", time.localtime(moment))


def ago(moment: float) -> str:
    seconds = max(0.0, time.time() - moment)
    for size, word in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {word} ago"
    return "just now"


def tokens(chars: int) -> int:
    """An estimate, where only the length is known."""
    return round(chars / PER_TOKEN)


STATE_STYLE = {
    "confirmed": "green", "seen": "green", "assumed": "green", "sent": "yellow", "pending": "yellow",
    "partial": "yellow", "updated": "cyan", "lost": "red", "truncated": "red",
}  # fmt: skip


def styled(state: str) -> str:
    style = STATE_STYLE.get(state, "")
    return f"[{style}]{state}[/]" if style else state
