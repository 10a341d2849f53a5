"""Which file does a name mean? The one answer, for phases, references and commands alike."""

from __future__ import annotations

from handbill.core.paths import parent, under
from handbill.core.refs import candidates

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


def _walk(start: str, config: Config) -> tuple[str, str]:
    """Where looking upwards begins and ends; in a library it ends below the library itself."""
    if under(start, config.project):
        return start, config.project
    inside = f"{config.user_library}/skills"
    return (start, inside) if under(start, inside) else ("", "")
