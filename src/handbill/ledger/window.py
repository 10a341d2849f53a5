"""The ledger of ONE context window: what is pending, on its way, and in it.

A file moves pending -> claimed -> confirmed, part by part. `parts` of a record holds one letter
per part, and is the whole state machine:

    .  not (or no longer) on its way: the path is in `pending`
    s  sent: claimed by a hook, arrival not proven yet
    k  confirmed: the host's own record shows it
    e  assumed: the host keeps no record here (old clients, subagents); the next event came
    t  cut: the host replaced it by a preview
    h  the host itself put the file there

Windows are values: functions take one and return another. Records in `files` are never changed
in place, they are replaced.
"""

from __future__ import annotations

from handbill.event import SESSION_STARTED, SUBAGENT_STARTED, TOOL_CALLED
from handbill.ledger.records import Records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from handbill.plan import Want

    Record = dict[str, Any]

SCHEMA = 1
# A compaction keeps the last messages with their injections; those of a window's start stand before them.
NEVER_IN_A_TAIL = (SESSION_STARTED, SUBAGENT_STARTED)
# Why a file is in the window: the host put it back after a compaction. The next compaction may not.
RESTORED = "restored by the client"
READ_ITSELF = "read by the agent"  # the agent opened the file before we could deliver it
PASSING = (RESTORED, READ_ITSELF)  # in the window as long as the message that shows it
OWN_DIRECTIVE = "your own directive"  # why a file of the user's own library is delivered
GUESSED = "imported by "  # is in the reason of a file that the host brings, as far as we can tell by its CLAUDE.md
# A field of a record: [digest, batch, time] of a newer state of the file that the agent itself read or wrote.
OWN = "own"
NESTED = "nested"  # begins the reason of a file that the host brought because of a call or a mention
# A window's flag: files that were not delivered, because another one has their text:
# path -> [its stamp, that other, why it is wanted]
ELSEWHERE = "same_text"
# A window's flag: files that could not be delivered: path -> [stamp of that state, why it is wanted, the page that
# tells the model]. An empty stamp: it may be readable at any time.
UNDELIVERABLE = "undeliverable"
# A window's flag: files that a rewind removed, and that the host brings only once until it is compacted or restarted.
HOST_ONCE = "host_once"
# A window's flag: files that we delivered, and that the host has brought since as well.
HOST_TOO = "host_too"
# A window's flag: rule files that a prompt mentions whole, until the transcript shows that the host took the prompt;
# `before`: those that an earlier message shows, perhaps in an older state.
MENTIONED = "mentioned"
NAMED_BY = "named by "  # begins the reason of a page that another page refers to
TAKEN_UP = "taken_up"  # a window's flag: the session whose handover was delivered there
HANDOVER_PAGE = "restore"  # begins the name of the page that says what an agent left
DOUBTFUL = "doubtful"  # how a file came: the host may restore it, or not
# Flags of a window whose session has had a second client: the sizes of the transcript when another client joined, and
# which rows are this window's.
JOINED, OWN_ROWS = "joined", "own_rows"
RESUMED = "resumed_at"  # a window's flag: the size of the transcript when its process began
UNRECORDED = "unrecorded"  # a window's flag: its host's record shows none of our deliveries
SEEDING, LINKED = "seeding", "active"

_COPIED = (dict, list, Records)
# What `parts` of a record says of each part of a file.
NOT_SENT, SENT, CONFIRMED, ASSUMED, CUT, SHOWN = ".", "s", "k", "e", "t", "h"
_WORDS = {SENT: "sent", CONFIRMED: "confirmed", ASSUMED: "assumed", CUT: "truncated", SHOWN: "seen"}


