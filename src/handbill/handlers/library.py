"""Which file does a name mean? The one answer, for phases, references and commands alike."""

from __future__ import annotations

from handbill.core.paths import parent, under
from handbill.core.refs import FOLDERS, candidates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.config import Config
    from handbill.world import World


def page(name: str, referring: str, world: World, config: Config) -> str:
    """The file of §CMD_X, §FMT_X or §INV_X as seen from the file that refers to it; empty: there is none.

    Up from there to its root, then the project's own, then the user's library, then the shipped one.
    """
    start, stop = _walk(parent(referring), config)
    libraries = config.libraries
    if stop != config.project:
        libraries = (f"{config.project}/.directives", *libraries)
    for path in candidates(name, start, stop, libraries):
        if world.is_file(path):
            return path
    return ""


MANY = 20  # with more names, folders are listed instead of asking for each file


def pages(names: list[str], referring: str, world: World, config: Config) -> list[str]:
    """The files of several names, in their order; those that there are none of are left out."""
    if len(names) <= MANY:
        return [path for path in (page(name, referring, world, config) for name in names) if path]
    start, stop = _walk(parent(referring), config)
    kinds = {name.partition("_")[0]: name for name in names}
    folders = {parent(path) for name in kinds.values() for path in candidates(name, start, stop, config.libraries)}
    folders |= {f"{config.project}/.directives/{folder}" for folder in FOLDERS.values()}
    there = {file.removesuffix(".md") for folder in folders for file in world.names(folder)}
    return [path for name in names if name in there and (path := page(name, referring, world, config))]


def _walk(start: str, config: Config) -> tuple[str, str]:
    """Where looking upwards begins and ends; in a library it ends below the library itself."""
    if under(start, config.project):
        return start, config.project
    inside = f"{config.user_library}/skills"
    return (start, inside) if under(start, inside) else ("", "")
