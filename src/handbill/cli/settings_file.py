"""The host's settings file on disk: finding, reading, comparing, backing up and replacing it."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass

from handbill.cli.files import replace_bytes
from handbill.errors import HandbillError
from handbill.hosts.claude_code import registration
from handbill.hosts.claude_code.settings_text import Group, added, removed
from handbill.store.disk import make_private_directory, read_regular, replace
from handbill.text.json_tree import without_gaps

_MOST_ENTRIES = 200
_MOST = 256 << 10  # bytes; a larger file would take minutes to edit
PACKAGE_PARENT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def path_for(project: str, *, user: bool) -> str:
    """Return the settings file. For a project, it is the local one, which is not shared.

    The file names this machine's interpreter.
    """
    if user:
        return os.path.join(os.path.expanduser("~"), ".claude", "settings.json")
    return os.path.join(project, ".claude", "settings.local.json")


@dataclass
class Change:
    """A change of the file. A text of `None` means that the file does not exist."""

    path: str
    before: str | None
    after: str | None

    @property
    def needed(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        name = os.path.basename(self.path)
        before, after = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        lines = difflib.unified_diff(before, after, name, f"{name} (new)")
        return "".join(line if line.endswith("\n") else line + "\n" for line in lines)


def read(path: str) -> str | None:
    """Read the file; None if it does not exist.

    Bytes that are not UTF-8 are kept, because the client reads such a file, too.
    """
    try:
        return read_regular(path, _MOST).decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HandbillError(f"{path}: {error.strerror}", "replace it with a readable file") from error


def parsed(path: str) -> registration.HookSettings:
    return registration.parse(read(path) or "", path)


def installation(path: str, groups: dict[str, Group]) -> Change:
    """Return the change that registers these groups."""
    before = read(path)
    registration.parse(before or "", path)
    _refuse_if_too_many(before or "", path)
    after = added(before, groups)
    if len(_encoded(after)) > _MOST:
        raise HandbillError(f"{path} would have more than the {_MOST:,} bytes allowed", "remove what it does not need")
    return Change(path, before, after)


def removal(path: str, state: str) -> Change:
    """Return the change that removes our entries."""
    before = read(path)
    if before is None or registration.MARK not in before:
        return Change(path, before, before)
    registration.parse(before, path)
    _refuse_if_too_many(before, path)
    after = removed(before)
    original = read(backup_of(path, state))
    # The client may have rewritten the whole file in its own format since the installation.
    if after not in (None, before) and original is not None and without_gaps(original) == without_gaps(after):
        after = original
    return Change(path, before, after)


def _refuse_if_too_many(text: str, path: str) -> None:
    """Each of our entries is found and removed on its own: thousands of them would take minutes."""
    found = text.count(registration.MARK)
    if found > _MOST_ENTRIES:
        raise HandbillError(f"{path} names {registration.MARK} {found:,} times", "remove those entries by hand")


def backup_of(path: str, state: str) -> str:
    """Return the path, outside the project, for a backup of the file as it was before us."""
    return os.path.join(state, "backups", os.path.basename(path))


def carry_out(change: Change, state: str, within: str = "") -> str:
    """Write the change. Return the backup's path, if there was a file to keep.

    A backup holds the file as it was before us. A file that already contains our hooks is not
    backed up.
    """
    kept = backup_of(change.path, state)
    folder = os.path.dirname(change.path)
    if change.before is not None and registration.MARK not in change.before:
        make_private_directory(os.path.dirname(kept))
        replace(kept, _encoded(change.before))
    if change.after is not None:
        os.makedirs(folder, exist_ok=True)
        replace_bytes(change.path, _encoded(change.after), within)
    elif os.path.exists(change.path):
        os.unlink(os.path.realpath(change.path))
        try:
            os.rmdir(os.path.realpath(folder))
        except OSError:
            pass  # it has other files, or is not ours to remove
    return kept if os.path.exists(kept) else ""


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
