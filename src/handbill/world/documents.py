"""Read one file for delivery. Imported only if a file must be delivered or compared."""

from __future__ import annotations

import errno
import posix

from handbill.digest import digest_of
from handbill.paths import ANYWHERE, is_rule_file, under, under_any
from handbill.text.document import Document, Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

MOST_BYTES = 1 << 20  # A larger file is not a page for a context window.
# limits of a path: characters, and bytes with unprintable characters escaped
_LONG, _LONGEST = 500, 5000
# other errors may be temporary
_LASTING = (errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENAMETOOLONG)
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_CONTROL = bytes([*range(9), 11, 12, *range(13, 32), 127])

_NO_LINK = (errno.EINVAL, errno.ENOENT, errno.ENOTDIR)  # not a link, or it does not exist
# limits of a path: its parts, and all steps including links; each step is one system call
_MOST_PARTS, _MOST_STEPS = 200, 400
_PASS = getattr(posix, "O_PATH", posix.O_RDONLY)  # O_PATH needs no permission to list a folder.


def read_page(path: str, real: str, read_all: Callable[[int, int], bytes]) -> Document | Refusal:
    """Read a page. `real`: the path that was checked, with links followed."""
    # Opening a FIFO must not wait for a writer.
    handle = open_resolved(real, posix.O_RDONLY | posix.O_NONBLOCK)
    try:
        status = posix.fstat(handle)
        stamp = f"{status.st_mtime_ns}:{status.st_size}"
        if status.st_mode & 0o170000 != 0o100000:
            return Refusal(path, "is not a regular file", stamp=stamp)
        if status.st_size > MOST_BYTES:
            why = f"has {status.st_size:,} bytes, more than the {MOST_BYTES:,} allowed"
            return Refusal(path, why, stamp=stamp)
        data = read_all(handle, MOST_BYTES + 1)
    finally:
        posix.close(handle)
    if data.startswith(_UTF_16):
        return Refusal(path, "is not UTF-8 text", stamp=stamp)
    if b"\0" in data:
        return Refusal(path, "is binary", stamp=stamp)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return Refusal(path, "is not UTF-8 text", stamp=stamp)
    text = trimmed(text)
    if not data.isascii() or len(data.translate(None, _CONTROL)) < len(data):
        from handbill.text.blocks import harmless

        text = harmless(text)  # A client may show it on a terminal.
    if not text.strip():
        return Refusal(path, "is empty", quiet=True)
    inode = f"{status.st_dev}:{status.st_ino}"
    return Document(path, inode, digest_of(text), text, stamp)


def trimmed(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").strip("\n")


def load(
    path: str, read_all: Callable[[int, int], bytes], roots: Collection[str], added: Collection[str], *, permitted: bool
) -> Document | Refusal:
    """Load a file for delivery, or return the reason why it is refused.

    `roots`: from `real_roots`. `added`: more roots for this event, from which only rules are
    delivered.
    """
    try:
        if len(path) > _LONG and len(path.encode("unicode_escape")) > _LONGEST:
            return Refusal(path, "has a path that is too long for a title")
        real = real_path(path)
        if not permitted and not under_any(real, roots) and not _stays(path, real, added):
            return Refusal(path, "leads out of the project and the libraries")
        from handbill.text.secret_paths import is_private

        if not permitted and is_private(real):
            return Refusal(path, "may contain secrets, judging by its path")
        return read_page(path, real, read_all)
    except FileNotFoundError:
        return Refusal(path, "does not exist", quiet=True)
    except OSError as error:
        why = f"cannot be read ({(error.strerror or 'no reason given').lower()})"
        return Refusal(path, why, may_pass=error.errno not in _LASTING)
    except ValueError:
        return Refusal(path, "cannot be read (its name contains a character that no file name can have)")


def real_roots(given: Collection[str]) -> tuple[str, ...]:
    """Return the roots by their own names and by the places that these lead to.

    A root that leads nowhere does not affect the others.
    """
    plain = [root for root in given if ANYWHERE not in root]
    return tuple({*given, *real_paths(plain), *(_real_root(root) for root in given if ANYWHERE in root)})


def _real_root(root: str) -> str:
    first, anywhere, last = root.partition(ANYWHERE)
    found = real_paths([first])
    return found[0] + anywhere + last if found else root


def _stays(path: str, real: str, added: Collection[str]) -> bool:
    return is_rule_file(real) and any(under(path, root) and under(real, real_path(root)) for root in added)


# --- following symbolic links, and opening exactly the resolved place -----------------------------


def real_path(path: str) -> str:
    """Return the absolute path with symbolic links followed. OSError: it cannot be resolved.

    `posixpath.realpath` would import `os`, and treats every error as "not a link".
    """
    waiting = path.split("/")[::-1]
    if len(waiting) > _MOST_PARTS:
        raise OSError(errno.ENAMETOOLONG, f"the path has more than {_MOST_PARTS} parts")
    return _followed("", waiting)


def _followed(resolved: str, waiting: list[str]) -> str:
    """Follow the remaining parts from `resolved`, whose links were already followed.

    `waiting`: the remaining parts, the last one first.
    """
    links, steps = 0, 0
    while waiting:
        part = waiting.pop()
        steps += 1
        if steps > _MOST_STEPS:
            raise OSError(errno.ELOOP, f"its links lead through more than {_MOST_STEPS} folders")
        if not part or part == ".":
            continue
        if part == "..":
            resolved = resolved[: resolved.rfind("/")] if resolved else ""
            continue
        step = f"{resolved}/{part}"
        try:
            target = posix.readlink(step)
        except OSError as error:
            if error.errno not in _NO_LINK:  # A name that is too long to check may still be a link.
                raise
            resolved = step
            continue
        links += 1
        if links > 40:
            raise OSError(errno.ELOOP, f"too many symbolic links: {step}")
        if target.startswith("/"):
            resolved = ""
        waiting += target.split("/")[::-1]
    return resolved or "/"


def real_paths(paths: Iterable[str]) -> list[str]:
    """Return the real paths, without those that lead nowhere.

    A folder that several paths share is followed once.
    """
    folders: dict[str, str] = {}
    found = []
    for path in paths:
        folder = path[: path.rfind("/")]
        try:
            if folder not in folders:
                folders[folder] = real_path(folder) if folder else ""
            found.append(_followed(folders[folder].rstrip("/"), [path[len(folder) + 1 :]]))
        except (OSError, ValueError):
            continue
    return found


def open_resolved(real: str, flags: int, mode: int = 0o600) -> int:
    """Open a path that `real_path` returned and that was checked.

    If a part of it has become a link since then, this fails.
    """
    folder = open_folder(real[: real.rfind("/")])
    try:
        return posix.open(real[real.rfind("/") + 1 :], flags | posix.O_NOFOLLOW | posix.O_CLOEXEC, mode, dir_fd=folder)
    finally:
        posix.close(folder)


def open_folder(real: str) -> int:
    """Open a folder, one part of its path after the other. No part may be a link."""
    flags = _PASS | posix.O_DIRECTORY | posix.O_NOFOLLOW | posix.O_CLOEXEC
    folder = posix.open("/", flags)
    for part in filter(None, real.split("/")):
        try:
            inner = posix.open(part, flags, dir_fd=folder)
        finally:
            posix.close(folder)
        folder = inner
    return folder
