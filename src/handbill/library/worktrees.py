"""Check whether a directory is a worktree of the project's repository.

This module is imported only when a `.git` file is found.
"""

from __future__ import annotations

from handbill.paths import join, parent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.world import World

_WORKTREES = "/worktrees/"


def is_worktree(directory: str, world: World) -> bool:
    """Whether `directory`, which has a `.git` file, is a worktree of the project's repository."""
    git = _linked_git(directory, world)
    return bool(git) and _common(git) == _common(_project_git(world))


def _project_git(world: World) -> str:
    level = world.project
    while True:
        if world.is_dir(f"{level}/.git"):
            git = world.real(f"{level}/.git")
            # A link to another repository's folder proves nothing.
            return git if git == f"{world.real(level)}/.git" else ""
        if world.is_file(f"{level}/.git"):
            return _linked_git(level, world)
        if level == "/":
            return ""
        level = parent(level)


def _linked_git(directory: str, world: World) -> str:
    """Return the git folder of a worktree, or "".

    Anybody may name any folder, or link to a worktree, so both must name each other.
    """
    git = _git_folder(directory, world) if world.real(f"{directory}/.git") == f"{world.real(directory)}/.git" else ""
    linked = world.tail(f"{git}/gitdir", 0, 4096) or b"" if _WORKTREES in git else b""
    mutual = world.real(linked.decode("utf-8", "replace").strip()) == world.real(f"{directory}/.git")
    return git if linked and mutual else ""


def _git_folder(directory: str, world: World) -> str:
    """Return the folder that the `.git` file of a worktree or a submodule names."""
    text = (world.tail(f"{directory}/.git", 0, 4096) or b"").decode("utf-8", "replace").strip()
    path = text.removeprefix("gitdir:").strip()
    return world.real(join(directory, path)) if text.startswith("gitdir:") and path and "\0" not in path else ""


def _common(git: str) -> str:
    """Return the git folder that all worktrees of a repository share."""
    return git[: git.rfind(_WORKTREES)] if _WORKTREES in git else git
