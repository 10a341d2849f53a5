"""The launcher: a short file of the user's that starts the hooks, so that the command is short too.

The client prints each registered command at every `/compact`. It carries on if the launcher or its
interpreter is gone (docs/decisions/0050-short-commands.md).
"""

from __future__ import annotations

import os
import time
import uuid
from dataclasses import dataclass

from handbill.cli import trust
from handbill.cli.files import write_new
from handbill.errors import HandbillError
from handbill.hosts.claude_code import registration
from handbill.store.disk import make_private_directory, read_regular

_NAME = f"{registration.MARK}-"  # the client records the command, and we search for this mark in it
_LONGEST = 127  # bytes of a script's first line that every kernel reads
_MOST = 1 << 16
_ABOUT = "# Claude Code starts Handbill's hooks with this file. `engine install` wrote it; `engine prune` removes it."


@dataclass(frozen=True)
class Launcher:
    interpreter: str
    folder: str  # contains the package
    packages: str  # contains PyYAML

    @property
    def text(self) -> str:
        code = registration.hook_code(self.folder, self.packages)
        return f"#!{self.interpreter} -ISXutf8\n{_ABOUT}\n{code}\n"

    @property
    def path(self) -> str:
        """Return a path named after the content. Versions coexist, and no launcher ever changes."""
        from hashlib import blake2b

        return os.path.join(trust.own_folder(), _NAME + blake2b(self._data, digest_size=4).hexdigest())

    @property
    def command(self) -> list[str]:
        """Return the command to register: the launcher, or a longer command where none can work."""
        return [self.path] if self._is_possible() else registration.inline(self.interpreter, self.folder, self.packages)

    @property
    def _data(self) -> bytes:
        return self.text.encode("utf-8", "surrogateescape")

    def _is_possible(self) -> bool:
        first = self._data.partition(b"\n")[0]
        return len(first) <= _LONGEST and len(self.interpreter.split()) == 1 and not _forbids_programs(self.path)

    def write(self) -> None:
        """Write the launcher, if the command needs one."""
        if self.command != [self.path]:
            return
        try:
            if self.is_intact():
                os.utime(self.path)  # it is in use again, so this delays its removal
                return
            make_private_directory(os.path.dirname(self.path))
            os.replace(write_new(f"{self.path}.{uuid.uuid4().hex}.tmp", self._data, 0o700), self.path)
        except OSError as error:
            raise HandbillError(
                f"{self.path} cannot be written: {error.strerror}", "make its folder writable, or set XDG_STATE_HOME"
            ) from error

    def is_intact(self) -> bool:
        try:
            same = read_regular(self.path, _MOST, follow=False) == self._data
        except OSError:
            return False
        return same and os.access(self.path, os.R_OK | os.X_OK)


def _forbids_programs(path: str) -> bool:
    """Whether the path is on a file system that forbids running programs, as some homes are."""
    while not os.path.exists(path):
        path = os.path.dirname(path)
    return bool(os.statvfs(path).f_flag & getattr(os, "ST_NOEXEC", 0))


def remove_unused(days: float, *, dry_run: bool = False) -> list[str]:
    """Remove launchers without an installation, unused for `days`. Return their paths.

    They are kept for a while because open clients go on using theirs. If a launcher disappears
    between the time the kernel reads it and the time the interpreter does, the interpreter exits
    with 2, which blocks a prompt or a call.
    """
    used = {word for values in trust.installed().values() for word in values.get("command", ())}
    limit = time.time() - days * 86400
    removed = []
    try:
        names = sorted(os.listdir(trust.own_folder()))
    except OSError:
        return []  # nothing was ever installed
    for name in names:
        path = os.path.join(trust.own_folder(), name)
        if name.startswith(_NAME) and path not in used and os.lstat(path).st_mtime < limit:
            if not dry_run:
                os.unlink(path)
            removed.append(path)
    return removed
