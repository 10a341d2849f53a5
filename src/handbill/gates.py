"""Declare every gate once: its name, settings, messages, state, and the events to which it applies.

A gate asks for something before the agent acts. To add one, add a `Gate` to `ALL`, its messages to
`data/messages/NAME.json`, a row for it to `handlers.HANDLERS`, and `handlers/NAME.py` with
`handle`, `needs` and, for `engine gate status`, `status`. Settings, messages, `engine doctor`,
`engine gate status` and registration read them.
"""

from __future__ import annotations

from handbill import event as ev
from handbill.ledger.window import has
from handbill.paths import PACKAGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from handbill.event import Event, Inbox
    from handbill.ledger.window import Window
    from handbill.world import World

    Applies = Callable[[Event, Inbox, Window], bool]
    Wanted = type | tuple[str, ...]  # a type, or the allowed words
    State = dict[str, Any]

# states of a gate that waits for the agent
ARMED, TOLD, DONE, RELEASED = "armed", "told", "done", "released"
STYLES = ("factual", "mandatory")  # styles of a gate's messages
WORDING: dict[str, tuple[Any, Wanted]] = {"wording": ("factual", STYLES)}
CONTEXT_FILES = (
    "CONSTITUTION.md", "TASKS.md", "CONVENTIONS.md", "DECISIONS.md", "LEARNINGS.md", "AGENT_PLAYBOOK.md",
)  # fmt: skip


class Gate:
    def __init__(
        self,
        name: str,
        title: str,
        on: tuple[str, ...],
        applies: Applies,
        *,
        flag: str,
        settings: dict[str, tuple[Any, Wanted]],
        paths: tuple[str, ...] = (),
        limits: Mapping[str, int] | None = None,
        messages: str = "",
        aliases: tuple[str, ...] = (),
    ) -> None:
        # name of its handler, of its section in the settings, and of its file of messages
        self.name = name
        self.title = title  # for people
        self.on = on  # kinds of events that it needs
        self.applies = applies  # whether it may apply; called before its module is loaded
        self.flag = flag  # the window's flag with the state of the gate
        self.settings = settings  # field -> (default, permitted values); budgets are tokens
        self.paths = paths  # fields whose paths must stay inside the project if a project sets them
        self.limits = limits or {}  # field -> the largest value that a project may set
        self.messages = messages or f"{PACKAGE}/data/messages/{name}.json"
        self.aliases = aliases  # former names of its section in the settings

    @property
    def defaults(self) -> dict[str, Any]:
        return {field: default for field, (default, _) in self.settings.items()}

    def state_of(self, window: Window) -> State:
        """Return the gate's state in this window; {} before its first check in each epoch."""
        found = window.flags.get(self.flag)
        return found if isinstance(found, dict) and found.get("epoch", window.epoch) == window.epoch else {}


def is_new_epoch(window: Window) -> bool:
    """Whether this epoch has just begun: its standards were not planned yet."""
    return bool(window.flags.get("standards") != window.epoch)


def _begins(event: Event, window: Window) -> bool:
    """Whether this event begins a window or an epoch."""
    return event.kind != ev.TOOL_CALLED and is_new_epoch(window)


def _touches(event: Event, paths: object) -> bool:
    known = paths if isinstance(paths, (list, tuple)) else ()
    return any(path in known for tool in event.tools for path in (*tool.files, *tool.paths))


def _load_gate(event: Event, inbox: Inbox, window: Window) -> bool:
    """Whether the gate applies: at a window's start or a new epoch, and while a request is open."""
    state = LOAD.state_of(window)
    if event.kind == ev.SUBAGENT_STARTED or _begins(event, window):
        return True
    if state.get("awaits"):
        return event.kind != ev.TOOL_CALLED
    if state.get("state") == TOLD:  # the agent may read the files now: note it
        return _touches(event, state["files"])
    return state.get("state") == ARMED and bool(event.tools)


