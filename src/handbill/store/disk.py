"""Files that several processes write: one at a time, replaced whole, for their owner only.

Writers take turns by `flock` on a sibling file: the kernel drops it when its holder dies, so a
lock is never judged by its age.
"""

from __future__ import annotations

import errno
import fcntl
import posix
import time

from handbill.errors import HandbillError


class StateBusy(HandbillError):
    code = "state-busy"


class StateUnwritable(HandbillError):
    """Read-only, full, or another user's: neither root takes a window."""

    code = "state-unwritable"


UNWRITABLE = (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT, errno.ENOENT, errno.ENOTDIR)
PATIENCE = 4.0  # seconds; waiting twice is less than a hook may take, and a stopped holder must not stop the agent
COMMAND_PATIENCE = 20.0  # a command may wait for a whole fleet on a busy machine


def unwritable(error: OSError) -> StateUnwritable:
    return StateUnwritable(f"no state can be written: {error}", "free some space, or make the folder writable")


def locked(path: str, patience: float | None = None) -> int:
    """The lock file stays: removing it would let two holders hold two files of one name."""
    handle = open_private(path, posix.O_RDWR | posix.O_CREAT)
    deadline = time.monotonic() + (PATIENCE if patience is None else patience)
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return handle
        except BlockingIOError:
            if time.monotonic() > deadline:
                posix.close(handle)
                raise StateBusy(
                    f"{path} is locked by another process", "try again, or end the process that holds it"
                ) from None
            time.sleep(0.002)


def open_private(path: str, flags: int) -> int:
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


def read_regular(path: str, most: int, *, follow: bool = True) -> bytes:
    """A regular file of at most so many bytes: no device that never ends, no FIFO that waits for a writer."""
    flags = posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC
    handle = posix.open(path, flags if follow else flags | posix.O_NOFOLLOW)
    try:
        status = posix.fstat(handle)
        if status.st_mode & 0o170000 != 0o100000:
            raise OSError(errno.EINVAL, "not a regular file", path)
        if status.st_size > most:
            raise OSError(errno.EFBIG, f"{status.st_size:,} bytes, more than the {most:,} allowed", path)
        pieces = []
        while piece := posix.read(handle, most):
            pieces.append(piece)
        return b"".join(pieces)
    finally:
        posix.close(handle)


def replace(path: str, data: bytes) -> None:
    temporary = f"{path}.{posix.getpid()}.tmp"
    flags = posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC | posix.O_NOFOLLOW
    try:
        handle = posix.open(temporary, flags, 0o600)
    except FileExistsError:  # left by a process of this number that was killed, or put there by somebody
        posix.unlink(temporary)
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


def append(path: str, data: bytes) -> None:
    handle = open_private(path, posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT)
    try:
        _write_all(handle, data)
    finally:
        posix.close(handle)


def _write_all(handle: int, data: bytes) -> None:
    while data:
        data = data[posix.write(handle, data) :]


def put_aside(path: str) -> None:
    try:
        posix.rename(path, f"{path}.corrupt-{int(time.time())}-{posix.getpid()}")
    except OSError as error:
        if error.errno not in UNWRITABLE:
            raise
