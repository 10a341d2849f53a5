"""A subagent starts with the directives of the directories that its task names."""

from __future__ import annotations

from handbill.core.event import SUBAGENT_STARTED
from handbill.core.plan import Plan
from handbill.handlers.directives import Look

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.config import Config
    from handbill.core.event import Event
    from handbill.core.window import Window
    from handbill.world import World


def handle(event: Event, window: Window, world: World, config: Config) -> Plan | None:
    if event.kind != SUBAGENT_STARTED:
        return _over(event, world)
    # Several of one type may start at once, and nothing says which is which: each gets what all of them name.
    kind = event.raw.get("agent_type")
    mine = [task for task in event.tasks if task.get("type") == kind and world.now() - task["at"] <= _UNUSED]
    if not mine:
        return None
    types = tuple({name: None for task in mine for name in task.get("directives", ())})
    look = Look(event, window, world, config, types)
    if types:
        look.plan.work = {**window.work, "directives": list(types)}
    for directory in {place: None for task in mine for place in task.get("dirs", ())}:
        look.at(directory)
    return look.plan


_UNUSED = 20.0  # seconds; an agent starts at once, or its call was interrupted


def _over(event: Event, world: World) -> Plan | None:
    """The call that handed it out has ended: its agent has started, or never will."""
    done = [
        task["id"]
        for task in event.tasks
        if (task.get("call") in event.calls and not task.get("background")) or world.now() - task["at"] > _UNUSED
    ]
    if not done:
        return None
    plan = Plan()
    plan.taken += done
    return plan
