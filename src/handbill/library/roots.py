"""Which root does a directory belong to? Directives are looked for from a directory up to there.

The project; a worktree of the same repository, inside of the project or next to it; a directory that the
user added; the user's own library; what the user's settings allow.
"""

from __future__ import annotations

from handbill.paths import below, parent, under

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from handbill.settings import Settings
    from handbill.world import World


def inside(directory: str, world: World) -> str:
    """The directory as seen from the project, when it was named past a link into the project."""
    if under(directory, world.project):
        return directory
    root, real = world.real(world.project), world.real(directory)
    if under(real, root):
        return world.project + real[len(root) :] if root != "/" else real
    return directory


def root_of(directory: str, world: World, settings: Settings, added: Collection[str] = ()) -> str:
    """Where the walk-up ends; empty: no directives for this place. `added`: by the user, for this session."""
    if under(directory, world.project):
        root = _worktree(directory, world.project, world) or world.project
    else:
        # the project's settings may name any directory: one that holds the project or the home folder is not taken
        holds = [world.real(place) for place in (world.project, world.home)] if added else []
        own = [root for root in added if not any(under(place, world.real(root)) for place in holds)]
        homes = (world.user_library, *settings.allowed, *own)
        root = next((home for home in homes if under(directory, home)), "") or _worktree(directory, "/", world)
    # a project's settings speak for itself and its worktrees, not for directories that the user added or allowed
    is_its_own = under(directory, world.project) or root not in (world.user_library, *settings.allowed, *added)
    excluded = root and is_its_own and any(part in settings.excluded for part in below(directory, root))
    return "" if excluded else root


def _worktree(directory: str, stop: str, world: World) -> str:
    """The nearest folder from here up (`stop` left out) that is a worktree of the project's repository."""
    while directory != stop and directory != "/":
        if world.is_file(f"{directory}/.git"):
            from handbill.library.worktrees import is_worktree

            return directory if is_worktree(directory, world) else ""
        directory = parent(directory)
    return ""
