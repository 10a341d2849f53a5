"""Find the pages that a delivered page refers to, one step at a time.

Each of them goes out after the page that names it.
"""

from __future__ import annotations

from handbill.paths import name as base_name
from handbill.text.references import references

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.text.document import Document
    from handbill.world import World


def pages_named(document: Document, world: World) -> list[str]:
    """Return the files of the pages that a text refers to.

    The commands that SKILL.md names are left out, because they are delivered with their phases.
    """
    of_a_skill = base_name(document.path) == "SKILL.md"
    names = [name for name in references(document.text) if not (of_a_skill and name.startswith("CMD_"))]
    if not names:
        return []
    from handbill.library.pages import pages

    return [path for path in pages(names, document.path, world) if path != document.path]
