"""`engine window --audit`: compares the ledger of a window with the client's own record."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from handbill.cli.result import Result
from handbill.cli.screen import count, safe, short, table
from handbill.errors import HandbillError
from handbill.reports.audit import audited, audited_windows

if TYPE_CHECKING:
    from rich.console import Console

    from handbill.ledger.content import Content
    from handbill.ledger.window import Window
    from handbill.project import Project
    from handbill.reports.audit import Audit, AuditRow
    from handbill.reports.windows import IsRunning
    from handbill.store.api import Key


def audit(window: Window, content: Content | None, key: Key, project: Project) -> Result:
    if content is None:
        raise HandbillError(
            f"there is no transcript to compare with ({window.transcript or 'its path is unknown'})",
            "the client keeps transcripts only for a few weeks",
        )
    found = audited(key, window, content)
    step = ""
    if found.differences:
        # The window's next event compares again and repairs the ledger.
        project.store.note_missed(key)
        step = "the next event in this window repairs this; run the audit again after it"
    elif found.unsettled:
        step = "the next event in this window decides this; run the audit again after it"
    code = 1 if found.differences else 0
    return Result(asdict(found), lambda screen: _show(screen, found, project.root), exit_code=code, next_step=step)


def _show(screen: Console, found: Audit, project: str) -> None:
    if not found.differences and found.unsettled:
        doubtful = count(len(found.unsettled), "file")
        screen.print(f"{safe(found.window)}: not decided yet: {doubtful} may have survived the compaction")
        return
    if not found.differences:
        there = count(found.delivered, "delivered file")
        screen.print(f"{safe(found.window)}: the ledger and the client's record agree: {there} in the window")
        return
    drawn = table("file|p", "ledger|n", "client's record|n")
    for row in found.differences:
        drawn.add_row(short(row.file, project), row.ledger, row.record)
    screen.print(drawn)


def audit_all(project: Project, is_running: IsRunning) -> Result:
    rows = audited_windows(project, is_running)
    bad = [row for row in rows if row.differences]
    for row in bad:
        project.store.note_missed((row.session, row.agent))
    step = "engine window SESSION --audit shows the differences; the window's next event repairs them" if bad else ""
    data = {"windows": [asdict(row) for row in rows]}
    return Result(data, lambda screen: _show_all(screen, rows), exit_code=1 if bad else 0, next_step=step)


def _show_all(screen: Console, rows: list[AuditRow]) -> None:
    drawn = table("session|n", "agent", "files|r-", "client's record|+")
    for row in rows:
        agrees = "not decided yet" if row.unsettled else "agrees"
        said = count(len(row.differences), "difference") if row.differences else agrees
        drawn.add_row(safe(row.session), safe(row.agent), str(row.files), said if row.compared else "missing")
    screen.print(drawn if rows else "there is no window to compare here")
