"""Small files beside the windows: messages to hooks, notes about a window, and our own pages.

`roots`: the usual folder, then the one that is used if the first cannot be written.
"""

from __future__ import annotations

import posix
import time

from handbill.errors import CorruptState
from handbill.fast_json import dumps, loads
from handbill.store import disk
from handbill.world import read_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Any

    Roots = tuple[str, ...]

_MOST = 64 << 20


def _in_first_writable(roots: Roots, act: Callable[[str], None]) -> None:
    for root in roots:
        try:
            return act(root)
        except OSError as error:
            if error.errno not in disk.UNWRITABLE or root is roots[-1]:
                raise
    return None


# --- notices, one per line ------------------------------------------------------------------------


def post(roots: Roots, session: str, notice: dict[str, Any]) -> None:
    kept = {**notice, "id": f"{time.time_ns():x}-{posix.getpid()}"}
    # The leading newline ends an incomplete line before it.
    data = f"\n{dumps(kept)}\n".encode("utf-8", "replace")

    def act(root: str) -> None:
        path = _notices(root, session)
        lock = disk.locked(f"{path}.lock")
        try:
            disk.append(path, data)
        finally:
            posix.close(lock)

    _in_first_writable(roots, act)


def notices(roots: Roots, session: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for root in roots:
        text = _read(_notices(root, session)) or ""
        found += [notice for notice in map(_notice, text.split("\n")[:-1]) if notice is not None]
    return found


def _notice(line: str) -> dict[str, Any] | None:
    """Return a command's message, or None for an incomplete or foreign line."""
    try:
        found = loads(line) if line else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not all(isinstance(found.get(name), str) for name in ("id", "verb")):
        return None
    at = found.get("at")
    return {**found, "at": at if isinstance(at, (int, float)) else 0.0}


def settle(roots: Roots, session: str, ids: Collection[str]) -> None:
    for root in roots:
        path = _notices(root, session)
        try:
            posix.stat(path)
        except OSError:
            continue  # It is in the other root.
        lock = disk.locked(f"{path}.lock")
        try:
            left = [notice for notice in notices((root,), session) if notice["id"] not in ids]
            if left:
                disk.replace(path, "".join(dumps(notice) + "\n" for notice in left).encode("utf-8", "replace"))
            else:
                posix.unlink(path)
        except FileNotFoundError:
            continue  # another hook was faster
        finally:
            posix.close(lock)


def _notices(root: str, session: str) -> str:
    return f"{root}/.windows/{session}.notices"


# --- notes, one per file --------------------------------------------------------------------------


def write(roots: Roots, name: str, text: str | None) -> None:
    """Write a note. None removes it."""

    def act(root: str) -> None:
        disk.make_private_directory(f"{root}/.windows")
        disk.replace(f"{root}/.windows/{name}", str(text).encode("utf-8", "replace"))
        written.append(root)

    written: list[str] = []
    if text is not None:
        _in_first_writable(roots, act)
    for root in roots:
        if root in written:
            continue
        try:
            posix.unlink(f"{root}/.windows/{name}")
        except OSError:
            continue  # It is in the other root, or does not exist.


def read(roots: Roots, name: str) -> str | None:
    # The spare root is first: it has a note only while the other cannot be written.
    for root in reversed(roots):
        text = _read(f"{root}/.windows/{name}")
        if text is not None:
            return text
    return None


def as_note(text: str, name: str) -> dict[str, Any]:
    try:
        found = loads(text)
    except (ValueError, RecursionError) as error:
        raise CorruptState(f"{name} is not JSON: {error}", "nothing to do: that note is not used") from None
    if not isinstance(found, dict):
        raise CorruptState(f"{name} is not a JSON object", "nothing to do: that note is not used")
    return found


# --- handovers for the next agent that starts here ------------------------------------------------

# seconds during which its taker may ask again (the lanes of one start, a hook that died)
_TAKEN_FOR = 86400.0


def leave_handover(roots: Roots, handover: dict[str, Any]) -> None:
    def change(waiting: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [*(one for one in waiting if one.get("session") != handover["session"]), {**handover, "at": time.time()}]

    _in_first_writable(roots, lambda root: _changed_handovers(root, change))


def take_handover(roots: Roots, session: str, *, again: bool = False) -> dict[str, Any] | None:
    taken: list[dict[str, Any]] = []

    def change(waiting: list[dict[str, Any]]) -> list[dict[str, Any]]:
        now = time.time()
        kept = [one for one in waiting if not one.get("taker") or now - _moment(one.get("taken")) < _TAKEN_FOR]
        mine = [one for one in kept if one.get("taker") == session]
        mine = mine or [one for one in kept if not one.get("taker") and not again]
        if mine and mine[0].get("by") != session:
            taken.append({**mine[0], "taker": session, "taken": mine[0].get("taken") or now})
            kept = [taken[0] if one is mine[0] else one for one in kept]
        return kept

    for root in roots:
        if not taken and _read(f"{root}/.engine/handovers.json") is not None:
            try:
                _changed_handovers(root, change)
            except OSError as error:
                # It cannot be marked as taken there, so another agent would take it, too.
                taken.clear()
                if error.errno not in disk.UNWRITABLE:
                    raise
    return taken[0] if taken else None


def _moment(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


def _changed_handovers(root: str, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
    path = f"{root}/.engine/handovers.json"  # of the project, not of one window
    lock = disk.locked(f"{path}.lock")
    try:
        text = _read(path)
        try:
            waiting = as_note(text, path).get("waiting") if text else []
        except CorruptState:
            # `engine doctor` reports it. Later handovers must not be lost with it.
            disk.put_aside(path)
            waiting = []
        rows = [one for one in waiting if isinstance(one, dict)] if isinstance(waiting, list) else []
        after = change(rows)
        if after != rows:
            disk.replace(path, dumps({"waiting": after}).encode("utf-8", "replace"))
    finally:
        posix.close(lock)


def keep_page(roots: Roots, name: str, text: str) -> str:
    """Save a page under a name made from its content, so that it never changes."""
    kept: list[str] = []

    def act(root: str) -> None:
        folder = f"{root}/.engine/pages"
        disk.make_private_directory(folder)
        kept.append(f"{folder}/{name}")
        if _read(kept[-1]) == text:
            posix.utime(kept[-1])  # It is still in use, so it must not be pruned as an old one.
        else:
            disk.replace(kept[-1], text.encode("utf-8", "replace"))

    _in_first_writable(roots, act)
    return kept[-1]


def _read(path: str) -> str | None:
    try:
        handle = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NOFOLLOW | posix.O_NONBLOCK)
    except OSError:
        return None  # the usual case: it does not exist
    try:
        return read_all(handle, _MOST).decode("utf-8", "replace")
    finally:
        posix.close(handle)
