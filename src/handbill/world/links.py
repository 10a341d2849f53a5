"""Where a path leads when symbolic links are followed, and how to open that place and no other."""

from __future__ import annotations

import errno
import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_NO_LINK = (errno.EINVAL, errno.ENOENT, errno.ENOTDIR)  # not a link, or not there
_MOST_PARTS, _MOST_STEPS = 200, 400  # of a path; with those of all links on the way. Each is one system call
_PASS = getattr(posix, "O_PATH", posix.O_RDONLY)  # the first needs no permission to list a folder


def real_path(path: str) -> str:
    """Absolute path with symbolic links followed; OSError: nobody can say where it leads.

    `posixpath.realpath` would import `os`, and takes every error for "not a link".
    """
    waiting = path.split("/")[::-1]
    if len(waiting) > _MOST_PARTS:
        raise OSError(errno.ENAMETOOLONG, f"the path has more than {_MOST_PARTS} parts")
    return _followed("", waiting)


def _followed(resolved: str, waiting: list[str]) -> str:
    """From `resolved`, whose links were followed; `waiting`: the parts behind it, the last one first."""
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
            if error.errno not in _NO_LINK:  # a name too long to look at may be a link all the same
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
    """Of several paths, without those that lead nowhere. What they share is followed once."""
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
    """Open what `real_path` returned. Should a part of it be a link by now, this fails: it was checked before."""
    folder = open_folder(real[: real.rfind("/")])
    try:
        return posix.open(real[real.rfind("/") + 1 :], flags | posix.O_NOFOLLOW | posix.O_CLOEXEC, mode, dir_fd=folder)
    finally:
        posix.close(folder)


def open_folder(real: str) -> int:
    """A folder, one part of its path after the other; no part may be a link."""
    flags = _PASS | posix.O_DIRECTORY | posix.O_NOFOLLOW | posix.O_CLOEXEC
    folder = posix.open("/", flags)
    for part in filter(None, real.split("/")):
        try:
            inner = posix.open(part, flags, dir_fd=folder)
        finally:
            posix.close(folder)
        folder = inner
    return folder
