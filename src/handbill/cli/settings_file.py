"""The host's settings file on disk: which one, read, shown as a diff, kept, replaced."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass
from typing import Any

from handbill.cli.files import read_text, replace_text
from handbill.hosts.claude_code import registration
from handbill.store.disk import make_private_directory, replace

PACKAGE_PARENT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def path_for(project: str, *, user: bool) -> str:
    """The project's local file: it names this machine's interpreter, which must not be shared."""
    if user:
        return os.path.join(os.path.expanduser("~"), ".claude", "settings.json")
    return os.path.join(project, ".claude", "settings.local.json")


@dataclass
class Change:
    path: str
    before: str
    after: str

    @property
    def needed(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        name = os.path.basename(self.path)
        lines = difflib.unified_diff(
            self.before.splitlines(keepends=True), self.after.splitlines(keepends=True), name, f"{name} (new)"
        )
        return "".join(line if line.endswith("\n") else line + "\n" for line in lines)


def read(path: str) -> str:
    try:
        return read_text(path)
    except FileNotFoundError:
        return ""


def planned(
    path: str,
    ours: dict[str, list[dict[str, Any]]] | None,
    *,
    reformat: bool = False,
    held: str = registration.HELD_TOOLS,
    original: str = "",
) -> Change:
    """The change that registers `ours`, or removes what is ours (None). `original`: the file as it was before us."""
    before = read(path)
    settings = registration.parse(before, path)
    style: tuple[int | str | None, bool, str] = (2, False, "\n")
    wanted = registration.without_ours(settings)
    if ours is not None:
        wanted = registration.with_ours(settings, ours, held)
    if wanted == settings:
        return Change(path, before, before)
    if ours is None and original and registration.parse(original, path) == wanted:
        return Change(path, before, original)  # byte for byte, whatever the installation had to reformat
    if not reformat:
        try:
            style = registration.style_of(before, settings)
        except registration.OddFormatting as error:
            raise registration.OddFormatting(f"{path}: {error}", error.hint) from None
    return Change(path, before, registration.written(wanted, style) if wanted or before.strip() else "")


def backup_of(path: str, state: str) -> str:
    """Where the file as it was before us is kept: outside of the project."""
    return os.path.join(state, "backups", os.path.basename(path))


def carry_out(change: Change, state: str, within: str = "") -> str:
    """Write it; returns the backup's path, if there was anything to keep.

    A backup is of the file as it was before us: one that we made earlier is never written over.
    """
    kept = backup_of(change.path, state)
    make_private_directory(os.path.dirname(kept))
    os.makedirs(os.path.dirname(change.path), exist_ok=True)
    if change.before and registration.MARK not in change.before:
        replace(kept, change.before.encode("utf-8"))
    replace_text(change.path, change.after, within)
    return kept if os.path.exists(kept) else ""
