"""Deliver the core standards to every window at its first event, and again after a compaction."""

from __future__ import annotations

from handbill.event import MAIN
from handbill.fast_json import loads
from handbill.gates import is_new_epoch
from handbill.ledger.window import OWN_DIRECTIVE
from handbill.paths import PACKAGE
from handbill.plan import Plan

_SHIPPED = f"{PACKAGE}/data/standards.json"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.event import Event, Inbox
    from handbill.ledger.window import Window
    from handbill.settings import Settings
    from handbill.world import World


def handle(event: Event, inbox: Inbox, window: Window, world: World, settings: Settings) -> Plan | None:
    if not is_new_epoch(window):
        return None
    plan = Plan()
    plan.flags["standards"] = window.epoch
    for name in standard_names(world, settings, subagent=window.agent != MAIN):
        path = find(name, world, settings)
        if path:
            plan.want(path, "standard")
        else:
            plan.notes.append(f"standard {name} was not found in any library ({', '.join(world.libraries)})")
    for path in own_directives(world, settings):
        plan.want(path, OWN_DIRECTIVE)
    return plan


def standard_names(world: World, settings: Settings, *, subagent: bool) -> list[str]:
    chosen = settings.subagent_standards if subagent else settings.standards
    if chosen is not None:
        return chosen
    shipped = loads((world.tail(_SHIPPED, 0) or b"{}").decode())
    names: list[str] = shipped["subagents" if subagent else "files"]
    return names


def own_directives(world: World, settings: Settings) -> list[str]:
    """Return the user's rules for all projects.

    They are added to the project's and the shipped rules, and never replace them.
    """
    paths = (f"{world.libraries[0]}/{name}" for name in settings.own_types)
    return [path for path in paths if world.is_file(path)]


def find(name: str, world: World, settings: Settings) -> str:
    if name.startswith("/"):
        return name
    if name.startswith("./"):
        return f"{world.project}/{name[2:]}"
    # `own_directives` adds the user's rules for all projects. Here, such a name means the shipped
    # file.
    libraries = world.libraries[::-1] if name in settings.core_types else world.libraries
    for library in libraries:
        path = f"{library}/{name}"
        if world.is_file(path):
            return path
    return ""
