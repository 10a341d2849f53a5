"""Checks of the settings, the standards and the state folders.

They check whether the folders are usable, and who can read them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from handbill.handlers.standards import find, standard_names
from handbill.reports.findings import BAD, NOTE, OK, Finding
from handbill.reports.plain_text import count
from handbill.reports.store_files import ledgers_in, moved_ledgers, state_folders
from handbill.store.prune import DAYS

if TYPE_CHECKING:
    from handbill.project import Project


def settings(project: Project) -> Iterator[Finding]:
    for problem in project.settings.problems:
        yield Finding("settings", BAD, problem, "correct that file")


def unusable_standards(project: Project) -> Iterator[Finding]:
    world = project.world()
    for name in standard_names(world, project.settings, subagent=False):
        path = find(name, world, project.settings)
        problem = getattr(world.load(path), "why", "") if path else "was not found in any library"
        if problem:
            yield Finding("standards", BAD, f"{path or name} {problem}", "correct `standards.files` in the settings")


def state(project: Project) -> Iterator[Finding]:
    root = project.store.root
    problem = _unwritable(root)
    if problem:
        text = f"{root} cannot be written ({problem}): only the transcript shows what was delivered"
        yield Finding("state", BAD, text, "free some space, make it writable, or set XDG_STATE_HOME")
    else:
        yield Finding("state", OK, f"kept in {root}")
    moved = len(moved_ledgers(project.store))
    if moved:
        text = f"{root} could not be written; ledgers are in {project.store.spare} ({moved})"
        fix = "free some space or make it writable; new ledgers are then written there again"
        yield Finding("state", BAD, text, fix)
    for folder in state_folders(project.store):
        yield from _folder_state(folder)


def _unwritable(folder: str) -> str:
    """Return why state cannot be written to a folder; empty if it can."""
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    if not os.path.isdir(folder):
        return f"{folder} is not a folder"
    if not os.access(folder, os.W_OK | os.X_OK):
        return "no permission" if not os.statvfs(folder).f_flag & os.ST_RDONLY else "a read-only file system"
    return "" if os.statvfs(folder).f_bavail else "no space is left"


def _folder_state(folder: str) -> Iterator[Finding]:
    names = os.listdir(folder)
    open_to_all = [name for name in names if os.lstat(os.path.join(folder, name)).st_mode & 0o077]
    if os.stat(folder).st_mode & 0o077 or open_to_all:
        yield Finding("permissions", BAD, f"{folder} can be read by others", f"chmod -R go-rwx {folder}")
    corrupt = [name for name in names if ".corrupt-" in name]
    if corrupt:
        text = f"{count(len(corrupt), 'broken state file')} put aside in {folder} (newest {max(corrupt)})"
        yield Finding("state", BAD, text, "look at them, then remove them")
    limit = time.time() - DAYS * 86400
    stale = [name for name in ledgers_in(folder) if os.lstat(os.path.join(folder, name)).st_mtime < limit]
    if stale:
        yield Finding("state", NOTE, f"{count(len(stale), 'ledger')} older than {DAYS} days", "engine prune")
