"""Read-only access to the disk.

Between an event and its output, no other module opens a project file.
"""

from __future__ import annotations

import posix
import time

from handbill.paths import SHIPPED, SHIPPED_SKILLS, under

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from types import ModuleType
    from typing import Any, TypeVar

    from handbill.settings import ProcessContext
    from handbill.text.document import Document, Refusal

    T = TypeVar("T")

_DIRECTORY, _REGULAR, _LINK = 0o040000, 0o100000, 0o120000
_KIND = 0o170000

# the size of a directory file in bytes; a larger one has thousands of entries and is not listed
_LARGE = 1 << 15


def _status(path: str) -> posix.stat_result | None:
    try:
        status = posix.lstat(path)
        # The system would follow links through tens of thousands of folders.
        return status if status.st_mode & _KIND != _LINK else posix.lstat(_real_path(path))
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return None


def _real_path(path: str) -> str:
    from handbill.world.documents import real_path  # The usual event needs no real paths.

    return real_path(path)


class World:
    """Access to the disk for one event.

    `roots`: the only places from which files are delivered, after symbolic links are followed.
    """

    def __init__(
        self, roots: Iterable[str], host: ModuleType | None = None, process: ProcessContext | None = None
    ) -> None:
        self._given = tuple(roots)
        self._host = host
        self.process: Any = process  # None in some tests, and for files outside any project
        self.project, self.home = (process.project, process.home) if process is not None else ("", "")
        self.environ: Mapping[str, str] = process.environ if process is not None else {}
        self._added: list[str] = []
        self._loaded: dict[tuple[str, bool], Document | Refusal] = {}
        self._answers: dict[str, Any] = {}

    def add_roots(self, roots: Iterable[str]) -> None:
        """Add roots for this event only.

        A rule below such a root is delivered if it stays there when links are followed.
        """
        new = [root for root in roots if root not in self._added]
        if new:
            self._added, self._loaded = [*self._added, *new], {}

    def once(self, question: str, ask: Callable[[], T]) -> T:
        """Return an answer that is the same for a whole event, and compute it only once."""
        if question not in self._answers:
            self._answers[question] = ask()
        answer: T = self._answers[question]
        return answer

    @property
    def host(self) -> ModuleType:
        """The host module, which knows how the client handles files and where its folders are."""
        if self._host is None:
            raise RuntimeError("this world was made without a host")
        return self._host

    @property
    def user_library(self) -> str:
        """The user's own folder for this host: rules, skills and settings for all projects."""
        folder: str = self.host.user_folder(self.home)
        return folder

    @property
    def libraries(self) -> tuple[str, ...]:
        """Folders that have pages by name. The user's overrides the shipped one."""
        return f"{self.user_library}/.directives", SHIPPED

    def now(self) -> float:
        return time.time()

    def pause(self, seconds: float) -> None:
        time.sleep(seconds)

    def spent(self) -> float:
        """Return the seconds of processor time that this process has used."""
        return time.process_time()

    def is_running(self, process: int) -> bool:
        from handbill.world.processes import is_running

        return is_running(process)

    def real(self, path: str) -> str:
        """Return the path with links followed.

        It is empty if that fails, for example because of a circular link or a name that is too
        long.
        """
        try:
            return _real_path(path)
        except (OSError, ValueError):
            return ""

    def inside(self, directory: str) -> str:
        """Return a directory inside the project as a project path, even if a link names it."""
        if under(directory, self.project):
            return directory
        root, real = self.real(self.project), self.real(directory)
        if under(real, root):
            return self.project + real[len(root) :] if root != "/" else real
        return directory

    def names(self, directory: str) -> list[str]:
        """Return the names in a directory; an empty list if it does not exist."""
        try:
            return sorted(posix.listdir(directory))
        except (OSError, ValueError):
            return []

    def present(self, directory: str, names: Collection[str]) -> Collection[str]:
        """Return which of these names a directory has, however many others it has."""
        size = self.size(directory)
        if size < 0:
            return ()
        if size > _LARGE:
            return [name for name in names if self._kind(f"{directory}/{name}")]
        try:
            return posix.listdir(directory)
        except OSError:
            return ()

    def is_closed(self, directory: str) -> bool:
        """Whether this is a folder that we may not list, or whose files we may not open."""
        return self.is_dir(directory) and not posix.access(directory, posix.R_OK | posix.X_OK)

    def inode(self, path: str) -> str:
        """Return the identity of a file across links; empty if it does not exist."""
        status = _status(path)
        return f"{status.st_dev}:{status.st_ino}" if status is not None else ""

    def is_file(self, path: str) -> bool:
        return self._kind(path) == _REGULAR

    def is_dir(self, path: str) -> bool:
        return self._kind(path) == _DIRECTORY

    def _kind(self, path: str) -> int:
        status = _status(path)
        return status.st_mode & _KIND if status is not None else 0

    def load(self, path: str, *, permitted: bool = False) -> Document | Refusal:
        """Return the current file, or the reason why it is not delivered.

        `permitted`: the person named this very file. Each file is read once, so that an event
        delivers the same text that it planned with.
        """
        asked = (path, permitted)
        if asked not in self._loaded:
            from handbill.world.documents import load, real_roots

            roots = self.once("real roots", lambda: real_roots(self._given))
            self._loaded[asked] = load(path, read_all, roots, self._added, permitted=permitted)
        return self._loaded[asked]

    def can_deliver(self, path: str, *, permitted: bool = False) -> bool:
        from handbill.text.document import Refusal

        return not isinstance(self.load(path, permitted=permitted), Refusal)

    def frontmatter(self, path: str) -> tuple[dict[str, Any], str]:
        """Return (the contents of a page's YAML head, the reason why they cannot be used)."""
        from handbill.text.document import Refusal

        document = self.load(path)
        if isinstance(document, Refusal):
            return {}, f"{path} {document.why}"
        from handbill.text.frontmatter import BadHead, parse

        try:
            return parse(document.text)[0], ""
        except BadHead as error:
            return {}, f"{path}: {error}"

    def changed(self, path: str) -> float:
        """Return when a file was last written; 0.0 if it does not exist."""
        status = _status(path)
        return status.st_mtime if status is not None else 0.0

    def clock(self, moment: float) -> str:
        """Format a time in UTC."""
        try:
            return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))
        except (OSError, OverflowError, ValueError):  # The time of a file may be out of range.
            return "an unknown time"

    def stamp(self, path: str) -> str:
        """Return a text that changes with the file or folder; empty if it does not exist."""
        status = _status(path)
        return f"{status.st_mtime_ns}:{status.st_size}" if status is not None else ""

    def size(self, path: str) -> int:
        """Return the size of a file; -1 if it does not exist."""
        status = _status(path)
        return status.st_size if status is not None else -1

    def proc(self, path: str) -> bytes:
        from handbill.world.processes import read_kernel_file

        return read_kernel_file(path)

    def tail(self, path: str, offset: int, most: int = 64 << 20) -> bytes | None:
        """Return the file from `offset` on, or None without a file.

        A negative offset counts from the end.
        """
        try:
            handle = posix.open(path, posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC)
        except (OSError, ValueError):
            return None
        try:
            status = posix.fstat(handle)
            if status.st_mode & _KIND != _REGULAR:
                return None  # A device may never end.
            size = status.st_size
            start = max(size + offset, 0) if offset < 0 else offset
            if start > size:
                start = 0  # The file was rewritten, so the text that we need may be anywhere in it.
            posix.lseek(handle, start, 0)
            return read_all(handle, min(most, size - start))
        except OSError:
            return None
        finally:
            posix.close(handle)


def deliverable_roots(process: ProcessContext, host: ModuleType, allowed: Iterable[str]) -> tuple[str, ...]:
    """Return the only places that files are delivered from.

    The host's own folder is not one of them, only the libraries in it.
    """
    libraries: Iterable[str] = host.library_folders(process.home)
    return process.project, *libraries, SHIPPED, SHIPPED_SKILLS, *allowed, *process.page_folders


def read_all(handle: int, most: int) -> bytes:
    """Read up to `most` bytes, with one call for the usual small file."""
    data = posix.read(handle, most) if most > 0 else b""
    if not data or len(data) >= most:
        return data
    pieces = [data]
    left = most - len(data)
    while left > 0:
        data = posix.read(handle, left)
        if not data:
            break
        pieces.append(data)
        left -= len(data)
    return b"".join(pieces)
