"""Resolve a name to a file, in the same way for phases, references and commands."""

from __future__ import annotations

from handbill.paths import parent, under
from handbill.text.references import candidates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from handbill.world import World


def page(name: str, referring: str, world: World) -> str:
    """Return the file of §CMD_X, §FMT_X or §INV_X for a page that refers to it, or "".

    The search goes from the folder of that page up to its root, then through the project's, the
    user's and the shipped library.
    """
    for path in _places(name, referring, world):
        if world.is_file(path):
            return path
    return ""


def _places(name: str, referring: str, world: World) -> Iterator[str]:
    """Return the paths where the file of a name may be, nearest first."""
    start, stop = _walk(parent(referring), world)
    libraries = world.libraries
    if stop != world.project:
        libraries = (f"{world.project}/.directives", *libraries)
    return candidates(name, start, stop, libraries)


MANY = 20  # with more names, folders are listed instead of checking each file


def pages(names: list[str], referring: str, world: World) -> list[str]:
    """Return the files of several names in order, without names that have no file."""
    if len(names) <= MANY:
        return [path for path in (page(name, referring, world) for name in names) if path]
    # kind of page -> its folders, each with its file names
    folders: dict[str, list[tuple[str, set[str]]]] = {}
    listed: dict[str, set[str]] = {}
    found = []
    for name in names:
        kind = name.partition("_")[0]
        if kind not in folders:
            places = [parent(path) for path in _places(name, referring, world)]
            listed.update({place: set(world.names(place)) for place in places if place not in listed})
            folders[kind] = [(place, listed[place]) for place in places if listed[place]]
        file = f"{name}.md"
        paths = (f"{place}/{file}" for place, there in folders[kind] if file in there)
        found.append(next(filter(world.is_file, paths), ""))
    return [path for path in found if path]


def _walk(start: str, world: World) -> tuple[str, str]:
    """Return where the upward search begins and ends.

    In a library, it ends below the library itself.
    """
    if under(start, world.project):
        return start, world.project
    inside = f"{world.user_library}/skills"
    return (start, inside) if under(start, inside) else ("", "")
