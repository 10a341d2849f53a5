"""Sessions as folders: `sessions/NAME/.state.json`, changed by one process at a time.

The file is replaced as a whole.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from typing import Any, TypeVar

from handbill.digest import digest_of
from handbill.errors import CorruptState, HandbillError
from handbill.settings import folder_of
from handbill.store import disk
from handbill.work import schema
from handbill.work.session import STATE, VERSION

State = dict[str, Any]
T = TypeVar("T")

FILE = ".state.json"
_LOCK = ".state.lock"
_MOST = 16 << 20


class NoSession(HandbillError):
    code = "no-session"


_FOREIGN = "your own installation did not write it; the project contains it, or something else changed it"


def read(folder: str) -> State | None:
    """Return the state, or None if no session was activated here yet."""
    path = os.path.join(folder, FILE)
    if not os.path.exists(_seal_of(folder)) and os.path.lexists(path) and not os.path.islink(path):
        raise _broken(path, _FOREIGN)
    try:
        text = disk.read_regular(path, _MOST, follow=False).decode("utf-8")
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise NoSession(
            f"{folder} is a file, not a session's folder", "move it elsewhere, or use another name"
        ) from None
    except UnicodeDecodeError as error:
        raise _broken(path, str(error)) from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise HandbillError(f"{path} is a link", "a session's state is a file: replace the link") from error
        raise HandbillError(f"{path}: {error.strerror}", "make it readable") from error
    if not _is_sealed(folder, text):
        raise _broken(path, _FOREIGN)
    try:
        state: State = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _broken(path, str(error)) from error
    found = schema.problems(state, STATE)
    if found:
        raise _broken(path, "; ".join(found[:3]))
    version = state.get("v", VERSION)
    if not isinstance(version, int) or version > VERSION:
        raise HandbillError(f"{path} was written by a newer version ({version})", "upgrade Handbill")
    return state


def _broken(path: str, why: str) -> CorruptState:
    return CorruptState(
        f"{path} is broken: {why}",
        "restore the file as it was; or run `engine session activate`, which renames it and starts over",
    )


def required(folder: str) -> State:
    state = read(folder)
    if state is None:
        what = "nothing was activated yet in" if os.path.isdir(folder) else "there is no session"
        raise NoSession(
            f"{what} {folder}",
            "engine session activate NAME SKILL begins one; engine session list shows the existing ones",
        )
    return state


def update(
    folder: str,
    change: Callable[[State | None], tuple[State | None, T]],
    *,
    make: bool = False,
    aside: list[str] | None = None,
) -> T:
    """Run `change` on the newest state under a lock, and save what it returns (None: no change).

    With `aside`, a corrupt state is put aside, `change` gets None, and the list gets the reason.
    """
    path = os.path.join(folder, FILE)
    try:
        if make:
            _make(folder)
        elif not os.path.isdir(folder):
            required(folder)
        lock = disk.locked(os.path.join(folder, _LOCK), disk.COMMAND_PATIENCE)
        try:
            after, result = change(_newest(folder, aside))
            found = schema.problems(after, STATE) if after is not None else []
            if found:
                raise HandbillError(f"that would break {path}: {found[0]}", "nothing was changed")
            if after is not None:
                text = (json.dumps(after, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "replace").decode()
                _seal(folder, text)
                disk.replace(path, text.encode())
            return result
        finally:
            os.close(lock)
    except (FileExistsError, NotADirectoryError):
        raise NoSession(
            f"{folder} is a file, not a session's folder", "move it elsewhere, or use another name"
        ) from None
    except OSError as error:
        raise HandbillError(
            f"{folder}: {error.strerror}", "nothing was changed; free some space, or make it writable"
        ) from error


# --- seals: they show that our own installation wrote a state -------------------------------------


def _seals() -> str:
    return f"{folder_of('XDG_STATE_HOME', '.local/state', os.environ)}/handbill/sessions"


def _seal_of(folder: str) -> str:
    return f"{_seals()}/{digest_of(os.path.realpath(folder))}"


def _is_sealed(folder: str, text: str) -> bool:
    try:
        return digest_of(text) in disk.read_regular(_seal_of(folder), 4096, follow=False).decode("ascii").split()
    except (OSError, ValueError):
        return False


def _seal(folder: str, text: str) -> None:
    """Record the digest before the state is written.

    The previous digest remains valid too, in case this process dies in between.
    """
    path = _seal_of(folder)
    disk.make_private_directory(_seals())
    try:
        before = disk.read_regular(path, 4096, follow=False).decode("ascii").split()[-1:]
    except (OSError, ValueError):
        before = []  # the first one
    disk.replace(path, "\n".join([*before, digest_of(text)]).encode())


def _make(folder: str) -> None:
    os.makedirs(folder, exist_ok=True)
    try:  # The team shares the documents, but not who works on them in which process.
        with open(os.path.join(folder, ".gitignore"), "x", encoding="utf-8") as file:
            file.write(".state.*\n.gitignore\n")
    except FileExistsError:
        pass  # created before, or the user's own


def _newest(folder: str, aside: list[str] | None) -> State | None:
    try:
        return read(folder)
    except CorruptState as error:
        if aside is None:
            raise
        disk.put_aside(os.path.join(folder, FILE))
        aside.append(str(error))
        return None


def folders(root: str) -> list[str]:
    """Return the folders of all sessions; only for people's commands."""
    try:
        names = os.listdir(root)
    except OSError:
        return []
    found = [os.path.join(root, name) for name in names if not name.startswith(".")]
    return sorted(folder for folder in found if os.path.isdir(folder) and _is_its_own(folder))


def _is_its_own(folder: str) -> bool:
    """Whether neither this folder nor its parent is a link.

    Sessions of another project are ignored.
    """
    return not os.path.islink(folder) and not os.path.islink(os.path.dirname(folder))
