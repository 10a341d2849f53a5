"""One context window: which files are in it, since when, why, and how that is proven."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from handbill.handlers.load_gate import compliance
from handbill.ledger.window import NOT_SENT, state_of
from handbill.text.tokens import of_length

if TYPE_CHECKING:
    from handbill.ledger.window import Record, Window

PENDING = "pending"


@dataclass
class FileInWindow:
    file: str
    parts: int  # how many parts the file has; 0 if not known yet
    delivered: int  # how many parts are in the window or on their way
    chars: int
    tokens: int  # estimated by length
    reason: str
    at: float  # when it was last delivered; 0.0 if never
    via: str  # the kind of event that delivered it; "host": the client itself
    state: str  # the proven state, in one word
    lost: int  # how many of its deliveries did not arrive


@dataclass
class FileState:
    file: str
    state: str


@dataclass
class WindowReport:
    session: str
    agent: str
    epoch: int  # compactions and rewinds so far
    created: float
    project: str  # the folder
    lifecycle: str
    work: dict[str, Any]  # the active skill, its phase and its session
    directories: int  # directories that Handbill searched for directives
    files: list[FileInWindow]  # files in the window or on their way, then pending files
    unsettled: list[str]  # files that a compaction may have kept; the next event decides


def described(window: Window, project: str) -> WindowReport:
    files = [_file(path, record) for path, record in window.files.items()]
    files += [_pending(path, reason) for path, reason in window.pending.items() if path not in window.files]
    return WindowReport(
        window.session,
        window.agent,
        window.epoch,
        window.created,
        project,
        window.lifecycle,
        window.work,
        len(window.touched),
        files,
        sorted(window.from_last_epoch),
    )


def context_of(window: Window) -> list[FileState]:
    """Return the files of the project's working context, and how each reached the agent."""
    return [FileState(path, how or "not read") for path, how in compliance(window)]


def _file(path: str, record: Record) -> FileInWindow:
    parts, chars = record["parts"], record["chars"]
    return FileInWindow(
        path,
        len(parts),
        len(parts) - parts.count(NOT_SENT),
        chars,
        of_length(chars),
        record["reason"],
        record["at"],
        record["via"],
        state_of(record),
        record.get("lost", 0),
    )


def _pending(path: str, reason: str) -> FileInWindow:
    return FileInWindow(path, 0, 0, 0, 0, reason, 0.0, "", PENDING, 0)
