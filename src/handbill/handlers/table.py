"""Which handlers look at which kind of event, in order.

A handler's module is imported only for an event that it may have something to say to: `applies` asks
what can be asked without it.
"""

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
    ev.SESSION_STARTED: ("start", "skill", "freshness"),
    ev.SUBAGENT_STARTED: ("start", "subagent"),
    ev.PROMPT_SUBMITTED: ("start", "skill", "subagent", "freshness"),
    ev.SKILL_EXPANDED: ("start", "skill"),
    ev.TOOL_CALLED: ("write_gate", "delegation", "auto_answer"),
    ev.TOOL_BATCH_FINISHED: ("start", "skill", "subagent", "directives", "freshness"),
    ev.INSTRUCTIONS_LOADED: ("instructions",),
}


def _start(event: Event, window: Window) -> bool:
    return window.flags.get("standards") != window.epoch


def _skill(event: Event, window: Window) -> bool:
    return bool(
        event.skill
        or event.notices
        or (window.work.get("skill") and window.flags.get("work") != window.epoch)
        or any(tool.name == "Skill" for tool in event.tools)
    )


def _directives(event: Event, window: Window) -> bool:
    return any(tool.files or tool.places for tool in event.tools)


def _freshness(event: Event, window: Window) -> bool:
    if event.kind != ev.TOOL_BATCH_FINISHED:
        return bool(window.files)
    return any(path in window.files for tool in event.tools for path in (*tool.files, *tool.places))


_ASKED = {
    "start": _start, "skill": _skill, "subagent": lambda event, _: bool(event.tasks), "directives": _directives,
    "freshness": _freshness,
}  # fmt: skip


def applies(name: str, event: Event, window: Window) -> bool:
    asked = _ASKED.get(name)
    return asked is None or asked(event, window)


def handler(name: str) -> Handler:
    module = __import__(f"handbill.handlers.{name}", fromlist=("handle",))
    found: Handler = module.handle
    return found
