"""The ledger of one context window: files that are pending, on their way, and in it.

A file moves from pending to claimed to confirmed, part by part. `parts` of a record has one letter
per part, which is the whole state of that part:

    .  not on its way, or no longer: the path is in `pending`
    s  sent: a hook claimed it, and its arrival is not proven yet
    k  confirmed: the host's own record shows it
    e  assumed: the host keeps no record here (old clients, subagents), but a later event followed
    t  cut: the host replaced it with a preview
    h  the host itself put the file there

Windows are values: functions take one and return another. Records in `files` are replaced, never
changed in place.
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
# A compaction keeps the last messages with their injections; those of the start precede them.
NEVER_IN_A_TAIL = (SESSION_STARTED, SUBAGENT_STARTED)
# The reason of a file that the host restored after a compaction. The next one may not restore it.
RESTORED = "restored by the client"
READ_ITSELF = "read by the agent"  # the agent opened the file before we could deliver it
PASSING = (RESTORED, READ_ITSELF)  # in the window as long as the message that shows them
OWN_DIRECTIVE = "your own directive"  # the reason of a file in the user's own library
GUESSED = "imported by "  # in the reason of a file that CLAUDE.md probably imports
# A field of a record: [digest, batch, time] of a newer state that the agent itself read or wrote.
OWN = "own"
# begins the reason of a file that a call or a mention made the host deliver
NESTED = "nested"
# A window's flag: files that were not delivered because another file has the same text: path ->
# [its stamp, the other file, its reason]
ELSEWHERE = "same_text"
# A window's flag: files that could not be delivered: path -> [stamp of that state, reason, page
# that reports it to the model]. An empty stamp: the file may become readable at any time.
UNDELIVERABLE = "undeliverable"
# A window's flag: files that a rewind removed, and that the host delivers only once until the
# window is compacted or restarted.
HOST_ONCE = "host_once"
# A window's flag: files that we delivered, and that the host has delivered since.
HOST_TOO = "host_too"
# A window's flag: rule files that a prompt mentions whole, until the transcript shows that the host
# took the prompt. `before`: those that an earlier message shows, perhaps in an older state.
MENTIONED = "mentioned"
NAMED_BY = "named by "  # begins the reason of a page that another page refers to
TAKEN_UP = "taken_up"  # a window's flag: the session whose handover it received
HANDOVER_PAGE = "restore"  # begins the name of the page with an agent's handover
DOUBTFUL = "doubtful"  # a value of `via`: the host may restore the file, or not
# Flags of a window whose session had a second client: the sizes of the transcript when another
# client joined, and the rows that belong to this window.
JOINED, OWN_ROWS = "joined", "own_rows"
RESUMED = "resumed_at"  # a window's flag: the size of the transcript when its process started
UNRECORDED = "unrecorded"  # a window's flag: the host's record shows none of our deliveries
SEEDING, LINKED = "seeding", "active"

_COPIED = (dict, list, Records)
# The letters of `parts`.
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
        self.lifecycle = SEEDING  # until a session is linked
        self.epoch = 0  # one more at each compaction and rewind of this window
        self.started = False  # False: only a side event was seen so far
        self.client = 0
        self.transcript = ""
        self.serial = 0  # number of the last claim
        self.files = Records("path")
        self.pending: dict[str, str] = {}  # path -> reason, in the order in which they were wanted
        self.claims: list[Record] = []  # on their way, arrival not proven
        self.touched = Records("dir")  # directory -> {"found": directive names}
        self.flags: dict[str, Any] = {}
        # files of the epoch before; a compaction may have kept some of them
        self.from_last_epoch: dict[str, Record] = {}
        self.compacted_at_offset = 0  # transcript size when that compaction was reported
        self.work: dict[str, Any] = {}  # {session, skill, phase, directives} of this window
        # transcript size when a compaction was reported without the window that it affected
        self.maybe_compacted_from = -1

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
        """Whether the whole file is in the window or on its way."""
        record = self.files.get(path)
        return record is not None and NOT_SENT not in record["parts"]


_COMPARED = ("files", "pending", "claims", "from_last_epoch", "maybe_compacted_from", "flags", "work")


def is_whole(record: Record) -> bool:
    """Whether all parts of the file are in the window or on their way."""
    return NOT_SENT not in record["parts"]


def has_a_part(record: Record) -> bool:
    """Whether at least one part of the file is in the window or on its way."""
    return bool(record["parts"].strip(NOT_SENT))


def brought_by(record: Record, kind: str, batch: str) -> Record:
    """Return the record after this event delivered a part. Denials of several calls may do so."""
    after = {**record, "via": kind, "batch": batch}
    if kind == TOOL_CALLED and batch not in record.get("denials", ()):
        after["denials"] = [*record.get("denials", ()), batch]
    return after


def has(window: Window, path: str) -> bool:
    """Whether the window has this file's text, under its own name or another one."""
    return window.holds(path) or path in window.flags.get(ELSEWHERE, ())


# fields of `work`: the batch or prompt that began it, and the work before it
UNDOABLE = ("begun", "before")
_MOST_BEFORE = 3  # skills that successive rewinds can restore


def begun(work: dict[str, Any], batch: str) -> dict[str, Any]:
    """Return new work of this batch or prompt. If that is undone, the earlier work continues."""
    if work.get("begun") == batch and batch.rpartition(":")[2]:
        return dict(work)  # another lane of this event began it
    former = {name: value for name, value in work.items() if name != "before"}
    earlier = [former, *work.get("before", ())] if former else []
    return {**former, "begun": batch, "before": earlier[:_MOST_BEFORE]}


def postponed(window: Window, wants: Iterable[Want]) -> Window:
    """Make the wanted files pending, because nothing can be granted now."""
    after = window.copy()
    for want in wants:
        if not after.holds(want.path):
            after.pending.setdefault(want.path, want.reason)
    return after


def is_shown(record: Record | None) -> bool:
    """Whether the window has this file only because a message shows it."""
    return record is not None and record["via"] == "host" and record["reason"] in PASSING


def state_of(record: Record) -> str:
    """Return one word for reports: the least proven part determines the state of the file."""
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
    """Return the record with another state for one part (counted from 1)."""
    parts = record["parts"]
    return {**record, "parts": parts[: part - 1] + letter + parts[part:]}


def see(window: Window, path: str, inode: str, reason: str, now: float, chars: int = 0, batch: str = "") -> Window:
    """Note that the host put this file into the window because of this `batch` or prompt."""
    after = window.copy()
    after.files[path] = {
        "inode": inode, "hash": "", "chars": chars, "reason": reason, "at": now, "via": "host", "batch": batch,
        "parts": SHOWN,
    }  # fmt: skip
    before = window.files.get(path)
    if before is not None and before["via"] != "host" and has_a_part(before):
        after.files[path]["ours"] = before  # kept in case the host's message goes away
    after.pending.pop(path, None)
    return after


# --- to and from text: one line of fields, one per delivered file, one per touched directory

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
    """A newer version of Handbill wrote it: it is neither read nor changed."""


def to_text(window: Window, dumps: Callable[[Any], str]) -> str:
    plain: dict[str, Any] = {"v": SCHEMA}
    for slot, name in _NAMES.items():
        plain[name] = getattr(window, slot)
    return f"{dumps(plain)}{window.files.written(dumps)}\n{window.touched.written(dumps)}\n"


def from_text(text: str, loads: Callable[[str], Any], dumps: Callable[[Any], str]) -> Window:
    """Return the window. Raise ValueError if it is not one. Lines of files are parsed on demand."""
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
    """Check only the ends: files are replaced whole, so a broken one is cut off or foreign."""
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
