"""Core standards: in every window from its first event on, and again after a compaction."""

from __future__ import annotations

from handbill.core.event import MAIN
from handbill.core.plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.config import Config
    from handbill.core.event import Event
    from handbill.core.window import Window
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
            plan.notes.append(f"standard {name} is in no library ({', '.join(config.libraries)})")
    return plan


def find(name: str, world: World, config: Config) -> str:
    if name.startswith("/"):
        return name
    if name.startswith("./"):
        return f"{config.project}/{name[2:]}"
    for library in config.libraries:
        path = f"{library}/{name}"
        if world.is_file(path):
            return path
    return ""
