"""Find a skill, parse it, and resolve the files of its phases and templates."""

from __future__ import annotations

from handbill.fast_json import loads
from handbill.library.pages import page
from handbill.paths import SHIPPED_SKILLS, normal, parent
from handbill.text.document import Refusal
from handbill.text.references import page_name
from handbill.work.phases import MOST_PAGES
from handbill.work.skill_file import Skill, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.settings import Settings
    from handbill.work.phases import Phase
    from handbill.work.proof import Proof
    from handbill.world import World

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")


def skill_file(name: str, world: World, *, shipped: bool = True) -> str:
    """Return a skill's SKILL.md; "" if it does not exist.

    The order is the user's, the project's, a plugin's, the shipped one. The host also prefers the
    user's over the project's. Without `shipped`, only skills that the host knows too are found.
    """
    plugin, _, own = name.rpartition(":")
    if not own or own.startswith(".") or not _PLAIN.issuperset(own + plugin):
        return ""
    folders = [] if plugin else [*world.host.skill_folders(world.project, world.home)]
    folders += [f"{folder}/skills" for folder in world.host.plugin_folders(plugin, world)]
    for folder in (*folders, SHIPPED_SKILLS) if shipped and not plugin else folders:
        path = f"{folder}/{own}/SKILL.md"
        if world.is_file(path):
            return path
    return ""


def skill_at(path: str, world: World, most: int = 5) -> tuple[Skill | None, list[str]]:
    """Return the skill, and its problems as text for the trace."""
    document = world.load(path)
    if isinstance(document, Refusal):
        return None, [f"{path} {document.why}"]
    skill = parse(document.text, loads)
    words = [f"{path}, line {line}: {what}" for line, what in skill.problems]
    more = len(words) - most
    rest = [f"{path}: {more} more {'problem' if more == 1 else 'problems'}"] if more > 0 else []
    return skill, [*words[:most], *rest]


def pages_of(phase: Phase, skill_path: str, world: World) -> tuple[list[str], list[str]]:
    """Return (files of a phase's pages in order of use, names without a file of their own)."""
    found: dict[str, None] = {}
    without: dict[str, None] = {}
    for word in phase.pages:
        name = page_name(word)
        path = page(name, skill_path, world) if name else ""
        if path:
            found[path] = None
        elif name:
            without[name] = None
    return list(found), list(without)


def template(skill_path: str, name: str, world: World) -> str:
    """Return the path of a file that a skill names, relative to the skill's folder."""
    if name.startswith("~/"):
        return normal(f"{world.home}/{name[2:]}")
    return normal(name if name.startswith("/") else f"{parent(skill_path)}/{name}")


def proof_of(phase: Phase, skill_path: str, world: World, settings: Settings) -> Proof:
    """Return the proof needed to leave a phase: its declared fields and those of its pages."""
    from handbill.work.proof import Proof

    made = Proof()
    for word in phase.proof:
        if not page_name(word):
            made.declare(word)
    for word in dict.fromkeys((*phase.steps, *phase.proof)[:MOST_PAGES]):
        name = page_name(word)
        path = page(name, skill_path, world) if name else ""
        document = world.load(path) if path else None
        if document is not None and not isinstance(document, Refusal):
            made.add_page(name, path, document.text, loads)
    return made
