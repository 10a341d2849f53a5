"""Compares the ledger of a window with the client's own record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from handbill.ledger.host_files import hidden
from handbill.ledger.reconcile import denied_calls, left
from handbill.reports.receipts import content_of, with_newest_receipts
from handbill.reports.windows import is_ended_terminal, readable
from handbill.text.blocks import meant

if TYPE_CHECKING:
    from handbill.ledger.content import Content
    from handbill.ledger.window import Window
    from handbill.project import Project
    from handbill.reports.windows import IsRunning
    from handbill.store.api import Key


@dataclass
class Difference:
    file: str
    ledger: str  # the file's state in the ledger
    record: str  # the file's state in the client's record


@dataclass
class Audit:
    window: str  # SESSION.AGENT
    transcript: str
    blocks: int  # deliveries in the client's record, counted by part
    differences: list[Difference]
    delivered: int  # files of these deliveries
    unsettled: list[str]  # files that a compaction may have kept; the next event decides


@dataclass
class AuditRow:
    session: str
    agent: str
    files: int  # in the ledger
    compared: bool  # False if the client's record is missing
    differences: list[Difference]
    unsettled: list[str]


def audited(key: Key, window: Window, content: Content) -> Audit:
    return Audit(
        ".".join(key),
        window.transcript,
        len(content.blocks),
        differences(window, content),
        len({title[0] for title in content.titles(denied_calls(window))}),
        sorted(window.from_last_epoch),
    )


def audited_windows(project: Project, is_running: IsRunning) -> list[AuditRow]:
    """Compare every window that can still change, which excludes ended second terminals."""
    rows = []
    for key, found in readable(project.store):
        if found.started and not is_ended_terminal(key, found, is_running):
            window = with_newest_receipts(found, project.world())
            rows.append(_row(key, window, content_of(window, project.world())))
    return rows


def _row(key: Key, window: Window, content: Content | None) -> AuditRow:
    found = differences(window, content) if content is not None else []
    return AuditRow(*key, len(window.files), content is not None, found, sorted(window.from_last_epoch))


def differences(window: Window, content: Content) -> list[Difference]:
    gone = [*left(window, content), *hidden(window, content)]
    rows = [Difference(path, "in the window", "not there") for path in gone]
    titles = content.titles(denied_calls(window))
    for path in dict.fromkeys(meant(title[0]) for title in titles):
        if path not in window.files and path not in window.from_last_epoch:
            rows.append(Difference(path, "not known", "in the window"))
    return rows
