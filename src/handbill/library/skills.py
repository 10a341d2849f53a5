"""Where a skill is, what it says, and which files its phases and templates mean."""

from __future__ import annotations

from handbill.fast_json import loads
from handbill.library.pages import page
from handbill.paths import normal, parent
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
_PLUGINS = "plugins/installed_plugins.json"


def skill_file(name: str, world: World, settings: Settings, *, shipped: bool = True) -> str:
    """The SKILL.md of a skill: the user's, the project's, a plugin's, the shipped one; empty: there is none. The host
    takes the user's before the project's, too.

    Without `shipped`: one that the host knows, too.
    """
    plugin, _, own = name.rpartition(":")
    if not own or own.startswith(".") or not _PLAIN.issuperset(own + plugin):
        return ""
    folders = [] if plugin else [f"{settings.user_library}/skills", f"{settings.project}/.claude/skills"]
    folders += [f"{folder}/skills" for folder in _plugin_folders(plugin, world, settings)]
    for folder in (*folders, settings.shipped_skills) if shipped and not plugin else folders:
        path = f"{folder}/{own}/SKILL.md"
        if world.is_file(path):
            return path
    return ""


def _plugin_folders(plugin: str, world: World, settings: Settings) -> list[str]:
    """Where the host keeps installed plugins: {"plugins": {"name@market": [{"installPath": …}]}}."""
    data = world.tail(f"{settings.user_library}/{_PLUGINS}", 0, 1 << 20)
    if data is None:
        return []
    try:
        plugins = loads(data.decode("utf-8", "replace"))["plugins"]
        return [
            normal(place["installPath"])
            for key, places in plugins.items()
            for place in (places if isinstance(places, list) else [places])
            if not plugin or key.partition("@")[0] == plugin
        ]
    except (ValueError, KeyError, TypeError, AttributeError):
        return []  # written by another version of the host: its plugins' skills are not found


def skill_at(path: str, world: World, most: int = 5) -> tuple[Skill | None, list[str]]:
    """The skill, and what is wrong with it in words for the trace."""
    document = world.load(path)
    if isinstance(document, Refusal):
        return None, [f"{path} {document.why}"]
    skill = parse(document.text, loads)
    words = [f"{path}, line {line}: {what}" for line, what in skill.problems]
    more = len(words) - most
    rest = [f"{path}: {more} more {'problem' if more == 1 else 'problems'}"] if more > 0 else []
    return skill, [*words[:most], *rest]


def pages_of(phase: Phase, skill_path: str, world: World, settings: Settings) -> tuple[list[str], list[str]]:
    """(files of a phase's pages in the order of use, names that have no file of their own)."""
    found: dict[str, None] = {}
    without: dict[str, None] = {}
    for word in phase.pages:
        name = page_name(word)
        path = page(name, skill_path, world, settings) if name else ""
        if path:
            found[path] = None
        elif name:
            without[name] = None
    return list(found), list(without)


def template(skill_path: str, name: str, settings: Settings) -> str:
    """A file that a skill names, relative to its own folder."""
    if name.startswith("~/"):
        return normal(f"{settings.home}/{name[2:]}")
    return normal(name if name.startswith("/") else f"{parent(skill_path)}/{name}")


def proof_of(phase: Phase, skill_path: str, world: World, settings: Settings) -> Proof:
    """What leaving a phase asks for: its declared fields, and what its steps' pages say."""
    from handbill.work.proof import Proof

    made = Proof()
    for word in phase.proof:
        if not page_name(word):
            made.declare(word)
    for word in dict.fromkeys((*phase.steps, *phase.proof)[:MOST_PAGES]):
        name = page_name(word)
        path = page(name, skill_path, world, settings) if name else ""
        document = world.load(path) if path else None
        if document is not None and not isinstance(document, Refusal):
            made.add_page(name, path, document.text, loads)
    return made
