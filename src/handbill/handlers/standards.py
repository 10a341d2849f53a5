"""Core standards: in every window from its first event on, and again after a compaction."""

from __future__ import annotations

from handbill.event import MAIN
from handbill.ledger.window import OWN_DIRECTIVE
from handbill.plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.event import Event
    from handbill.ledger.window import Window
    from handbill.settings import Settings
    from handbill.world import World


def handle(event: Event, window: Window, world: World, settings: Settings) -> Plan | None:
    if window.flags.get("standards") == window.epoch:
        return None
    plan = Plan()
    plan.flags["standards"] = window.epoch
    for name in settings.standard_names(subagent=window.agent != MAIN):
        path = find(name, world, settings)
        if path:
            plan.want(path, "standard")
        else:
            plan.notes.append(f"standard {name} was not found in any library ({', '.join(settings.libraries)})")
    for path in own_directives(world, settings):
        plan.want(path, OWN_DIRECTIVE)
    return plan


def own_directives(world: World, settings: Settings) -> list[str]:
    """The user's rules for all projects: besides the project's and the shipped ones, never instead of them."""
    paths = (f"{settings.libraries[0]}/{name}" for name in settings.own_types)
    return [path for path in paths if world.is_file(path)]


def find(name: str, world: World, settings: Settings) -> str:
    if name.startswith("/"):
        return name
    if name.startswith("./"):
        return f"{settings.project}/{name[2:]}"
    # what the user says for all projects is added below; a name of that kind means the shipped file
    libraries = settings.libraries[::-1] if name in settings.core_types else settings.libraries
    for library in libraries:
        path = f"{library}/{name}"
        if world.is_file(path):
            return path
    return ""
