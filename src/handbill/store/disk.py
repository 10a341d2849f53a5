"""Files that several processes write: one at a time, replaced as a whole, for their owner only.

Writers take turns by `flock` on a separate file. The kernel releases the lock when its holder dies,
so the age of a lock does not matter.
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
    """Neither root can be written: read-only, full, or another user's."""

    code = "state-unwritable"


UNWRITABLE = (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT, errno.ENOENT, errno.ENOTDIR)
# seconds; even two waits take less than a hook's timeout, so a stopped holder cannot stop the agent
PATIENCE = 4.0
COMMAND_PATIENCE = 20.0  # A command may wait for many agents on a busy machine.


def unwritable(error: OSError) -> StateUnwritable:
    return StateUnwritable(f"no state can be written: {error}", "free some space, or make the folder writable")


def locked(path: str, patience: float | None = None) -> int:
    """Lock a file and return its handle.

    The lock file stays: if it were removed, two holders could lock two files of the same name.
    """
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
    """Open a file, but never through a link.

    A repository may contain links under our names. They must not lead us elsewhere.
    """
    flags |= posix.O_CLOEXEC | posix.O_NOFOLLOW
    try:
        return posix.open(path, flags, 0o600)
    except FileNotFoundError:
        make_private_directory(path[: path.rfind("/")])
        return posix.open(path, flags, 0o600)


def make_private_directory(path: str) -> None:
    """Create a directory and its missing parents with mode 0700.

    Git ignores the folders that we create in a project.
    """
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
            posix.mkdir(path, 0o700)  # This fails permanently if `above` is a link to nowhere.
        except FileExistsError:
            return  # another process was faster
    if path.endswith(("/.windows", "/.engine")):
        handle = posix.open(f"{path}/.gitignore", posix.O_WRONLY | posix.O_CREAT | posix.O_CLOEXEC, 0o600)
        posix.write(handle, b"*\n")
        posix.close(handle)


def read_regular(path: str, most: int, *, follow: bool = True) -> bytes:
    """Read a regular file of at most `most` bytes.

    Other files are refused: a device may never end, and a FIFO waits for a writer.
    """
    flags = posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC
    handle = posix.open(path, flags if follow else flags | posix.O_NOFOLLOW)
    try:
        status = posix.fstat(handle)
        if status.st_mode & 0o170000 != 0o100000:
            raise OSError(errno.EINVAL, "not a regular file", path)
        if status.st_size > most:
            raise OSError(errno.EFBIG, f"{status.st_size:,} bytes, more than the {most:,} allowed", path)
        pieces, size = [], 0
        # Files of the kernel have the size 0, and some of them never end.
        while piece := posix.read(handle, most + 1):
            pieces.append(piece)
            size += len(piece)
            if size > most:
                raise OSError(errno.EFBIG, f"more than the {most:,} bytes allowed", path)
        return b"".join(pieces)
    finally:
        posix.close(handle)


def replace(path: str, data: bytes) -> None:
    temporary = f"{path}.{posix.getpid()}.tmp"
    flags = posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC | posix.O_NOFOLLOW
    try:
        handle = posix.open(temporary, flags, 0o600)
    except FileExistsError:  # left by a killed process with this id, or put there by somebody
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
            pass  # renamed already, or never created
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
