"""Files that commands read and replace, in a folder that somebody else may have filled."""

from __future__ import annotations

import errno
import os
import stat
import uuid

from handbill.cli.trust import is_inside, resolved
from handbill.config import folder_of
from handbill.errors import HandbillError
from handbill.store.disk import make_private_directory, read_regular

MOST = 4 << 20


def read_text(path: str, most: int = MOST) -> str:
    """A regular file of a reasonable size. Raises FileNotFoundError; what else is wrong is said in a HandbillError."""
    try:
        return read_regular(path, most).decode("utf-8")
    except FileNotFoundError:
        raise
    except OSError as error:
        raise HandbillError(f"{path}: {error.strerror}", "replace it with a readable file") from error
    except UnicodeDecodeError as error:
        raise HandbillError(f"{path} is not UTF-8 text: {error.reason}", "save it as UTF-8") from error


def require_inside(path: str, project: str) -> None:
    """Refuses a path whose links lead out of the project: a repository could make us write anywhere."""
    if not is_inside(path, project):
        raise HandbillError(
            f"{path} leads out of the project (to {resolved(path) or 'a place that cannot be determined'})",
            "replace the link with a real file or folder, or install for all your projects: engine install --user",
        )


def replace_text(path: str, text: str) -> None:
    """Write a file whole or not at all, keeping its mode. The new text is made outside of the project."""
    scratch = os.path.join(folder_of("XDG_STATE_HOME", ".local/state", os.environ), "handbill", "tmp")
    target = os.path.realpath(path)
    mode = stat.S_IMODE(os.stat(target).st_mode) if os.path.exists(target) else 0o600
    try:
        make_private_directory(scratch)
        temporary = _write_new(os.path.join(scratch, f"{uuid.uuid4().hex}.tmp"), text, mode)
        try:
            os.replace(temporary, target)
        except OSError as error:
            os.unlink(temporary)
            if error.errno != errno.EXDEV:
                raise
            # another file system: only a file beside the target can take its place at once
            temporary = _write_new(f"{target}.{uuid.uuid4().hex}.tmp", text, mode)
            os.replace(temporary, target)
    except OSError as error:
        raise HandbillError(f"{path}: {error.strerror}", "nothing was changed") from error


def _write_new(path: str, text: str, mode: int) -> str:
    """A file that did not exist, and no link to one."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with open(handle, "w", encoding="utf-8", newline="") as file:
        file.write(text)
        os.fchmod(handle, mode)
    return path
