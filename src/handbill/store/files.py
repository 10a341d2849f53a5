"""Windows as files: `<root>/.windows/<session>[.<agent>].jsonl`, logs in `<root>/.engine/`.

Writers take turns by `flock` on a sibling file (the kernel drops it when its holder dies) and
replace the window whole. Where the first root cannot be written (read-only, full), a window
moves to the second and stays there.
"""

from __future__ import annotations

import errno
import fcntl
import posix
import time

from handbill.core.event import MAIN
from handbill.core.migrate import TooNew, from_text, to_text
from handbill.core.records import Broken
from handbill.errors import CorruptState, StateBusy, StateUnwritable
from handbill.hotjson import dumps, loads
from handbill.world import read_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from handbill.core.window import Window
    from handbill.store.api import Key, T

_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
_UNWRITABLE = (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT, errno.ENOENT, errno.ENOTDIR)
PATIENCE = 6.0  # seconds, less than the hook may take; a holder that is stopped must not stop the agent
_MOST = 64 << 20


def file_name(key: Key) -> str:
    """A name that no id can turn into a path; `.` stands between session and agent only."""
    session, agent = (_safe(part) for part in key)
    return session if key[1] == MAIN else f"{session}.{agent}"


def _safe(text: str) -> str:
    if text and len(text) <= 100 and _SAFE.issuperset(text):
        return text
    return "".join(c if c in _SAFE else f"%{ord(c):x}" for c in text[:60]) + f"%{len(text)}"


class FileStore:
    def __init__(self, root: str, spare: str = "") -> None:
        self.root = root
        self.spare = spare
        self._roots = (root, spare) if spare else (root,)
        self._stamp: tuple[str, int, int, int] | None = None  # which file's content `_window` is
        self._window: Window | None = None

    # --- windows -------------------------------------------------------------------------------

    def read(self, key: Key) -> Window | None:
        return self._read(self._path(key), key)

    def _path(self, key: Key) -> str:
        """Where this window lives: in the spare root once it had to move there."""
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
                return None  # another user's: writing will move this window to the spare root
            raise
        try:
            status = posix.fstat(handle)
            stamp = (path, status.st_ino, status.st_mtime_ns, status.st_size)
            if stamp == self._stamp:
                # as when we looked without the lock: no need to read it again
                return self._window.copy() if self._window is not None else None
            data = read_all(handle, _MOST)
        finally:
            posix.close(handle)
        try:
            window = from_text(data.decode("utf-8"), loads, dumps)
            self._stamp, self._window = stamp, window
            return window.copy()
        except TooNew as error:
            raise StateBusy(f"{path}: {error}", "upgrade Handbill, or remove that window's file") from error
        except (ValueError, RecursionError) as error:
            raise CorruptState(f"{path}: {error}", "it was moved aside; the ledger is rebuilt") from error

    def update(self, key: Key, change: Callable[[Window | None], tuple[Window | None, T]]) -> T:
        path = self._path(key)
        try:
            return self._update(path, key, change)
        except OSError as error:
            if error.errno not in _UNWRITABLE:
                raise
            if not self.spare or path.startswith(self.spare + "/"):
                raise _unwritable(error) from error
        try:
            return self._update(f"{self.spare}/.windows/{file_name(key)}.jsonl", key, change, former=path)
        except OSError as error:
            raise _unwritable(error) from error

    def _update(
        self, path: str, key: Key, change: Callable[[Window | None], tuple[Window | None, T]], former: str = ""
    ) -> T:
        lock = _locked(path[:-6] + ".lock")
        try:
            if not former and self._path(key) != path:
                return self.update(key, change)  # it moved to the spare root while we waited
            before = self._newest(path, former, key)
            after, result = change(before)
            if after is not None and (after is not before or former):
                _replace(path, to_text(after, dumps).encode("utf-8", "replace"))
            return result
        finally:
            posix.close(lock)

    def put_aside(self, key: Key) -> None:
        path = self._path(key)
        lock = _locked(path[:-6] + ".lock")
        try:
            window = self._read(path, key)
            if window is not None:
                window.files.items()
                window.touched.items()
        except (CorruptState, Broken):
            _put_aside(path)
        finally:
            posix.close(lock)

    def _newest(self, path: str, former: str, key: Key) -> Window | None:
        """The window under the lock; a broken one is put aside, or passed over where that cannot be done."""
        for place in (path, former):
            try:
                window = self._read(place, key) if place else None
            except CorruptState:
                _put_aside(place)
                return None
            if window is not None:
                return window
        return None

    # --- hooks that could not do their work ----------------------------------------------------

    def note_missed(self, key: Key) -> bool:
        for root in self._roots:
            path = f"{root}/.windows/{file_name(key)}.missed"
            try:
                posix.close(_open_private(path, posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL))
                return True
            except FileExistsError:
                return False
            except OSError as error:
                if error.errno not in _UNWRITABLE or not self.spare:
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
                continue  # it stands in the other root, or nowhere

    def known(self) -> list[Key]:
        found = set()
        for root in self._roots:
            try:
                names = posix.listdir(f"{root}/.windows")
            except OSError:
                continue
            for name in names:
                if name.endswith(".jsonl"):
                    session, _, agent = name[:-6].partition(".")
                    found.add((session, agent or MAIN))
        return sorted(found)

    # --- logs ----------------------------------------------------------------------------------

    def append(self, stream: str, lines: Iterable[dict[str, Any]]) -> None:
        data = "".join(dumps(line) + "\n" for line in lines).encode("utf-8", "replace")
        if not data:
            return
        try:
            _append(f"{self.root}/.engine/{stream}.jsonl", data)
        except OSError as error:
            if error.errno not in _UNWRITABLE or not self.spare:
                raise
            _append(f"{self.spare}/.engine/{stream}.jsonl", data)


