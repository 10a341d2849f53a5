"""Default answers for a host that keeps no transcript.

Import those for which the host has no better answer. Without a record, a delivery counts as arrived
if its hook printed it and a later event followed.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from handbill.event import Event, Tool
    from handbill.flow.event_context import Asked
    from handbill.hosts.usage import Usage
    from handbill.ledger.content import Content
    from handbill.ledger.window import Window
    from handbill.settings import Settings
    from handbill.world import World


def records_injections(event: Event) -> bool:
    return False


def names_compacted_agent(event: Event) -> bool:
    return True


def agents_survive(event: Event) -> bool:
    return True


def usage(event: Event, world: World) -> Usage | None:
    return None


def plugin_folders(plugin: str, world: World) -> list[str]:
    return []


def brings(level: str, path: str, how: str, event: Event, world: World, settings: Settings) -> str:
    return ""


def window_now(
    event: Event,
    world: World,
    *,
    since: int = 0,
    resumed: bool = False,
    unknown: bool = False,
    window: Window | None = None,
) -> Content | None:
    return None


def look_for_signs(event: Event, world: World, since: int, asked: Asked) -> None:
    """Do nothing: without a record, no signs can be found."""


def failures(event: Event, world: World, since: int) -> list[tuple[str, str, str]]:
    return []


def calls(event: Event, world: World, most: int, there: Collection[str] | None = None) -> list[Tool]:
    return []


def mentions(event: Event, world: World, most: int) -> list[Tool]:
    return []


def mentions_in_commands(event: Event, world: World, home: str) -> list[Tool]:
    return []


def answers(event: Event, world: World, since: int) -> list[str]:
    return []


def compactions_since(event: Event, world: World, since: int) -> list[int]:
    return []


def keeps_several_turns(event: Event, world: World) -> bool:
    return False


def may_restore(event: Event, world: World, paths: Collection[str]) -> list[str]:
    return []


def added_directories(event: Event, world: World, home: str, known: Any) -> tuple[list[str], Any]:
    return [], known or {"to": 0}


def transcript_of(event: Event, agent: str) -> str:
    return ""


def agents_of(event: Event, world: World) -> list[str]:
    return []


def call_behind(event: Event, world: World) -> str:
    return ""
