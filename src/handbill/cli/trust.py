"""Decides what a command may run and write: never anything that a repository contains.

Programs are taken from absolute folders of the PATH outside the project. An interpreter named in
the project's settings runs only if an installation of this user wrote it there.
"""

from __future__ import annotations

import json
import os
import shutil
from typing import Any

from handbill.fast_json import loads
from handbill.paths import under
from handbill.settings import folder_of
from handbill.store.disk import make_private_directory, replace
from handbill.world.documents import real_path

_SYSTEM = {f"{place}/{name}" for place in ("", "/usr", "/usr/local") for name in ("bin", "sbin")}

# Maps a settings file to what an installation of this user registered there: {"command",
# "interpreter", "folder", "packages", "version"}, and {"excluded"} if it added that text to the
# repository's exclude file.
Installed = dict[str, dict[str, Any]]


def resolved(path: str) -> str:
    """Return the path with links followed; empty if that is impossible."""
    try:
        return real_path(os.path.abspath(path))
    except (OSError, ValueError):
        return ""


def is_inside(path: str, folder: str) -> bool:
    """Whether a path is in a folder, with links followed in both. False if that is impossible."""
    real, root = resolved(path), resolved(folder)
    return bool(real and root) and under(real, root)


def checkout_around(folder: str) -> str:
    """Return the outermost checkout around a folder.

    A repository may mark folders of its own as projects.
    """
    found = folder = os.path.realpath(folder)
    home = os.path.realpath(os.path.expanduser("~"))
    while folder not in ("/", home):
        if os.path.lexists(os.path.join(folder, ".git")):
            found = folder
        folder = os.path.dirname(folder)
    return found


def search_path(project: str) -> list[str]:
    """Return the folders of the PATH that no repository can fill."""
    untrusted = {project, checkout_around(project), checkout_around(os.getcwd())}
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return [
        folder for folder in folders
        if os.path.isabs(folder) and resolved(folder) and not any(is_inside(folder, one) for one in untrusted)
        and not any(_is_brought_by_a_folder_around(resolved(folder), one) for one in (project, os.getcwd()))
    ]  # fmt: skip


def _is_brought_by_a_folder_around(programs: str, project: str) -> bool:
    """Whether these are the `bin`, `.venv/bin` or `node_modules/.bin` around the project.

    The root of an unpacked archive has no project mark.
    """
    if programs in _SYSTEM:
        return False
    home = os.path.realpath(os.path.expanduser("~"))
    around = {os.path.dirname(programs), os.path.dirname(os.path.dirname(programs))} - {"/", home}
    return any(is_inside(project, folder) for folder in around)


def find_program(name: str, project: str) -> str:
    """Return the absolute path of a program; empty if it is not found."""
    return shutil.which(name, path=os.pathsep.join(search_path(project))) or ""


def environment(project: str) -> dict[str, str]:
    """Return the environment for programs that we start.

    Some, such as pyenv's shims, look for other programs on the PATH.
    """
    return {**os.environ, "PATH": os.pathsep.join(search_path(project))}


def own_folder() -> str:
    """Return the folder for Handbill's data about the user, rather than about one project."""
    return os.path.join(folder_of("XDG_STATE_HOME", ".local/state", os.environ), "handbill")


def _record() -> str:
    return os.path.join(own_folder(), "installed.json")


def installed() -> Installed:
    """Return what this user's installations registered, from our own record."""
    try:
        with open(os.open(_record(), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), encoding="utf-8") as file:
            found = loads(file.read(1 << 20))
    except (OSError, ValueError):
        # Nothing was installed yet, or the record is damaged; `engine install` writes it again.
        return {}
    rows = found.items() if isinstance(found, dict) else ()
    return {path: values for path, values in rows if isinstance(values, dict)}


def remember(settings: str, values: dict[str, Any]) -> None:
    _write({**installed(), settings: values})


def forget(settings: str) -> None:
    known = installed()
    if known.pop(settings, None) is not None:
        _write(known)


def _write(known: Installed) -> None:
    make_private_directory(os.path.dirname(_record()))
    replace(_record(), json.dumps(known, indent=2).encode())
