"""Record the directories that a subagent's task names, for the window that will start.

The host reports neither the task nor the parent call to a new subagent's window.
"""

from __future__ import annotations

from handbill.paths import join, parent
from handbill.plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.event import Event, Inbox
    from handbill.ledger.window import Window
    from handbill.settings import Settings
    from handbill.world import World

MOST_PLACES = 12
_QUOTES = "`'\"()[]{}<>,;:!?*"


def handle(event: Event, inbox: Inbox, window: Window, world: World, settings: Settings) -> Plan | None:
    plan: Plan | None = None
    for tool in event.tools:
        if tool.task is None:
            continue
        places = named_places(tool.task.text, event.cwd, world)
        types = window.work.get("directives", [])
        if places or types:
            plan = plan or Plan()
            plan.outgoing.append({
                "verb": "task", "call": tool.id, "type": tool.task.agent_type,
                "dirs": places, "directives": types, "at": world.now(), "turn": event.prompt_id,
                "terminal": event.terminal, "background": tool.task.in_background,
            })  # fmt: skip
    return plan


def named_places(text: str, cwd: str, world: World) -> list[str]:
    """Return the existing directories that a task names, and the directories of files it names."""
    found: dict[str, None] = {}
    for word in text[:20_000].split():
        word = word.strip(_QUOTES).rstrip(".").partition(":")[0]
        if "/" not in word or "\0" in word or "://" in word or len(word) > 400:
            continue
        path = join(cwd, word.rstrip("/") or "/") if not word.startswith("~/") else join(world.home, word[2:])
        path = world.inside(path)
        if world.is_dir(path):
            found[path] = None
        elif world.is_file(path):
            found[parent(path)] = None
        if len(found) == MOST_PLACES:
            break
    return list(found)