class Window:
    __slots__ = (
        "agent",
        "from_last_epoch",
        "compacted_at_offset",
        "claims",
        "client",
        "created",
        "epoch",
        "files",
        "flags",
        "host",
        "lifecycle",
        "pending",
        "serial",
        "session",
        "started",
        "maybe_compacted_from",
        "touched",
        "transcript",
        "work",
    )

    def __init__(self, session: str, agent: str, host: str = "", created: float = 0.0) -> None:
        self.session = session
        self.agent = agent
        self.host = host
        self.created = created
        self.lifecycle = SEEDING  # until a piece of work (a session) is linked
        self.epoch = 0  # one more at each compaction and rewind of this window
        self.started = False  # False: known only from a side event, its real start was not seen
        self.client = 0
        self.transcript = ""
        self.serial = 0  # number of the last claim
        self.files = Records("path")
        self.pending: dict[str, str] = {}  # path -> reason, in the order of wanting
        self.claims: list[Record] = []  # on their way, arrival not proven yet
        self.touched = Records("dir")  # directory -> {"found": directive names}
        self.flags: dict[str, Any] = {}
        self.from_last_epoch: dict[str, Record] = {}  # of the epoch before; some may survive in the kept tail
        self.compacted_at_offset = 0  # transcript size when that compaction was told
        self.work: dict[str, Any] = {}  # {session, skill, phase, directives}: what this window is at
        self.maybe_compacted_from = -1  # transcript size when a compaction was told without saying whose

    def copy(self) -> Window:
        after = Window.__new__(Window)
        for slot in Window.__slots__:
            value = getattr(self, slot)
            if value.__class__ in _COPIED:
                value = value.copy()
            setattr(after, slot, value)
        return after

    def differs(self, other: Window) -> bool:
        return any(getattr(self, name) != getattr(other, name) for name in _COMPARED)

    def holds(self, path: str) -> bool:
        """Is the whole file in the window, or on its way?"""
        record = self.files.get(path)
        return record is not None and NOT_SENT not in record["parts"]


_COMPARED = ("files", "pending", "claims", "from_last_epoch", "maybe_compacted_from", "flags", "work")


def is_whole(record: Record) -> bool:
    """Are all parts of the file in the window, or on their way?"""
    return NOT_SENT not in record["parts"]


def has_a_part(record: Record) -> bool:
    """Is at least one part of the file in the window, or on its way?"""
    return bool(record["parts"].strip(NOT_SENT))


def brought_by(record: Record, kind: str, batch: str) -> Record:
    """A record whose newest part came with this event. Parts may come with the denials of several calls."""
    after = {**record, "via": kind, "batch": batch}
    if kind == TOOL_CALLED and batch not in record.get("denials", ()):
        after["denials"] = [*record.get("denials", ()), batch]
    return after


def has(window: Window, path: str) -> bool:
    """Does the window hold this file's text, by its own name or by another one?"""
    return window.holds(path) or path in window.flags.get(ELSEWHERE, ())


UNDOABLE = ("begun", "before")  # fields of `work`: the batch or prompt that it began with, and the work before it
_MOST_BEFORE = 3  # skills that a rewind can bring back, one after the other


def begun(work: dict[str, Any], batch: str) -> dict[str, Any]:
    """New work, begun with this batch or prompt. If that is undone, the earlier work goes on."""
    if work.get("begun") == batch and batch.rpartition(":")[2]:
        return dict(work)  # another lane of this event has begun it
    former = {name: value for name, value in work.items() if name != "before"}
    earlier = [former, *work.get("before", ())] if former else []
    return {**former, "begun": batch, "before": earlier[:_MOST_BEFORE]}


def postponed(window: Window, wants: Iterable[Want]) -> Window:
    """Nothing can be granted now: what is wanted waits."""
    after = window.copy()
    for want in wants:
        if not after.holds(want.path):
            after.pending.setdefault(want.path, want.reason)
    return after


def is_shown(record: Record | None) -> bool:
    """Does the window have this file only because a message shows it?"""
    return record is not None and record["via"] == "host" and record["reason"] in PASSING


def state_of(record: Record) -> str:
    """One word for people: the least proven part speaks for the file."""
    parts = record["parts"]
    if NOT_SENT in parts:
        return "lost" if record.get("lost") else "partial"
    if CUT in parts:
        return _WORDS[CUT]
    for letter in (SENT, ASSUMED, SHOWN):
        if letter in parts:
            return _WORDS[letter]
    return "updated" if record.get("updated") else "confirmed"


