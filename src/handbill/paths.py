"""Lexical POSIX paths. Importing `posixpath` would import `os`, a sixth of the whole hook's
cost."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

PACKAGE = __file__[: __file__.rfind("/")]
SHIPPED = f"{PACKAGE}/data/directives"
SHIPPED_SKILLS = f"{PACKAGE}/data/skills"


def normal(path: str) -> str:
    """Return the absolute path without `//`, `.` and `..`. Lexical: nothing is read from the
    disk."""
    if "//" not in path and "/." not in path and (path == "/" or not path.endswith("/")):
        return path
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if parts:
                parts.pop()
        elif part and part != ".":
            parts.append(part)
    return "/" + "/".join(parts)


def join(base: str, path: str) -> str:
    return normal(path if path.startswith("/") else f"{base}/{path}")


def parent(path: str) -> str:
    return path[: path.rfind("/")] or "/"


def is_rule_file(path: str) -> bool:
    return "/.directives/" in path or path.endswith("/AGENTS.md")


def level_of(path: str) -> str:
    """Return the directory to which a rule file applies."""
    folder = parent(path)
    return parent(folder) if folder.endswith("/.directives") else folder


def name(path: str) -> str:
    return path[path.rfind("/") + 1 :]


ANYWHERE = "/\0/"  # in a root: any folders may be there; no real path can contain it


def under(path: str, root: str) -> bool:
    """Whether `path` is `root` or below it. Empty ones never match, because their target is
    unknown."""
    return bool(path and root) and (path == root or root == "/" or path.startswith(root + "/"))


def under_any(path: str, roots: Iterable[str]) -> bool:
    """Whether the path is under one of these roots, which may contain `ANYWHERE`."""
    for root in roots:
        if path == root or path.startswith(f"{root}/"):
            return bool(path and root)
        first, anywhere, last = root.partition(ANYWHERE)
        if anywhere and under(path, first) and f"/{last}/" in path[len(first) :]:
            return True
    return False


def below(path: str, root: str) -> list[str]:
    """Return the components of `path` below `root`."""
    rest = path[len(root) :] if root != "/" else path
    return [part for part in rest.split("/") if part]
