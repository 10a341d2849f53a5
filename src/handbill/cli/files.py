"""Reads and replaces files for commands, in folders that somebody else may have filled."""

from __future__ import annotations

import errno
import os
import stat
import uuid

from handbill.cli.trust import is_inside, resolved
from handbill.errors import HandbillError
from handbill.paths import below, under
from handbill.settings import folder_of
from handbill.store.disk import make_private_directory, read_regular
from handbill.world.documents import open_folder, real_path

MOST = 4 << 20
_REPLACE_LINK = "replace the link with a real file or folder"
_UNCHANGED = "nothing was changed; check permissions and free space"


def read_text(path: str, most: int = MOST) -> str:
    """Read a regular file of limited size.

    Raises FileNotFoundError if it does not exist, and HandbillError for any other problem.
    """
    try:
        return read_regular(path, most).decode("utf-8")
    except FileNotFoundError:
        raise
    except OSError as error:
        raise HandbillError(f"{path}: {error.strerror}", "replace it with a readable file") from error
    except UnicodeDecodeError as error:
        raise HandbillError(f"{path} is not UTF-8 text: {error.reason}", "save it as UTF-8") from error


def require_inside(path: str, project: str) -> None:
    """Refuse a path whose links lead out of the project or into its git folder.

    Otherwise a repository could make us write anywhere, or make git run what we wrote.
    """
    real = resolved(path)
    if not is_inside(path, project):
        raise HandbillError(
            f"{path} leads out of the project (to {real or 'a place that cannot be determined'})", _REPLACE_LINK
        )
    if ".git" in below(real.lower(), resolved(project).lower()):  # some disks ignore case
        raise HandbillError(f"{path} leads into the git folder (to {real})", _REPLACE_LINK)


def replace_text(path: str, text: str, within: str = "") -> None:
    replace_bytes(path, text.encode("utf-8"), within)


def replace_bytes(path: str, data: bytes, within: str = "") -> None:
    """Replace a whole file or leave it unchanged, and keep its mode.

    The new file is made outside the project. `within` is the folder that must contain the file
    after links are followed; the check uses the same open folder as the write.
    """
    scratch = os.path.join(folder_of("XDG_STATE_HOME", ".local/state", os.environ), "handbill", "tmp")
    try:
        target = real_path(os.path.abspath(path))
        if within:
            require_inside(path, within)
        if within and not under(target, real_path(os.path.abspath(within))):
            raise OSError(errno.ELOOP, "a folder was replaced by a link in the meantime")
        make_private_directory(scratch)
        folder = open_folder(os.path.dirname(target))
    except OSError as error:
        raise HandbillError(f"{path}: {error.strerror}", _UNCHANGED) from error
    name = os.path.basename(target)
    try:
        mode = _mode_of(name, folder)
        temporary = write_new(os.path.join(scratch, f"{uuid.uuid4().hex}.tmp"), data, mode)
        try:
            os.replace(temporary, name, dst_dir_fd=folder)
        except OSError as error:
            os.unlink(temporary)
            if error.errno != errno.EXDEV:
                raise
            # This is another file system: only a file beside the target can replace it in one step.
            temporary = write_new(f"{name}.{uuid.uuid4().hex}.tmp", data, mode, folder)
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError as error:
        raise HandbillError(f"{path}: {error.strerror}", _UNCHANGED) from error
    finally:
        os.close(folder)


def _mode_of(name: str, folder: int) -> int:
    try:
        return stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return 0o600


def write_new(path: str, data: bytes, mode: int, folder: int | None = None) -> str:
    """Write a new file. Fails if the file, or a link with its name, exists."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(path, flags, 0o600, dir_fd=folder)
    with open(handle, "wb") as file:
        file.write(data)
        os.fchmod(handle, mode)
    return path
