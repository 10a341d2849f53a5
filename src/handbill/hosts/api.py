"""What a host is: a module (or a folder) with these members. Add a row for it to `HOSTS`.

A host without a transcript takes the functions of `defaults` for everything that only a transcript can answer. No hook
imports this module: it is for people, for mypy and for the contract test, which checks every host against it.
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
    NAME: str  # as `engine install` writes it into the host's settings
    CAP: int  # UTF-16 units that one hook may put into a window
    GATE_CAP: int  # UTF-16 units of the reason of a denial
    CHANNELS: frozenset[str]  # kinds of events whose answer may put text into the window
    MARKS: tuple[str, ...]  # a folder that has one of these is a project of this host
    OLDEST: tuple[int, ...]  # the oldest version of the client that Handbill was tested with
    NEWEST: tuple[int, ...]  # the newest one

    # --- one event ---------------------------------------------------------------------------

    def identify(self, raw: Mapping[str, Any], environ: Mapping[str, str]) -> Identity:
        """Who sent this event: folder, session, agent, process and version of the client."""

    def shell(self, environ: Mapping[str, str]) -> Identity:
        """The agent in whose shell a command runs; without a session if it is a person's shell."""

    def event_name(self, raw: Mapping[str, Any]) -> str:
        """What the host calls this event, for the log of errors."""

    def parse(self, raw: Mapping[str, Any], caller: Identity, environ: Mapping[str, str]) -> Event | None:
        """The event in host-neutral words, with what each tool call does; None: Handbill has no use for it."""

    def render(self, event: Event, text: str, plan: Plan | None, message: str = "") -> dict[str, Any]:
        """The answer as the host takes it; {} says nothing. It never approves a tool call."""

    def to_person(self, message: str) -> dict[str, Any]:
        """An answer that only the person sees."""

    def usage(self, event: Event, world: World) -> Usage | None:
        """How full the window is; None: the host does not say."""

    # --- what versions of the client differ in -------------------------------------------------

    def records_injections(self, event: Event) -> bool:
        """The host's record shows what hooks put into this window."""

    def names_compacted_agent(self, event: Event) -> bool:
        """The host says which window it compacted."""

    def agents_survive(self, event: Event) -> bool:
        """A subagent that is continued still has everything that it was given before."""

    # --- its folders ---------------------------------------------------------------------------

    def user_folder(self, home: str) -> str:
        """The user's own folder for this host."""

    def library_folders(self, home: str) -> tuple[str, ...]:
        """Folders of the user's that files may be delivered from."""

    def skill_folders(self, project: str, home: str) -> tuple[str, ...]:
        """Where skills are, in the order in which the host looks for them."""

    def plugin_folders(self, plugin: str, world: World) -> list[str]:
        """Where an installed plugin is; of all plugins, if the name is empty."""

    def brings(self, level: str, path: str, how: str, event: Event, world: World, settings: Settings) -> str:
        """Why the host itself puts this rule into the window when its directory is touched; empty: it does not."""

    # --- what its record says ------------------------------------------------------------------

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
        """What is in this window now; None: there is no record of it, or not all of it yet."""

    def look_for_signs(self, event: Event, world: World, since: int, asked: Asked) -> None:
        """Note in `asked` why the record must be read: a failed hook, a rewind, a compaction."""

    def failures(self, event: Event, world: World, since: int) -> list[tuple[str, str, str]]:
        """Hooks of Handbill that failed since then: (id, name, how)."""

    def calls(self, event: Event, world: World, most: int, there: Collection[str] | None = None) -> list[Tool]:
        """Earlier tool calls of this window."""

    def mentions(self, event: Event, world: World, most: int) -> list[Tool]:
        """Files that earlier prompts of this window mention."""

    def mentions_in_commands(self, event: Event, world: World, home: str) -> list[Tool]:
        """Files that the body of a command or skill mentions."""

    def answers(self, event: Event, world: World, since: int) -> list[str]:
        """What the agent said since then."""

    def compactions_since(self, event: Event, world: World, since: int) -> list[int]:
        """Where compactions are recorded since then."""

    def keeps_several_turns(self, event: Event, world: World) -> bool:
        """This compaction may keep more than the last message."""

    def may_restore(self, event: Event, world: World, paths: Collection[str]) -> list[str]:
        """Files that the host may put back into the window after a compaction."""

    def added_directories(self, event: Event, world: World, home: str, known: Any) -> tuple[list[str], Any]:
        """Directories besides the project that the user lets this session work in; and a note for the next call."""

    def transcript_of(self, event: Event, agent: str) -> str:
        """The record of another window of the same session."""

    def agents_of(self, event: Event, world: World) -> list[str]:
        """Subagents that this session has had."""

    def call_behind(self, event: Event, world: World) -> str:
        """The tool call that started this subagent; empty: not known."""


# Functions and constants that every host must have.
MEMBERS = tuple(sorted(name for name in (*Host.__annotations__, *vars(Host)) if not name.startswith("_")))


def lacking(host: ModuleType) -> list[str]:
    """Members that a host does not have."""
    return [name for name in MEMBERS if not hasattr(host, name)]
