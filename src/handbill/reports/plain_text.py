"""Numbers, times and paths as plain text for sentences, without markup or styles."""

from __future__ import annotations

import time
from datetime import datetime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def count(number: int, word: str, several: str = "") -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {several or word + 's'}"


def moment_of(written: str) -> float:
    """Return the time of a stamp such as 2026-01-31T10:00:00Z; 0.0 if the text is not a stamp."""
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        return 0.0
    return moment.timestamp() if moment.tzinfo is not None else 0.0


def when(moment: float) -> str:
    """Return a time in the local time zone."""
    if not moment:
        return "–"
    same_day = time.strftime("%Y%m%d", time.localtime(moment)) == time.strftime("%Y%m%d")
    return time.strftime("%H:%M:%S" if same_day else "%Y-%m-%d %H:%M", time.localtime(moment))


def own_page(path: str) -> str:
    """Return the name of a page that a gate wrote, without the digest; empty for any other file."""
    at = path.find("/.engine/pages/")
    return "page:" + path[at + 15 :].rpartition("-")[0] if at >= 0 else ""


def path_name(path: str, project: str, home: str) -> str:
    """Return a path in its usual short form: from the project, the library or the home folder."""
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
    """Return ` (did you mean …?)` if a known name is similar; empty otherwise."""
    import difflib

    by_lower = {name.lower(): name for name in known}
    found = difflib.get_close_matches(word.strip("/").lower(), list(by_lower), 1)
    return f" (did you mean {by_lower[found[0]]}?)" if found else ""
