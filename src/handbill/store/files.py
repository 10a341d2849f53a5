"""Windows as files: `<root>/.windows/<session>[.<agent>].jsonl`, logs in `<root>/.engine/`.

If the first root cannot be written (read-only, full), a window moves to the second and stays there.
"""

from __future__ import annotations

import posix

from handbill.errors import CorruptState
from handbill.event import MAIN
from handbill.fast_json import dumps, loads
from handbill.ledger.window import TooNew, from_text, to_text
from handbill.world import read_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from types import ModuleType
    from typing import Any

    from handbill.ledger.window import Window
    from handbill.store.api import Key, T

_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_~")
REBUILT = "the window's next event moves it aside and rebuilds the ledger"
_MOST = 64 << 20


def _key_of(root: str, name: str) -> Key | None:
    """Return the window of a file. An id with unusual characters is only inside the file."""
    session, _, agent = name.partition(".")
    key = (session, agent or MAIN)
    if "%" in name:
        try:
            head = loads(_disk().read_regular(f"{root}/.windows/{name}.jsonl", _MOST).partition(b"\n")[0].decode())
            key = (str(head["sessionId"]), str(head["agentId"]))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None  # `engine doctor` reports it.
    return key if file_name(key) == name else None


def file_name(key: Key) -> str:
    """Return a file name that is never a path. `.` occurs only between session and agent."""
    session, agent = (_safe(part) for part in key)
    return session if key[1] == MAIN else f"{session}.{agent}"


def _safe(text: str) -> str:
    if text and len(text) <= 100 and _SAFE.issuperset(text):
        return text
    from handbill.digest import digest_of

    return f"{''.join(c for c in text[:40] if c in _SAFE)}%{digest_of(text)}"


def _notes() -> ModuleType:
    from handbill.store import notes

    return notes


def _disk() -> ModuleType:
    """Import the module for writing, because the usual event only reads."""
    from handbill.store import disk

    return disk


