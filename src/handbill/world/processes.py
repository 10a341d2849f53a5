"""Is a process still running? A client that has ended can stay in the process table for a long time."""

from __future__ import annotations

import posix

_ENDED = (b"Z", b"X")


def is_running(process: int) -> bool:
    try:
        posix.kill(process, 0)
    except (ProcessLookupError, OverflowError):  # the second: not a number that a process can have
        return False
    except PermissionError:
        return True  # somebody else's
    return not _has_ended(process)


def _has_ended(process: int) -> bool:
    """Its parent has not asked how it ended. In a container without an init process, nobody ever does."""
    status = read_kernel_file(f"/proc/{process}/stat")
    return status.rpartition(b")")[2].lstrip()[:1] in _ENDED


def read_kernel_file(path: str) -> bytes:
    """A small file whose size is not known; empty: there is none."""
    try:
        handle = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    except (OSError, ValueError):
        return b""
    try:
        return posix.read(handle, 1 << 16)
    except OSError:
        return b""
    finally:
        posix.close(handle)
