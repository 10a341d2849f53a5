"""A subagent starts with the directives of the directories that its task names."""

from __future__ import annotations

from handbill.core.event import SUBAGENT_STARTED
from handbill.core.plan import Plan
from handbill.handlers.directives import Look
from handbill.handlers.notices import TASK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.config import Config
    from handbill.core.event import Event
    from handbill.core.window import Window
    from handbill.world import World


def handle(event: Event, window: Window, world: World, config: Config) -> Plan | None:
    tasks = [notice for notice in event.notices if notice.get("verb") == TASK]
    if not tasks:
        return None
    if event.kind != SUBAGENT_STARTED:
        return _over(event, tasks)
    # Several of one type may start at once, and nothing says which is which: each gets what all of them name.
    mine = [task for task in tasks if task.get("type") == event.raw.get("agent_type")]
    if not mine:
        return None
    types = tuple({name: None for task in mine for name in task.get("directives", ())})
    look = Look(event, window, world, config, types)
    if types:
        look.plan.work = {**window.work, "directives": list(types)}
    for directory in {place: None for task in mine for place in task.get("dirs", ())}:
        look.at(directory)
    return look.plan


def _over(event: Event, tasks: list[dict[str, object]]) -> Plan | None:
    """The call that handed it out has ended: its agent has started, or never will."""
    calls = {tool.id for tool in event.tools}
    done = [str(task["id"]) for task in tasks if task.get("call") in calls]
    if not done:
        return None
    plan = Plan()
    plan.taken += done
    return plan
