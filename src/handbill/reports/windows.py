"""Every window of a project."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from handbill.errors import HandbillError
from handbill.project import session_of
from handbill.reports.store_files import window_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from handbill.ledger.window import Window
    from handbill.store.api import Key
    from handbill.store.files import FileStore

    IsRunning = Callable[[int], bool]


@dataclass
class WindowRow:
    session: str
    agent: str
    files: int
    epoch: int
    at: float  # when the ledger was last written; 0.0 if it cannot be read
    problem: str  # why the ledger cannot be read; empty if it can
    ended: bool  # a second terminal whose process is gone


def every_window(store: FileStore, is_running: IsRunning) -> list[WindowRow]:
    """Return every window, the one written last first."""
    rows = []
    for key in store.known():
        path = window_file(store, key)
        try:
            window = store.read(key)
        except HandbillError as error:
            rows.append(WindowRow(*key, 0, 0, 0.0, str(error), ended=False))
            continue
        if window is not None and path:
            ended = is_ended_terminal(key, window, is_running)
            rows.append(WindowRow(*key, len(window.files), window.epoch, os.path.getmtime(path), "", ended))
    return sorted(rows, key=lambda row: -row.at)


def readable(store: FileStore) -> Iterator[tuple[Key, Window]]:
    """Yield the windows whose ledgers can be read.

    `every_window` and `engine doctor` report the others.
    """
    for key in store.known():
        try:
            window = store.read(key)
        except HandbillError:
            continue
        if window is not None:
            yield key, window


def is_ended_terminal(key: Key, window: Window, is_running: IsRunning) -> bool:
    """Whether this is the window of a second terminal whose process is gone.

    The session's own window continues in the next process.
    """
    return key[0] != session_of(key) and not is_running(window.client)
