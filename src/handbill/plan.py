"""The results of handlers. Plans add up, and each verdict keeps its own text; None: no opinion."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WARNING = "warning"  # the message that carries a warning to the next results
WARN, BLOCK = "warn", "block"  # no verdict allows a call: the user decides that


class Want:
    __slots__ = ("path", "reason", "text")

    def __init__(self, path: str, reason: str, text: str = "") -> None:
        self.path = path
        self.reason = reason
        # text that we composed: stored in a file of this name and delivered like a file
        self.text = text


class Plan:
    def __init__(self) -> None:
        self.wants: list[Want] = []
        self.awaited: list[str] = []  # must be in the window, but the agent should read them itself
        self.seen: list[tuple[str, str]] = []  # (path, reason): the host itself put it there
        self.touched: dict[str, dict[str, Any]] = {}  # directory -> directives in it
        self.solved: list[str] = []  # undeliverable before; the window has their current state
        self.stale: dict[str, str] = {}  # path -> reason: the window's text is out of date
        # path -> digest of the text that the agent has seen itself
        self.digests: dict[str, str] = {}
        # path -> stamp: the agent has this state of the file from another source
        self.restamped: dict[str, str] = {}
        self.work: dict[str, Any] | None = None  # skill, phase and session of this window
        self.settled: list[str] = []  # notices that are handled
        self.outgoing: list[dict[str, Any]] = []  # notices for other windows of this session
        # notes about this window to store; None: remove
        self.save_notes: dict[str, dict[str, Any] | None] = {}
        # not to be delivered any more: the agent should read them itself
        self.unwanted: list[str] = []
        # files outside of the usual places that the person named for this window
        self.allowed_paths: list[str] = []
        # folders of this window from which files are delivered, besides those of the settings
        self.roots: list[str] = []
        self.flags: dict[str, object] = {}
        self.unfinished = False  # one event was not enough for all of the work
        self.notes: list[str] = []
        self.verdicts: list[tuple[str, str]] = []  # (warn or block, text), in the order of handlers
        # the call is held whatever the window has: the reason is not a missing page
        self.needs_no_pages = False
        self.hold_anyway = False  # the call is held even if another call's denial carries the pages

    def want(self, path: str, reason: str) -> None:
        self.wants.append(Want(path, reason))

    @property
    def reasons(self) -> list[tuple[str, str]]:
        return [(want.path, want.reason) for want in self.wants]

    def say(self, name: str, text: str, reason: str) -> None:
        self.wants.append(Want(name, reason, text))

    def gate(self, verdict: str, text: str) -> None:
        self.verdicts.append((verdict, text))

    @property
    def blocks(self) -> bool:
        return any(verdict == BLOCK for verdict, _ in self.verdicts)

    def texts(self, wanted: str) -> list[str]:
        """Return the texts of all verdicts of this kind."""
        return [text for verdict, text in self.verdicts if verdict == wanted and text]

    def say_warnings(self) -> None:
        """Make each warning a page of its own."""
        for text in self.texts(WARN):
            self.say(WARNING, text, "warning")

    def warnings(self, window: tuple[str, str], now: float) -> list[dict[str, Any]]:
        """Return the warnings as messages for the next results of this window."""
        return [{"verb": WARNING, "text": text, "for": list(window), "at": now} for text in self.texts(WARN)]

    def let_go(self) -> None:
        """Release the call; warnings remain."""
        self.verdicts = [(verdict, text) for verdict, text in self.verdicts if verdict != BLOCK]

    def add(self, other: Plan | None) -> None:
        if other is None:
            return
        self.wants += other.wants
        self.awaited += other.awaited
        self.seen += other.seen
        self.solved += other.solved
        self.touched.update(other.touched)
        self.stale.update(other.stale)
        self.restamped.update(other.restamped)
        self.digests.update(other.digests)
        self.work = other.work if other.work is not None else self.work
        self.settled += other.settled
        self.outgoing += other.outgoing
        self.save_notes.update(other.save_notes)
        self.allowed_paths += other.allowed_paths
        self.unwanted += other.unwanted
        self.roots += other.roots
        self.unfinished = self.unfinished or other.unfinished
        self.hold_anyway = self.hold_anyway or other.hold_anyway
        self.needs_no_pages = self.needs_no_pages or other.needs_no_pages
        self.flags.update(other.flags)
        self.notes += other.notes
        self.verdicts += other.verdicts

    def __bool__(self) -> bool:
        return self.changes or bool(
            self.notes
            or self.verdicts
            or self.settled
            or self.outgoing
            or self.save_notes
            or self.unfinished
            or self.unwanted
            or self.roots
            or self.awaited
        )

    @property
    def changes(self) -> bool:
        """Whether the plan changes the window."""
        return bool(
            self.wants or self.seen or self.touched or self.flags or self.stale or self.restamped or self.allowed_paths
            or self.solved or self.work is not None
        )  # fmt: skip
