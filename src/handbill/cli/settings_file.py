"""The host's settings file on disk: which one, read, shown as a diff, kept, replaced."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass
from typing import Any

from handbill.errors import HandbillError
from handbill.hosts import claude_settings

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
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise HandbillError(f"{path}: {error}", "make it readable UTF-8, then run this again") from error


def planned(
    path: str,
    ours: dict[str, list[dict[str, Any]]] | None,
    *,
    reformat: bool = False,
    held: str = claude_settings.HELD_TOOLS,
) -> Change:
    """The change that registers `ours`, or removes what is ours (None)."""
    before = read(path)
    settings = claude_settings.parse(before, path)
    style: tuple[int | str | None, bool, str] = (2, False, "\n")
    wanted = claude_settings.without_ours(settings)
    if ours is not None:
        wanted = claude_settings.with_ours(settings, ours, held)
    if wanted == settings:
        return Change(path, before, before)
    if not reformat:
        try:
            style = claude_settings.style_of(before, settings)
        except claude_settings.OddFormatting as error:
            raise claude_settings.OddFormatting(f"{path}: {error}", error.hint) from None
    return Change(path, before, claude_settings.written(wanted, style) if wanted or before.strip() else "")


def carry_out(change: Change, *, backup: bool = True) -> str:
    """Write it; returns the backup's path, if there was anything to keep.

    A backup is of the file as it was before us: one that we made earlier is never written over.
    """
    kept = change.path + ".handbill-backup"
    os.makedirs(os.path.dirname(change.path), exist_ok=True)
    if backup and change.before and claude_settings.MARK not in change.before:
        replace_text(kept, change.before, change.path)
    replace_text(change.path, change.after, change.path)
    return kept if backup and os.path.exists(kept) else ""


def replace_text(path: str, text: str, like: str) -> None:
    """Follow a link (dotfile managers), keep the mode, never leave half a file."""
    target = os.path.realpath(path)
    mode = os.stat(like).st_mode & 0o777 if os.path.exists(like) else 0o600
    temporary = f"{target}.{os.getpid()}.tmp"
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w", newline="") as file:
            file.write(text)
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except OSError as error:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise HandbillError(f"{path}: {error}", "nothing was changed") from error
