"""One file, read for delivery. Loaded only when there is something to deliver or to compare."""

from __future__ import annotations

import posix

from handbill.core.sheet import Refusal, Sheet
from handbill.digest import digest_of
from handbill.links import open_resolved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MOST_BYTES = 1 << 20  # a larger file is not a page for a context window
_CONTROL = bytes([*range(9), 11, 12, *range(13, 32), 127])


def read_page(path: str, real: str, read_all: Callable[[int, int], bytes]) -> Sheet | Refusal:
    """`real`: the place that was checked, with links followed."""
    handle = open_resolved(real, posix.O_RDONLY | posix.O_NONBLOCK)  # opening a FIFO must not wait for a writer
    try:
        status = posix.fstat(handle)
        if status.st_mode & 0o170000 != 0o100000:
            return Refusal(path, "is not a regular file")
        if status.st_size > MOST_BYTES:
            return Refusal(path, f"has {status.st_size:,} bytes, more than the {MOST_BYTES:,} allowed")
        data = read_all(handle, MOST_BYTES + 1)
    finally:
        posix.close(handle)
    if b"\0" in data:
        return Refusal(path, "is binary")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return Refusal(path, "is not UTF-8 text")
    text = trimmed(text)
    if not data.isascii() or len(data.translate(None, _CONTROL)) < len(data):
        from handbill.core.pack import harmless

        text = harmless(text)  # a client may show it on a terminal
    if not text.strip():
        return Refusal(path, "is empty", quiet=True)
    inode = f"{status.st_dev}:{status.st_ino}"
    return Sheet(path, inode, digest_of(text), text, f"{status.st_mtime_ns}:{status.st_size}")


def trimmed(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").strip("\n")
