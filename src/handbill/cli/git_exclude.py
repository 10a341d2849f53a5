"""Keeps our settings file out of a repository with a line in git's exclude file.

Nobody commits that file. Git is never run, because a repository's own settings can make git run
programs. If anything is unusual, the line is only shown.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass

from handbill.cli.files import replace_bytes
from handbill.cli.trust import resolved
from handbill.paths import below
from handbill.settings import folder_of
from handbill.store.disk import read_regular

_MOST = 1 << 20
_MOST_INDEX = 64 << 20


@dataclass
class Exclude:
    line: str
    file: str  # the exclude file; empty if its place is not certain

    def add(self) -> str:
        """Add the line. Return the text that was added."""
        before = _read(self.file)
        text = ("" if not before or before.endswith(b"\n") else "\n") + f"{self.line}\n"
        replace_bytes(self.file, before + os.fsencode(text), _common(self.file))
        return text


def missing(settings: str, project: str) -> Exclude | None:
    """Return the line to add; None outside a repository, or if git ignores or tracks the file."""
    top = _repository(resolved(project))
    path = resolved(os.path.dirname(settings)) + "/" + os.path.basename(settings)
    if not top or not path.startswith(f"{top.rstrip('/')}/") or "\n" in path:
        return None
    names = below(path, top)
    own, common = _git_folders(top)
    if _is_tracked(own, "/".join(names)) or _is_ignored(top, names, common):
        return None
    return Exclude("/" + "/".join(map(_literal, names)), _exclude_file(common))


def take_back(added: str, project: str) -> str:
    """Remove the text that `add` returned. Return the file that was changed."""
    file = _exclude_file(_git_folders(_repository(resolved(project)))[1])
    if not file or not added:
        return ""
    text, before = os.fsencode(added), _read(file)
    at = before.rfind(text)
    if at < 0 or not (at == 0 or before[at - 1 : at] == b"\n" or text.startswith(b"\n")):
        return ""
    after = before[:at] + before[at + len(text) :]
    if after:
        replace_bytes(file, after, _common(file))
    else:
        os.unlink(file)  # the file did not exist before
    return file


def _repository(folder: str) -> str:
    while folder and not os.path.lexists(f"{folder.rstrip('/')}/.git"):
        folder = os.path.dirname(folder) if folder != "/" else ""
    return folder


def _git_folders(top: str) -> tuple[str, str]:
    """Return the git folders of (this checkout, the repository); empty if the layout is unusual."""
    mark = f"{top.rstrip('/')}/.git"
    if not top or os.path.islink(mark):
        return "", ""
    if os.path.isdir(mark):
        return mark, mark
    # In a worktree, git records the path in both directions. Nobody else can write the path back,
    # so this check protects your other repositories.
    told = _read(mark).decode("utf-8", "surrogateescape")
    own = resolved(os.path.join(top, told.removeprefix("gitdir:").strip()))
    back = _read(f"{own}/gitdir").decode("utf-8", "surrogateescape").strip()
    worktrees = os.path.dirname(own)
    if not told.startswith("gitdir:") or resolved(back) != mark or os.path.basename(worktrees) != "worktrees":
        return "", ""
    return own, os.path.dirname(worktrees)


def _exclude_file(common: str) -> str:
    """Return the exclude file; empty if it is in an unusual place, a link, or unreadable."""
    file = f"{common}/info/exclude"
    if not common or resolved(file) != file or not os.path.isdir(f"{common}/info"):
        return ""
    if not os.path.lexists(file):
        return file
    status = os.lstat(file)
    return file if stat.S_ISREG(status.st_mode) and status.st_size <= _MOST and os.access(file, os.R_OK) else ""


def _common(file: str) -> str:
    return file.removesuffix("/info/exclude")


def _is_tracked(own: str, path: str) -> bool:
    """Whether the index contains this path.

    Names in the rare compressed form are not found. Excluding a tracked file does no harm.
    """
    return bool(own) and os.fsencode(path) + b"\0" in _read(f"{own}/index", _MOST_INDEX)


def _is_ignored(top: str, names: list[str], common: str) -> bool:
    config = folder_of("XDG_CONFIG_HOME", ".config", os.environ)
    files = {f"{config}/git/ignore": names, f"{common}/info/exclude": names}
    for depth in range(len(names)):
        files["/".join([top.rstrip("/"), *names[:depth], ".gitignore"])] = names[depth:]
    return any(
        _means(line.strip(), rest)
        for file, rest in files.items()
        for line in _read(file).decode("utf-8", "surrogateescape").splitlines()
    )


def _means(line: str, names: list[str]) -> bool:
    """Whether a line names this file or a folder around it.

    Only literal names and `*.local.json` are understood.
    """
    pattern = line.removesuffix("/")
    anywhere = pattern.startswith("**/") or "/" not in pattern
    for end in ("/**", "/*"):
        pattern = pattern.removesuffix(end)
    pattern = pattern.removeprefix("**/").removeprefix("/")
    paths = ["/".join(names[: depth + 1]) for depth in range(len(names))]
    if not pattern:
        return False
    return pattern in paths or (
        anywhere and (pattern == "*.local.json" or any(path.endswith(f"/{pattern}") for path in paths))
    )


def _literal(name: str) -> str:
    """Escape the pattern characters in a name."""
    return "".join(f"\\{char}" if char in "\\*?[" else char for char in name)


def _read(file: str, most: int = _MOST) -> bytes:
    try:
        return read_regular(file, most, follow=False)
    except OSError:
        return b""  # missing, or a file that git would not read