def _unwritable(error: OSError) -> StateUnwritable:
    return StateUnwritable(f"no state can be written: {error}", "make room, or make it writable")


def _locked(path: str) -> int:
    """The lock file stays: removing it would let two holders hold two files of one name."""
    handle = _open_private(path, posix.O_RDWR | posix.O_CREAT)
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return handle
        except BlockingIOError:
            if time.monotonic() > deadline:
                posix.close(handle)
                raise StateBusy(f"{path} is held by another process", "see `engine doctor`") from None
            time.sleep(0.002)


def _open_private(path: str, flags: int) -> int:
    """Never through a link: what a repository ships under our names must not lead us elsewhere."""
    flags |= posix.O_CLOEXEC | posix.O_NOFOLLOW
    try:
        return posix.open(path, flags, 0o600)
    except FileNotFoundError:
        make_private_directory(path[: path.rfind("/")])
        return posix.open(path, flags, 0o600)


def make_private_directory(path: str) -> None:
    """0700 all the way; what we make in a project ignores itself in git."""
    try:
        posix.mkdir(path, 0o700)
    except FileExistsError:
        return
    except FileNotFoundError:
        above = path[: path.rfind("/")]
        if not above:
            raise
        make_private_directory(above)
        try:
            posix.mkdir(path, 0o700)  # fails for good where `above` is a link to nowhere
        except FileExistsError:
            return  # another process was faster
    if path.endswith(("/.windows", "/.engine")):
        handle = posix.open(f"{path}/.gitignore", posix.O_WRONLY | posix.O_CREAT | posix.O_CLOEXEC, 0o600)
        posix.write(handle, b"*\n")
        posix.close(handle)


def _replace(path: str, data: bytes) -> None:
    temporary = f"{path}.{posix.getpid()}.tmp"
    flags = posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC | posix.O_CLOEXEC | posix.O_NOFOLLOW
    handle = posix.open(temporary, flags, 0o600)
    try:
        try:
            _write_all(handle, data)
        finally:
            posix.close(handle)
        posix.rename(temporary, path)
    except OSError:
        try:
            posix.unlink(temporary)
        except FileNotFoundError:
            pass  # renamed already, or never made
        raise


def _append(path: str, data: bytes) -> None:
    handle = _open_private(path, posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT)
    try:
        _write_all(handle, data)
    finally:
        posix.close(handle)


def _write_all(handle: int, data: bytes) -> None:
    while data:
        data = data[posix.write(handle, data) :]


def _put_aside(path: str) -> None:
    try:
        posix.rename(path, f"{path}.corrupt-{int(time.time())}")
    except OSError as error:
        if error.errno not in _UNWRITABLE:
            raise
