"""Which handlers look at which kind of event, in order. A row's module is imported on use."""

from __future__ import annotations

from handbill.core import event as ev

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from handbill.config import Config
    from handbill.core.event import Event
    from handbill.core.plan import Plan
    from handbill.core.window import Window
    from handbill.world import World

    class Handler(Protocol):
        def __call__(self, event: Event, window: Window, world: World, config: Config) -> Plan | None:
            """What this reason wants for this event; None = no opinion. Changes nothing."""


HANDLERS: dict[str, tuple[str, ...]] = {
    ev.SESSION_STARTED: ("start", "work", "freshness"),
    ev.SUBAGENT_STARTED: ("start", "subagent"),
    ev.PROMPT_SUBMITTED: ("start", "work", "freshness"),
    ev.SKILL_EXPANDED: ("start", "work"),
    ev.TOOL_CALLED: ("write_gate", "delegation", "auto_answer"),
    ev.TOOL_BATCH_FINISHED: ("start", "work", "directives", "freshness"),
    ev.INSTRUCTIONS_LOADED: ("instructions",),
}


def handler(name: str) -> Handler:
    module = __import__(f"handbill.handlers.{name}", fromlist=("handle",))
    found: Handler = module.handle
    return found
