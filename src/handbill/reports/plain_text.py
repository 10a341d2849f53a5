"""Numbers, moments and paths as they are written in a sentence: plain text, without markup or styles."""

from __future__ import annotations

import time
from datetime import datetime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def count(number: int, word: str, several: str = "") -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {several or word + 's'}"


def moment_of(written: str) -> float:
    """The moment that a stamp such as 2026-01-31T10:00:00Z means; 0.0 if the text is not such a stamp."""
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        return 0.0
    return moment.timestamp() if moment.tzinfo is not None else 0.0


def when(moment: float) -> str:
    """In the time of the person's own zone."""
    if not moment:
        return "–"
    same_day = time.strftime("%Y%m%d", time.localtime(moment)) == time.strftime("%Y%m%d")
    return time.strftime("%H:%M:%S" if same_day else "%Y-%m-%d %H:%M", time.localtime(moment))


def own_page(path: str) -> str:
    """The name of a page that a gate wrote: its file name ends in a digest. Empty for every other file."""
    at = path.find("/.engine/pages/")
    return "page:" + path[at + 15 :].rpartition("-")[0] if at >= 0 else ""


def path_name(path: str, project: str, home: str) -> str:
    """A path as people say it: from the project, from the library, or from the home folder."""
    library = path.find("/handbill/data/")
    own = own_page(path)
    if own:
        return own
    if project and (path == project or path.startswith(project + "/")):
        return path[len(project) + 1 :] or "."
    if library >= 0:
        return "library:" + path[library + 15 :].removeprefix("directives/")
    return "~" + path[len(home) :] if path.startswith(home + "/") else path


def like(word: str, known: Iterable[str]) -> str:
    """` (did you mean …?)`, where something there is looks like it."""
    import difflib

    by_lower = {name.lower(): name for name in known}
    found = difflib.get_close_matches(word.strip("/").lower(), list(by_lower), 1)
    return f" (did you mean {by_lower[found[0]]}?)" if found else ""
