"""Lexical POSIX paths. `posixpath` would import `os`, a sixth of the whole hook's cost."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

PACKAGE = __file__[: __file__.rfind("/")]
SHIPPED = f"{PACKAGE}/data/directives"
SHIPPED_SKILLS = f"{PACKAGE}/data/skills"


def normal(path: str) -> str:
    """Absolute path without `//`, `.` and `..`; lexical, so nothing is read."""
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
    """The directory that a rule file speaks for."""
    folder = parent(path)
    return parent(folder) if folder.endswith("/.directives") else folder


def name(path: str) -> str:
    return path[path.rfind("/") + 1 :]


ANYWHERE = "/\0/"  # in a root: any folders may be there; no path that exists can contain it


def under(path: str, root: str) -> bool:
    """Nothing is under an empty path, or is one: nobody knows where that leads."""
    return bool(path and root) and (path == root or root == "/" or path.startswith(root + "/"))


def under_any(path: str, roots: Iterable[str]) -> bool:
    """Is it under one of these? A root may have `ANYWHERE` in it."""
    for root in roots:
        if path == root or path.startswith(f"{root}/"):
            return bool(path and root)
        first, anywhere, last = root.partition(ANYWHERE)
        if anywhere and under(path, first) and f"/{last}/" in path[len(first) :]:
            return True
    return False


def below(path: str, root: str) -> list[str]:
    """The components of `path` below `root`."""
    rest = path[len(root) :] if root != "/" else path
    return [part for part in rest.split("/") if part]
