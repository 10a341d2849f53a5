"""Which file does a name mean? The one answer, for phases, references and commands alike."""

from __future__ import annotations

from handbill.paths import parent, under
from handbill.text.references import candidates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from handbill.world import World


def page(name: str, referring: str, world: World) -> str:
    """The file of §CMD_X, §FMT_X or §INV_X as seen from the file that refers to it; empty: there is none.

    Up from there to its root, then the project's own, then the user's library, then the shipped one.
    """
    for path in _places(name, referring, world):
        if world.is_file(path):
            return path
    return ""


def _places(name: str, referring: str, world: World) -> Iterator[str]:
    """Where its file may be, the nearest place first."""
    start, stop = _walk(parent(referring), world)
    libraries = world.libraries
    if stop != world.project:
        libraries = (f"{world.project}/.directives", *libraries)
    return candidates(name, start, stop, libraries)


MANY = 20  # with more names, folders are listed instead of asking for each file


def pages(names: list[str], referring: str, world: World) -> list[str]:
    """The files of several names, in their order; those that there are none of are left out."""
    if len(names) <= MANY:
        return [path for path in (page(name, referring, world) for name in names) if path]
    folders: dict[str, list[tuple[str, set[str]]]] = {}  # kind of page -> its folders, with what is in them
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
    """Where looking upwards begins and ends; in a library it ends below the library itself."""
    if under(start, world.project):
        return start, world.project
    inside = f"{world.user_library}/skills"
    return (start, inside) if under(start, inside) else ("", "")