def _reread_gate(event: Event, inbox: Inbox, window: Window) -> bool:
    if "compacted" in window.flags and _begins(event, window):
        return window.flags.get("role") != "regular"  # as noted just before the compaction
    state = REREAD.state_of(window)
    if inbox.notes.get("launched") or state.get("state") in (ARMED, TOLD):
        return True
    return _touches(event, state.get("left"))  # read late, but read


def _resume(event: Event, inbox: Inbox, window: Window) -> bool:
    if inbox.handover or "calls" in inbox.notes:
        return True
    if event.kind == ev.COMPACTING:
        return False  # this project has nothing to resume, so its calls were not searched
    compacted = window.epoch > 0 and window.flags.get("rewound") != window.epoch
    return (compacted and _begins(event, window)) or event.source == "resume"


def _writes(event: Event, inbox: Inbox, window: Window) -> bool:
    return any(tool.does == ev.WRITES for tool in event.tools)


_CHANNELS = (ev.SESSION_STARTED, ev.PROMPT_SUBMITTED, ev.SKILL_EXPANDED, ev.TOOL_BATCH_FINISHED)
_MODES = ("off", "deliver", "direct", "require")

RESUME = Gate(
    "resume", "resume", (*_CHANNELS, ev.COMPACTING), _resume, flag="resume_mode",
    settings={
        "mode": ("on", ("on", "off")), "layout": ("02-projects/{project}/01-planning/_resume.md", str),
        "skills": (("execute-project",), list), "budget": (15_000, int), **WORDING,
    },
)  # fmt: skip
REREAD = Gate(
    "reread_gate", "compaction", (*_CHANNELS, ev.TOOL_CALLED, ev.STOPPING), _reread_gate, flag="reread",
    settings={"budget": (10_000, int), **WORDING}, aliases=("compaction",),
)  # fmt: skip
LOAD = Gate(
    "load_gate", "load", (*_CHANNELS, ev.SUBAGENT_STARTED, ev.TOOL_CALLED), _load_gate, flag="context",
    settings={
        "mode": ("deliver", _MODES), "subagents": ("direct", _MODES), "folder": (".context", str),
        "files": (CONTEXT_FILES, list), "budget": (6000, int), "denials": (3, int), **WORDING,
    },
    paths=("folder", "files"), limits={"denials": 20},
)  # fmt: skip
WRITE = Gate(
    "write_gate", "write", (ev.TOOL_CALLED,), _writes, flag="write_gate",
    settings={"mode": ("new", ("off", "new", "edits")), **WORDING},
)  # fmt: skip

ALL = (LOAD, REREAD, RESUME, WRITE)


def gate(name: str) -> Gate:
    return next(one for one in ALL if one.name == name)


# --- states of a gate that waits until the agent has read some files: armed -> told -> done --
# A state contains the files that are `left`, `read` or `tried`, and the form of the message.


def armed(window: Window, unread: list[str], **more: object) -> State:
    """Return the first state; the gate is done if no file is left to read."""
    state: State = {"epoch": window.epoch, "left": unread, "read": [], "tried": [], **more}
    return {**state, "state": ARMED if unread else DONE}


def is_open(state: State) -> bool:
    return state.get("state") in (ARMED, TOLD)


def left(state: State, window: Window) -> list[str]:
    return [path for path in state.get("left", ()) if not has(window, path)]


def told(state: State, how: str, now: float = 0.0) -> State:
    return {**state, "state": TOLD, "at": now, "said": how}


def followed(state: State, among: list[str], event: Event, window: Window, world: World) -> State:
    """Return the state after a message: the files that were read, and those that could not be."""
    from handbill.library.reading import paths_read

    read, tried = paths_read(event, among, world)
    read = list(dict.fromkeys([*state["read"], *read]))
    tried = [path for path in dict.fromkeys([*state["tried"], *tried]) if path not in read]
    still = [path for path in left(state, window) if path not in read and path not in tried]
    return {**state, "read": read, "tried": tried, "left": still}