class FileStore:
    def __init__(self, root: str, spare: str = "") -> None:
        self.root = root
        self.spare = spare
        self._roots = (root, spare) if spare else (root,)
        # the file and version that `_window` was read from
        self._stamp: tuple[str, int, int, int] | None = None
        self._window: Window | None = None

    # --- windows -------------------------------------------------------------------------------

    def read(self, key: Key) -> Window | None:
        return self._read(self._path(key), key)

    def _path(self, key: Key) -> str:
        """Return the file of this window. It is in the spare root if the window moved there."""
        name = file_name(key)
        if self.spare:
            moved = f"{self.spare}/.windows/{name}.jsonl"
            try:
                posix.stat(moved)
                return moved
            except OSError:
                pass  # the usual case: it never moved
        return f"{self.root}/.windows/{name}.jsonl"

    def _read(self, path: str, key: Key) -> Window | None:
        try:
            handle = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except PermissionError:
            if self.spare and not path.startswith(self.spare + "/"):
                # It belongs to another user. Writing will move this window to the spare root.
                return None
            raise
        try:
            status = posix.fstat(handle)
            if status.st_uid != posix.geteuid() or status.st_mode & 0o022:
                # Somebody else wrote it, or could have. The transcript shows the content of the
                # window.
                return None
            stamp = (path, status.st_ino, status.st_mtime_ns, status.st_size)
            if stamp == self._stamp:
                # unchanged since it was read without the lock
                return self._window.copy() if self._window is not None else None
            data = read_all(handle, _MOST)
        finally:
            posix.close(handle)
        try:
            window = from_text(data.decode("utf-8"), loads, dumps)
            self._stamp, self._window = stamp, window
            return window.copy()
        except TooNew as error:
            raise _disk().StateBusy(f"{path}: {error}", "upgrade Handbill, or remove that window's file") from error
        except (ValueError, RecursionError) as error:
            raise CorruptState(f"{path}: {error}", REBUILT) from error

    def update(self, key: Key, change: Callable[[Window | None], tuple[Window | None, T]]) -> T:
        path = self._path(key)
        try:
            return self._update(path, key, change)
        except OSError as error:
            if error.errno not in _disk().UNWRITABLE:
                raise
            if not self.spare or path.startswith(self.spare + "/"):
                raise _disk().unwritable(error) from error
        try:
            return self._update(f"{self.spare}/.windows/{file_name(key)}.jsonl", key, change, former=path)
        except OSError as error:
            raise _disk().unwritable(error) from error

    def _update(
        self, path: str, key: Key, change: Callable[[Window | None], tuple[Window | None, T]], former: str = ""
    ) -> T:
        lock = _disk().locked(path[:-6] + ".lock")
        try:
            if not former and self._path(key) != path:
                # The window moved to the spare root while we waited.
                return self.update(key, change)
            before = self._newest(path, former, key)
            after, result = change(before)
            if after is not None and (after is not before or former):
                _disk().replace(path, to_text(after, dumps).encode("utf-8", "replace"))
            return result
        finally:
            posix.close(lock)

    def put_aside(self, key: Key) -> None:
        path = self._path(key)
        lock = _disk().locked(path[:-6] + ".lock")
        try:
            window = self._read(path, key)
            if window is not None:
                window.files.items()
                window.touched.items()
        except CorruptState:
            _disk().put_aside(path)
        finally:
            posix.close(lock)

    def _newest(self, path: str, former: str, key: Key) -> Window | None:
        """Return the window under the lock.

        A corrupt one is put aside, or ignored where that is not possible.
        """
        for place in (path, former):
            try:
                window = self._read(place, key) if place else None
            except CorruptState:
                _disk().put_aside(place)
                return None
            if window is not None:
                return window
        return None

    # --- hooks that could not do their work ----------------------------------------------------

    def note_missed(self, key: Key) -> bool:
        for root in self._roots:
            path = f"{root}/.windows/{file_name(key)}.missed"
            try:
                posix.close(_disk().open_private(path, posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL))
                return True
            except FileExistsError:
                return False
            except OSError as error:
                if error.errno not in _disk().UNWRITABLE or not self.spare:
                    raise
        return False

    def missed(self, key: Key) -> bool:
        for root in self._roots:
            try:
                posix.stat(f"{root}/.windows/{file_name(key)}.missed")
                return True
            except OSError:
                continue  # the usual case: nothing was missed
        return False

    def clear_missed(self, key: Key) -> None:
        for root in self._roots:
            try:
                posix.unlink(f"{root}/.windows/{file_name(key)}.missed")
            except OSError:
                continue  # It is in the other root, or does not exist.

    # --- messages from commands to hooks, and notes about windows ---------------------------------

    def post(self, session: str, notice: dict[str, Any]) -> None:
        _notes().post(self._roots, _safe(session), notice)

    def notices(self, session: str) -> list[dict[str, Any]]:
        name = _safe(session)
        if not self._is_there(f".windows/{name}.notices"):
            return []
        found: list[dict[str, Any]] = _notes().notices(self._roots, name)
        return found

    def settle_notices(self, session: str, ids: Collection[str]) -> None:
        _notes().settle(self._roots, _safe(session), ids)

    def link(self, session: str, folder: str) -> None:
        """Record which session this client's window works on.

        Commands then need not search all sessions.
        """
        _notes().write(self._roots[:1], f"{_safe(session)}.session", folder)

    def linked(self, session: str) -> str:
        return _notes().read(self._roots[:1], f"{_safe(session)}.session") or ""

    def note(self, key: Key, kind: str, value: dict[str, Any] | None) -> None:
        _notes().write(self._roots, f"{file_name(key)}.{kind}", dumps(value) if value is not None else None)

    def noted(self, key: Key, kind: str) -> dict[str, Any] | None:
        name = f"{file_name(key)}.{kind}"
        text = _notes().read(self._roots, name) if self._is_there(f".windows/{name}") else None
        return _notes().as_note(text, name) if text is not None else None

    def _is_there(self, name: str) -> bool:
        """Whether a note exists. Usually none does, so its reader is not imported for this."""
        for root in self._roots:
            try:
                posix.stat(f"{root}/{name}")
                return True
            except OSError:
                continue
        return False

    def leave_handover(self, handover: dict[str, Any]) -> None:
        _notes().leave_handover(self._roots, handover)

    def take_handover(self, session: str, *, again: bool = False) -> dict[str, Any] | None:
        if not self._is_there(".engine/handovers.json"):
            return None
        found: dict[str, Any] | None = _notes().take_handover(self._roots, session, again=again)
        return found

    def keep_page(self, name: str, text: str) -> str:
        found: str = _notes().keep_page(self._roots, name, text)
        return found

    def known(self) -> list[Key]:
        found = set()
        for root in self._roots:
            try:
                names = posix.listdir(f"{root}/.windows")
            except OSError:
                continue
            for name in names:
                if name.endswith(".jsonl"):
                    found.add(_key_of(root, name[:-6]))
        return sorted(key for key in found if key is not None)

    # --- logs ----------------------------------------------------------------------------------

    def append(self, stream: str, lines: Iterable[dict[str, Any]]) -> None:
        data = "".join(dumps(line) + "\n" for line in lines).encode("utf-8", "replace")
        if not data:
            return
        try:
            _disk().append(f"{self.root}/.engine/{stream}.jsonl", data)
        except OSError as error:
            if error.errno not in _disk().UNWRITABLE or not self.spare:
                raise
            _disk().append(f"{self.spare}/.engine/{stream}.jsonl", data)
