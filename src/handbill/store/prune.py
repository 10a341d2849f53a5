"""Remove windows that ended long ago, at most once a day, and never while an agent waits."""

from __future__ import annotations

import posix
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.store.files import FileStore

DAYS = 14
MOST_LOG = 64 << 20
_DAY = 86400.0


def prune_daily(store: FileStore) -> None:
    """Prune when a session ends. The age of the mark shows whether that was done today."""
    mark = f"{store.root}/.windows/.pruned"
    try:
        if time.time() - posix.stat(mark).st_mtime < _DAY:
            return
    except FileNotFoundError:
        pass  # never pruned yet
    try:
        posix.close(posix.open(mark, posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC | posix.O_CLOEXEC, 0o600))
    except OSError:
        return  # The disk is read-only or full. The end of the next session will try again.
    for root in (store.root, store.spare):
        if root:
            prune(root, DAYS)
            rotate(root)


def rotate(root: str) -> None:
    """Rename a large log to the old log, which replaces the previous old log."""
    for name in ("deliveries", "errors"):
        path = f"{root}/.engine/{name}.jsonl"
        try:
            if posix.stat(path).st_size > MOST_LOG:
                posix.rename(path, f"{root}/.engine/{name}.old.jsonl")
        except FileNotFoundError:
            continue  # nothing was ever logged here


def prune(root: str, days: float, *, dry_run: bool = False) -> list[str]:
    """Remove files that were not written for `days` days and whose client is dead.

    Return the names of the removed files.
    """
    removed = []
    directory = f"{root}/.windows"
    limit = time.time() - days * _DAY
    try:
        names = posix.listdir(directory)
    except OSError:
        return []
    for name in sorted(names):  # a window (.jsonl) before its .lock
        if name.startswith("."):
            continue
        path = f"{directory}/{name}"
        try:
            if posix.stat(path).st_mtime > limit or _alive(path):
                continue
            window = f"{name.rpartition('.')[0].removesuffix('.notices')}.jsonl"
            if not name.endswith(".jsonl") and window in names and window not in removed:
                continue  # Its window was not removed.
            if not dry_run:
                posix.unlink(path)
        except FileNotFoundError:
            continue  # another process pruned it
        removed.append(name)
    return removed + _prune_pages(f"{root}/.engine/pages", limit, dry_run=dry_run)


def _prune_pages(folder: str, limit: float, *, dry_run: bool) -> list[str]:
    """Remove old pages with gate messages. Their windows have them already, or are gone."""
    removed = []
    try:
        names = posix.listdir(folder)
    except OSError:
        return []
    for name in names:
        try:
            if posix.stat(f"{folder}/{name}").st_mtime < limit:
                if not dry_run:
                    posix.unlink(f"{folder}/{name}")
                removed.append(name)
        except FileNotFoundError:
            continue  # another process pruned it
    return removed


def _alive(path: str) -> bool:
    if not path.endswith(".jsonl"):
        return False
    from handbill.fast_json import loads
    from handbill.world import read_all
    from handbill.world.processes import is_running

    handle = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    try:
        plain = loads(read_all(handle, 64 << 20).decode("utf-8", "replace").partition("\n")[0])
    except ValueError:
        return False
    finally:
        posix.close(handle)
    pid = plain.get("pid") if isinstance(plain, dict) else None
    return isinstance(pid, int) and pid > 1 and is_running(pid)
