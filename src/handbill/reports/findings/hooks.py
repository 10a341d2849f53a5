"""Checks of recent hooks: whether their deliveries arrived, and which errors occurred."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from handbill.errors import HandbillError
from handbill.ledger.window import state_of
from handbill.reports.findings import BAD, NOTE, OK, RECENT, Finding
from handbill.reports.plain_text import count, when
from handbill.reports.receipts import with_newest_receipts
from handbill.reports.store_files import error_log, newest_windows

if TYPE_CHECKING:
    from handbill.project import Project
    from handbill.reports.store_files import Line

_WINDOWS = 20
_MOST_ERRORS = 20
_TOGETHER = 10  # seconds: the lanes of one event report the same error within this time


def receipts(project: Project) -> Iterator[Finding]:
    """Report whether deliveries to the newest windows arrived."""
    keys = newest_windows(project.store, _WINDOWS)
    found: dict[str, int] = {}
    for key in keys:
        try:
            window = project.store.read(key)
        except HandbillError:
            continue  # the check of the state reports it
        for record in with_newest_receipts(window, project.world()).files.values() if window else ():
            name = state_of(record)
            found[name] = found.get(name, 0) + 1
    if not found:
        yield Finding("receipts", NOTE, "nothing was delivered yet")
        return
    text = ", ".join(f"{number} {name}" for name, number in sorted(found.items()))
    bad = found.get("truncated", 0)
    proven = found.keys() & {"confirmed", "assumed", "seen"}
    state = BAD if bad else OK if proven else NOTE
    text += "" if proven else " (none confirmed yet: the next event checks)"
    yield Finding("receipts", state, f"last {count(len(keys), 'window')}: {text}", "engine window" if bad else "")


def trace(project: Project) -> Iterator[Finding]:
    """Report errors in hooks, the newest last. Repeated errors are reported once."""
    seen: dict[str, list[Line]] = {}
    for line in error_log(project.store):
        if time.time() - float(line.get("ts", 0)) < RECENT:
            seen.setdefault(str(line.get("error")), []).append(line)
    if not seen:
        yield Finding("errors", OK, "no errors in the last 7 days")
    if len(seen) > _MOST_ERRORS:
        text = f"{len(seen):,} different errors; the newest {_MOST_ERRORS} follow"
        yield Finding("errors", BAD, text, "fix these first")
    for text, lines in list(seen.items())[-_MOST_ERRORS:]:
        last = lines[-1]
        moments = len({(line.get("window"), int(float(line.get("ts", 0)) // _TOGETHER)) for line in lines})
        times = f" ({moments}×)" if moments > 1 else ""
        fix = str(last.get("hint") or "once it is fixed: engine doctor --forget")
        moment = when(float(last.get("ts", 0)))
        yield Finding("errors", BAD, f"{moment} {last.get('where')}: {text}{times}", fix)