def with_letter(record: Record, part: int, letter: str) -> Record:
    """The record with the state of one part (from 1) replaced."""
    parts = record["parts"]
    return {**record, "parts": parts[: part - 1] + letter + parts[part:]}


def see(window: Window, path: str, inode: str, reason: str, now: float, chars: int = 0, batch: str = "") -> Window:
    """The host itself put this file into the window; `batch`: because of this batch or prompt."""
    after = window.copy()
    after.files[path] = {
        "inode": inode, "hash": "", "chars": chars, "reason": reason, "at": now, "via": "host", "batch": batch,
        "parts": SHOWN,
    }  # fmt: skip
    before = window.files.get(path)
    if before is not None and before["via"] != "host" and has_a_part(before):
        after.files[path]["ours"] = before  # parts that we delivered; the host may take back what it shows
    after.pending.pop(path, None)
    return after


# --- to and from text: a line of fields, a line for each delivered file, one for each touched directory
# Field names follow the source documents (`pendingPreloads`, `lifecycle`, ...), so that their readers find their way.

_NAMES = {
    "session": "sessionId",
    "agent": "agentId",
    "host": "host",
    "created": "createdAt",
    "lifecycle": "lifecycle",
    "epoch": "epoch",
    "started": "started",
    "client": "pid",
    "transcript": "transcriptPath",
    "serial": "claimCount",
    "pending": "pendingPreloads",
    "claims": "openClaims",
    "flags": "flags",
    "from_last_epoch": "carriedFiles",
    "compacted_at_offset": "carriedFrom",
    "maybe_compacted_from": "suspectFrom",
    "work": "work",
}


class TooNew(ValueError):
    """Written by a newer version of Handbill: neither read nor touched."""


def to_text(window: Window, dumps: Callable[[Any], str]) -> str:
    plain: dict[str, Any] = {"v": SCHEMA}
    for slot, name in _NAMES.items():
        plain[name] = getattr(window, slot)
    return f"{dumps(plain)}{window.files.written(dumps)}\n{window.touched.written(dumps)}\n"


def from_text(text: str, loads: Callable[[str], Any], dumps: Callable[[Any], str]) -> Window:
    """Raises ValueError when this is not a window. The files' lines are read when they are asked for."""
    head, _, rest = text.partition("\n")
    plain = loads(head)
    if not isinstance(plain, dict):
        raise ValueError("it is not a JSON object")
    version = plain.get("v", 0)
    if not isinstance(version, int) or isinstance(version, bool) or version < SCHEMA:
        raise ValueError(f"its schema version is unknown: {version!r}")
    if version > SCHEMA:
        raise TooNew(f"it has schema version {version}, but this program knows only {SCHEMA}")
    if not text.endswith("\n"):
        raise ValueError("it is cut off")
    window = Window("", "")
    for slot, name in _NAMES.items():
        value = plain.get(name)
        if value is not None:
            setattr(window, slot, _checked(name, value, getattr(window, slot)))
    files, gap, touched = rest.partition("\n\n") if not rest.startswith("\n") else ("", "\n", rest[1:])
    if not gap:
        raise ValueError("it is cut off")
    window.files = _records("path", files, loads, dumps)
    window.touched = _records("dir", touched.removesuffix("\n"), loads, dumps)
    return window


def _records(key: str, lines: str, loads: Callable[[str], Any], dumps: Callable[[Any], str]) -> Records:
    """Only the ends are looked at: files are replaced whole, so a broken one is cut off or something else."""
    if not lines:
        return Records(key)
    if not lines.startswith(f'{{"{key}":"') or not lines.endswith("}"):
        raise ValueError(f"a line without its {key}")
    return Records(key, "\n" + lines, loads, dumps)


def _checked(name: str, value: Any, usual: Any) -> Any:
    if usual.__class__ is float and value.__class__ is int:
        return float(value)
    if value.__class__ is not usual.__class__:
        raise ValueError(f"{name} is {type(value).__name__}, not {type(usual).__name__}")
    return value
