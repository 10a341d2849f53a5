"""Check whether a process is still running.

A client that has ended can stay in the process table for a long time.
"""

from __future__ import annotations

import posix

_ENDED = (b"Z", b"X")


def is_running(process: int) -> bool:
    try:
        posix.kill(process, 0)
    except (ProcessLookupError, OverflowError):  # OverflowError: not a valid process id
        return False
    except PermissionError:
        return True  # The process belongs to another user.
    return not _has_ended(process)


def _has_ended(process: int) -> bool:
    """Whether a process has ended, but its parent has not collected its exit status.

    In a container without an init process, nobody ever does.
    """
    status = read_kernel_file(f"/proc/{process}/stat")
    return status.rpartition(b")")[2].lstrip()[:1] in _ENDED


def read_kernel_file(path: str) -> bytes:
    """Read a small file whose size is not known; empty if it does not exist."""
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
