"""Core standards: in every window from its first event on, and again after a compaction."""

from __future__ import annotations

from handbill.event import MAIN
from handbill.ledger.window import OWN_DIRECTIVE
from handbill.plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.event import Event
    from handbill.ledger.window import Window
    from handbill.settings import Config
    from handbill.world import World


def handle(event: Event, window: Window, world: World, config: Config) -> Plan | None:
    if window.flags.get("standards") == window.epoch:
        return None
    plan = Plan()
    plan.flags["standards"] = window.epoch
    for name in config.standard_names(subagent=window.agent != MAIN):
        path = find(name, world, config)
        if path:
            plan.want(path, "standard")
        else:
            plan.notes.append(f"standard {name} was not found in any library ({', '.join(config.libraries)})")
    for path in own_directives(world, config):
        plan.want(path, OWN_DIRECTIVE)
    return plan


def own_directives(world: World, config: Config) -> list[str]:
    """The user's rules for all projects: besides the project's and the shipped ones, never instead of them."""
    paths = (f"{config.libraries[0]}/{name}" for name in config.own_types)
    return [path for path in paths if world.is_file(path)]


def find(name: str, world: World, config: Config) -> str:
    if name.startswith("/"):
        return name
    if name.startswith("./"):
        return f"{config.project}/{name[2:]}"
    # what the user says for all projects is added below; a name of that kind means the shipped file
    libraries = config.libraries[::-1] if name in config.core_types else config.libraries
    for library in libraries:
        path = f"{library}/{name}"
        if world.is_file(path):
            return path
    return ""
