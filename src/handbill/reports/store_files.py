"""Access to the file store's files by path, for commands and reports.

`store/api.py` has no methods for these questions yet: which ledger was written last, what the logs
contain, which handovers wait, and whether the folders are sound. Nothing else in `reports/` or
`cli/` opens these files, so this module can be removed when the store answers them.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from handbill.errors import HandbillError
from handbill.store.api import DELIVERIES, ERRORS
from handbill.store.files import file_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from handbill.store.api import Key
    from handbill.store.files import FileStore

    Line = dict[str, Any]

_SEEN = f"{ERRORS}.seen.jsonl"  # errors that a person has marked as fixed
_LAST_ERRORS = 1 << 20  # bytes of the error log to read
_LONGEST_LINE = 4096  # bytes of a line in the delivery log, usually


# --- ledgers -------------------------------------------------------------------------------------


def window_file(store: FileStore, key: Key) -> str:
    """Return the file with the ledger of this window; empty if it does not exist."""
    for root in (store.spare, store.root):
        path = f"{root}/.windows/{file_name(key)}.jsonl"
        if root and os.path.exists(path):
            return path
    return ""


def last_written(store: FileStore, key: Key) -> float:
    """Return when the ledger of a known window was last written."""
    return os.path.getmtime(window_file(store, key))


def newest_windows(store: FileStore, most: int) -> list[Key]:
    """Return the windows whose ledgers were written last, the newest first."""
    return sorted(store.known(), key=lambda key: -last_written(store, key))[:most]


# --- logs ----------------------------------------------------------------------------------------


def delivery_log(store: FileStore) -> Iterator[Line]:
    """Yield every line of the delivery log, the oldest first in each of the two state folders."""
    for root in _roots(store, spare_first=True):
        for name in (f"{DELIVERIES}.old.jsonl", f"{DELIVERIES}.jsonl"):
            if os.path.exists(f"{root}/.engine/{name}"):
                yield from _lines(f"{root}/.engine/{name}")


def end_of_delivery_log(store: FileStore, lines: int) -> Iterator[Line]:
    """Yield the end of the log, with space for `lines` long lines; if it is 0, the current log."""
    for path in _delivery_logs(store):
        start = max(0, os.path.getsize(path) - (lines * _LONGEST_LINE + 65536)) if lines else 0
        yield from _lines(path, start)


def has_delivery_log(store: FileStore) -> bool:
    return bool(_delivery_logs(store))


def growing_delivery_log(store: FileStore) -> str:
    """Return the file to which hooks append lines. It may not exist yet."""
    found = _delivery_logs(store)
    return found[-1] if found else f"{store.root}/.engine/{DELIVERIES}.jsonl"


def new_lines(path: str, position: int) -> tuple[list[Line], int]:
    """Return the complete lines after a position of a log, and the position after them."""
    if not os.path.exists(path) or os.path.getsize(path) < position:
        return [], 0  # the log does not exist yet, or another file has replaced it
    with open(path, "rb") as file:
        file.seek(position)
        data = file.read()
    whole = data[: data.rfind(b"\n") + 1]
    return [line for line in map(_parsed, whole.splitlines()) if line is not None], position + len(whole)


def error_log(store: FileStore) -> Iterator[Line]:
    """Yield the newest lines of the error logs."""
    for path in _error_logs(store):
        yield from _lines(path, max(0, os.path.getsize(path) - _LAST_ERRORS))


def forget_errors(store: FileStore) -> None:
    """Mark all errors so far as fixed. The time of the remaining file records when that was."""
    for path in _error_logs(store):
        seen = f"{os.path.dirname(path)}/{_SEEN}"
        os.replace(path, seen)
        os.utime(seen)


def errors_forgotten_at(store: FileStore) -> float:
    path = f"{store.root}/.engine/{_SEEN}"
    return os.stat(path).st_mtime if os.path.exists(path) else 0.0


def _roots(store: FileStore, *, spare_first: bool = False) -> list[str]:
    roots = (store.spare, store.root) if spare_first else (store.root, store.spare)
    return [root for root in roots if root]


def _delivery_logs(store: FileStore) -> list[str]:
    paths = [f"{root}/.engine/{DELIVERIES}.jsonl" for root in _roots(store, spare_first=True)]
    return [path for path in paths if os.path.exists(path)]


def _error_logs(store: FileStore) -> list[str]:
    paths = [f"{root}/.engine/{ERRORS}.jsonl" for root in _roots(store)]
    return [path for path in paths if os.path.exists(path)]


def _lines(path: str, start: int = 0) -> Iterator[Line]:
    with open(path, "rb") as file:
        file.seek(start)
        if start:
            file.readline()  # skip the first line, which is probably incomplete
        yield from (line for line in map(_parsed, file) if line is not None)


def _parsed(raw: bytes) -> Line | None:
    try:
        line = json.loads(raw)
    except ValueError:
        return None  # a full disk cut the line off; the lines around it are complete
    return line if isinstance(line, dict) else None


# --- handovers -----------------------------------------------------------------------------------


def waiting_handovers(store: FileStore) -> list[dict[str, Any]]:
    """Return the handovers of this project that no agent has taken yet."""
    path = f"{store.root}/.engine/handovers.json"
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except FileNotFoundError:
        return []
    except (OSError, ValueError, RecursionError) as error:
        raise HandbillError(f"{path}: {error}", "move it elsewhere") from error
    rows = found.get("waiting") if isinstance(found, dict) else None
    return [one for one in rows if isinstance(one, dict) and not one.get("taker")] if isinstance(rows, list) else []


# --- folders -------------------------------------------------------------------------------------


def state_folders(store: FileStore) -> list[str]:
    """Return the existing folders that contain only state."""
    folders = [f"{root}/{name}" for root in _roots(store) for name in (".windows", ".engine")]
    return [folder for folder in folders if os.path.isdir(folder)]


def ledgers_in(folder: str) -> list[str]:
    """Return the names of the ledgers in a state folder. The folders of logs contain none."""
    if os.path.basename(folder) != ".windows":
        return []
    return [name for name in os.listdir(folder) if name.endswith(".jsonl")]


def moved_ledgers(store: FileStore) -> list[str]:
    """Return the names of the ledgers that had to move to the spare folder."""
    folder = f"{store.spare}/.windows"
    return ledgers_in(folder) if store.spare and os.path.isdir(folder) else []
