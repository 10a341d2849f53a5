"""The sessions of a project, their states, and the search for them.

A session is a piece of work.
"""

from __future__ import annotations

import datetime
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from handbill.errors import HandbillError
from handbill.reports.plain_text import moment_of
from handbill.store import sessions
from handbill.work.session import ACTIVE, holder_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from handbill.work.session import Holder, State

    IsAlive = Callable[[Holder], bool]

RECENT = 7  # days


@dataclass
class SessionRow:
    name: str
    path: str  # the session's folder
    state: str  # a value of `condition`, or "broken" if the state cannot be read
    lifecycle: str
    skill: str
    phase: str
    held: str  # the number of the process that works on it; empty if none does
    task: str
    problem: str  # why the state cannot be read
    changed: float
    started: str  # a stamp


@dataclass
class FoundSession(SessionRow):
    day: str  # as 2026-01-31
    words: str  # the text that a search by topic uses


def described(folder: str, alive: IsAlive) -> SessionRow:
    changed = os.path.getmtime(folder)
    row = SessionRow(os.path.basename(folder), folder, "–", "–", "", "", "", "", "", changed, "")
    try:
        state = sessions.read(folder)
    except HandbillError as error:
        row.state = row.lifecycle = "broken"
        row.problem = str(error)
        return row
    if state is None:
        return row
    holder = holder_of(state)
    row.changed = os.path.getmtime(os.path.join(folder, sessions.FILE))
    row.held = str(holder.pid) if holder.pid and alive(holder) else ""
    row.task = str(state.get("taskSummary") or state.get("sessionDescription") or "")
    row.state, row.lifecycle = condition(state, alive), str(state.get("lifecycle", "–"))
    row.skill, row.phase = str(state.get("skill", "")), str(state.get("currentPhase", ""))
    row.started = str(state.get("startedAt", ""))
    return row


def condition(state: State, alive: IsAlive) -> str:
    """Return the lifecycle; for an active session, whether anybody works on it.

    `dead`: the process of its agent is gone. `abandoned`: no process holds it, but one did.
    """
    lifecycle = str(state.get("lifecycle", "–"))
    if lifecycle != ACTIVE:
        return lifecycle
    holder = holder_of(state)
    if holder.pid:
        return ACTIVE if alive(holder) else "dead"
    # Otherwise a person's terminal, which has no recorded process.
    return "abandoned" if state.get("lastKnownPid") else ACTIVE


def every_session(root: str, alive: IsAlive) -> list[SessionRow]:
    """Return the sessions in a folder, the one changed last first."""
    rows = [described(folder, alive) for folder in sessions.folders(root)]
    return sorted(rows, key=lambda row: (row.changed, row.name), reverse=True)


def find(root: str, kind: str, words: list[str], alive: IsAlive) -> list[FoundSession]:
    """Return the sessions that match a search, the newest day first.

    `kind`: today, yesterday, recent, date, range, topic, active or all. `words`: the day, the days
    or the topic.
    """
    rows = [row for row in (_found(folder, alive) for folder in sessions.folders(root)) if _matches(row, kind, words)]
    return sorted(rows, key=lambda row: (row.day, row.changed, row.name), reverse=True)


def documents(folder: str) -> list[str]:
    """Return the documents that the session has written so far, newest first."""
    found = [entry.path for entry in os.scandir(folder) if _is_document(entry)]
    return sorted(found, key=os.path.getmtime, reverse=True)


def day_of(row: SessionRow) -> str:
    """Return the day in its name, else when it began, else when it changed; such as 2026-01-31."""
    named = re.match(r"(\d{4})[_-](\d{2})[_-](\d{2})(?:[_-]|$)", row.name)
    if named:
        return "-".join(named.groups())
    try:
        return datetime.date.fromtimestamp(moment_of(row.started) or row.changed).isoformat()
    except (ValueError, OverflowError, OSError):
        return ""  # the time of a file may be out of range


def _is_document(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file() and not entry.name.startswith(".")
    except OSError:
        return False  # a circular link


def _found(folder: str, alive: IsAlive) -> FoundSession:
    row = described(folder, alive)
    words = " ".join((row.name, row.task, row.skill, *_keywords(folder))).lower()
    return FoundSession(**vars(row), day=day_of(row), words=words)


def _keywords(folder: str) -> list[str]:
    try:
        state = sessions.read(folder) or {}
    except HandbillError:
        return []  # the row itself reports that the state is broken
    return [str(state.get("sessionDescription", "")), *map(str, state.get("searchKeywords", ()))]


def _matches(row: FoundSession, kind: str, words: list[str]) -> bool:
    today = datetime.date.today()
    if kind == "topic":
        return all(word in row.words for word in " ".join(words).lower().split())
    if kind == "active":
        return row.state == ACTIVE
    if kind == "all":
        return True
    first, last = {
        "today": (today, today), "yesterday": (today - _DAY, today - _DAY),
        "recent": (today - _DAY * (RECENT - 1), today),
    }.get(kind) or (_day(words[0]), _day(words[-1]))  # fmt: skip
    return first.isoformat() <= row.day <= last.isoformat()


_DAY = datetime.timedelta(days=1)


def _day(text: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(text.replace("_", "-"))
    except ValueError:
        raise HandbillError(f"{text!r} is not a date", "write it as 2026-01-31") from None
