"""What a command may run and write: never anything that a repository brought along.

Programs are taken from absolute folders of the PATH outside of the project. An interpreter that is named
in the project's settings is run only if an installation of this user's wrote it there.
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

# settings file -> what an installation of this user's registered there: {"command", "interpreter", "folder",
# "packages", "version"}, and {"excluded"} if it added that text to the repository's exclude file
Installed = dict[str, dict[str, Any]]


def resolved(path: str) -> str:
    """With links followed; empty: nobody can say where it leads."""
    try:
        return real_path(os.path.abspath(path))
    except (OSError, ValueError):
        return ""


def is_inside(path: str, folder: str) -> bool:
    """With links followed on both sides. A path of which nobody can say where it leads is not."""
    real, root = resolved(path), resolved(folder)
    return bool(real and root) and under(real, root)


def checkout_around(folder: str) -> str:
    """The outermost checkout that a folder is in: a repository may mark folders of its own as projects."""
    found = folder = os.path.realpath(folder)
    home = os.path.realpath(os.path.expanduser("~"))
    while folder not in ("/", home):
        if os.path.lexists(os.path.join(folder, ".git")):
            found = folder
        folder = os.path.dirname(folder)
    return found


def search_path(project: str) -> list[str]:
    """The folders of the PATH that no repository can fill."""
    untrusted = {project, checkout_around(project), checkout_around(os.getcwd())}
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return [
        folder for folder in folders
        if os.path.isabs(folder) and resolved(folder) and not any(is_inside(folder, one) for one in untrusted)
        and not any(_is_brought_by_a_folder_around(resolved(folder), one) for one in (project, os.getcwd()))
    ]  # fmt: skip


def _is_brought_by_a_folder_around(programs: str, project: str) -> bool:
    """Are they the `bin`, `.venv/bin` or `node_modules/.bin` of a folder that the project is in?

    The root of an unpacked archive has no mark.
    """
    if programs in _SYSTEM:
        return False
    home = os.path.realpath(os.path.expanduser("~"))
    around = {os.path.dirname(programs), os.path.dirname(os.path.dirname(programs))} - {"/", home}
    return any(is_inside(project, folder) for folder in around)


def find_program(name: str, project: str) -> str:
    """Its absolute path; empty: there is none."""
    return shutil.which(name, path=os.pathsep.join(search_path(project))) or ""


def environment(project: str) -> dict[str, str]:
    """For programs that we start: some of them (pyenv's, say) look for others on the PATH."""
    return {**os.environ, "PATH": os.pathsep.join(search_path(project))}


def own_folder() -> str:
    """Where Handbill keeps what belongs to the user, not to one project."""
    return os.path.join(folder_of("XDG_STATE_HOME", ".local/state", os.environ), "handbill")


def _record() -> str:
    return os.path.join(own_folder(), "installed.json")


def installed() -> Installed:
    """What this user's installations registered, by our own record."""
    try:
        with open(os.open(_record(), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), encoding="utf-8") as file:
            found = loads(file.read(1 << 20))
    except (OSError, ValueError):
        return {}  # nothing was installed yet; `engine install` writes it again
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
