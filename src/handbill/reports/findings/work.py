"""Checks of a project's skills and sessions, and of reports about defects in commands."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from handbill.errors import HandbillError
from handbill.reports.findings import BAD, NOTE, OK, RECENT, Finding
from handbill.reports.plain_text import count
from handbill.reports.skills import described, names
from handbill.settings import folder_of
from handbill.store import sessions as store

if TYPE_CHECKING:
    from handbill.project import Project


def skills(project: Project) -> Iterator[Finding]:
    rows = [described(name, project, project.world()) for name in names(project)]
    problems = [problem for row in rows for problem in row["problems"]]
    for problem in problems[:10]:
        yield Finding("skills", BAD, problem, "correct the file; engine skills NAME shows how Handbill reads it")
    for hint in [hint for row in rows for hint in row["hints"]][:10]:
        yield Finding("skills", NOTE, hint)
    if not problems:
        yield Finding("skills", OK, f"{count(len(rows), 'skill')}, all can be read")


def sessions(project: Project) -> Iterator[Finding]:
    folders = store.folders(os.path.join(project.root, "sessions"))
    broken = 0
    for folder in folders:
        try:
            store.read(folder)
        except HandbillError as error:
            broken += 1
            yield Finding("sessions", BAD, str(error), error.hint)
    if folders and not broken:
        yield Finding("sessions", OK, count(len(folders), "session"))


def reports(project: Project) -> Iterator[Finding]:
    """Report the defect reports that failed commands have written."""
    folder = os.path.join(folder_of("XDG_STATE_HOME", ".local/state", project.process.environ), "handbill")
    entries = os.scandir(folder) if os.path.isdir(folder) else ()
    paths = [entry.path for entry in entries if entry.name.startswith("report-")]
    recent = [path for path in paths if time.time() - os.path.getmtime(path) < RECENT]
    if recent:
        newest = max(recent, key=os.path.getmtime)
        yield Finding("reports", NOTE, f"{count(len(recent), 'report')} of defects in commands, the newest {newest}")
