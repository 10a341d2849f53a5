"""Give a new subagent the directives of the directories that its task names.

The start event does not identify the call that started the subagent. So the subagent gets the
directives for all open calls of its type in the same turn. Its first tool event identifies the
call, and settles that task. Elapsed time does not matter: a person may take minutes to approve a
call.
"""

from __future__ import annotations

from handbill.errors import TookTooLong
from handbill.event import PROMPT_SUBMITTED, SUBAGENT_STARTED
from handbill.library.directive_search import LOOKED, DirectiveSearch, in_order
from handbill.plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handbill.event import Event, Inbox
    from handbill.ledger.window import Window
    from handbill.settings import Settings
    from handbill.world import World

    Task = dict[str, Any]


def handle(event: Event, inbox: Inbox, window: Window, world: World, settings: Settings) -> Plan | None:
    if event.kind == SUBAGENT_STARTED:
        kind, turn = event.agent_type, event.prompt_id
        mine = [task for task in inbox.tasks if task.get("type") == kind and task.get("turn") in (turn, "")]
        return _directives(mine, event, inbox, window, world, settings) if mine else None
    if event.agent_id:
        mine = [task for task in inbox.tasks if inbox.call and task.get("call") == inbox.call]
        plan = _directives(mine, event, inbox, window, world, settings) if mine else None
        if plan is not None:
            plan.settled += [task["id"] for task in mine]
        return plan
    return _over(event, inbox)


def _directives(
    tasks: list[Task], event: Event, inbox: Inbox, window: Window, world: World, settings: Settings
) -> Plan:
    types = tuple({name: None for task in tasks for name in task.get("directives", ())})
    look = DirectiveSearch(event, inbox, window, world, settings, types)
    if types:
        look.plan.work = {**window.work, "directives": list(types)}
    places = [(place, LOOKED) for task in tasks for place in task.get("dirs", ())]
    try:
        for directory, how in in_order(dict.fromkeys(places), world, settings):
            look.at(directory, how)
    except TookTooLong as stop:
        stop.where, stop.partial = look.give_up(), look.plan
        raise
    return look.plan


def _over(event: Event, inbox: Inbox) -> Plan | None:
    """Settle tasks whose call or turn has ended: their subagents have started, or never will.

    A prompt at another terminal does not end a turn of this one.
    """
    open_tasks = {tool.id for tool in event.tools if tool.task is not None and tool.task.in_background}
    ended = event.calls - open_tasks
    turn = event.prompt_id if event.kind == PROMPT_SUBMITTED else ""
    done = [
        task["id"]
        for task in inbox.tasks
        if (task.get("call") in ended and not task.get("background"))
        or (turn and task.get("turn") not in (turn, "") and task.get("terminal", "") == event.terminal)
    ]
    if not done:
        return None
    plan = Plan()
    plan.settled += done
    return plan
