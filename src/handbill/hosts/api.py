"""The members that a host module (or package) must have. Add a row for a new host to `HOSTS`.

A host without a transcript uses the functions of `defaults` for everything that requires one. No
hook imports this module: it is for people, for mypy, and for the contract test, which checks every
host.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

from handbill.event import Event, Identity, Tool
from handbill.hosts.usage import Usage

if TYPE_CHECKING:
    from handbill.flow.event_context import Asked
    from handbill.ledger.content import Content
    from handbill.ledger.window import Window
    from handbill.plan import Plan
    from handbill.settings import Settings
    from handbill.world import World


class Host(Protocol):
    NAME: str  # the name that `engine install` writes into the host's settings
    CAP: int  # UTF-16 units that one hook may put into a window
    GATE_CAP: int  # UTF-16 units of the reason of a denial
    CHANNELS: frozenset[str]  # kinds of events whose answer may put text into the window
    MARKS: tuple[str, ...]  # a folder that has one of these is a project of this host
    OLDEST: tuple[int, ...]  # the oldest version of the client that Handbill was tested with
    NEWEST: tuple[int, ...]  # the newest one

    # --- one event ---------------------------------------------------------------------------

    def identify(self, raw: Mapping[str, Any], environ: Mapping[str, str]) -> Identity:
        """Return the source of this event: folder, session, agent, process and client version."""

    def shell(self, environ: Mapping[str, str]) -> Identity:
        """Return the agent in whose shell a command runs; no session for a person's shell."""

    def event_name(self, raw: Mapping[str, Any]) -> str:
        """Return the host's name for this event, for the log of errors."""

    def parse(self, raw: Mapping[str, Any], caller: Identity, environ: Mapping[str, str]) -> Event | None:
        """Return the event in host-neutral form, with the effect of each tool call.

        None: Handbill does not use this event.
        """

    def render(self, event: Event, text: str, plan: Plan | None, message: str = "") -> dict[str, Any]:
        """Return the answer in the host's format. {} does nothing. Never approve a tool call."""

    def to_person(self, message: str) -> dict[str, Any]:
        """Return an answer that only the person sees."""

    def usage(self, event: Event, world: World) -> Usage | None:
        """Return how full the window is, or None if the host does not report it."""

    # --- differences between versions of the client -----------------------------------------------

    def records_injections(self, event: Event) -> bool:
        """Whether the host's record shows the text that hooks put into this window."""

    def names_compacted_agent(self, event: Event) -> bool:
        """Whether the host reports which window it compacted."""

    def agents_survive(self, event: Event) -> bool:
        """Whether a continued subagent still has everything that it was given before."""

    # --- its folders ---------------------------------------------------------------------------

    def user_folder(self, home: str) -> str:
        """Return the user's own folder for this host."""

    def library_folders(self, home: str) -> tuple[str, ...]:
        """Return the user's folders that files may be delivered from."""

    def skill_folders(self, project: str, home: str) -> tuple[str, ...]:
        """Return the folders of skills, in the order in which the host searches them."""

    def plugin_folders(self, plugin: str, world: World) -> list[str]:
        """Return the folders of an installed plugin; of all plugins if the name is empty."""

    def brings(self, level: str, path: str, how: str, event: Event, world: World, settings: Settings) -> str:
        """Return why the host itself adds this rule when its directory is touched.

        The result is empty if the host does not add it.
        """

    # --- the host's record ------------------------------------------------------------------------

    def window_now(
        self,
        event: Event,
        world: World,
        *,
        since: int = 0,
        resumed: bool = False,
        unknown: bool = False,
        window: Window | None = None,
    ) -> Content | None:
        """Return the current content of this window.

        None: no record of it exists, or the record is not complete yet.
        """

    def look_for_signs(self, event: Event, world: World, since: int, asked: Asked) -> None:
        """Set in `asked` why the record must be read: a failed hook, a rewind, a compaction."""

    def failures(self, event: Event, world: World, since: int) -> list[tuple[str, str, str]]:
        """Return the hooks of Handbill that failed since then: (id, name, how)."""

    def calls(self, event: Event, world: World, most: int, there: Collection[str] | None = None) -> list[Tool]:
        """Return earlier tool calls of this window."""

    def mentions(self, event: Event, world: World, most: int) -> list[Tool]:
        """Return files that earlier prompts of this window mention."""

    def mentions_in_commands(self, event: Event, world: World, home: str) -> list[Tool]:
        """Return files that the body of a command or skill mentions."""

    def answers(self, event: Event, world: World, since: int) -> list[str]:
        """Return the agent's messages since then."""

    def compactions_since(self, event: Event, world: World, since: int) -> list[int]:
        """Return the places where compactions are recorded since then."""

    def keeps_several_turns(self, event: Event, world: World) -> bool:
        """Whether this compaction may keep more than the last message."""

    def may_restore(self, event: Event, world: World, paths: Collection[str]) -> list[str]:
        """Return files that the host may put back into the window after a compaction."""

    def added_directories(self, event: Event, world: World, home: str, known: Any) -> tuple[list[str], Any]:
        """Return directories that the user added to this session, and a note for the next call."""

    def transcript_of(self, event: Event, agent: str) -> str:
        """Return the record of another window of the same session."""

    def agents_of(self, event: Event, world: World) -> list[str]:
        """Return the subagents that this session has had."""

    def call_behind(self, event: Event, world: World) -> str:
        """Return the tool call that started this subagent; empty if it is not known."""


# Functions and constants that every host must have.
MEMBERS = tuple(sorted(name for name in (*Host.__annotations__, *vars(Host)) if not name.startswith("_")))


def lacking(host: ModuleType) -> list[str]:
    """Return the members that a host does not have."""
    return [name for name in MEMBERS if not hasattr(host, name)]
