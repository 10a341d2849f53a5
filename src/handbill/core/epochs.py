"""Windows over time: which chapter of its window an event opens, and what that does to the ledger."""

from __future__ import annotations

from handbill.core.event import PROMPT_SUBMITTED, SESSION_STARTED, SUBAGENT_STARTED, TOOL_BATCH_FINISHED, TOOL_CALLED
from handbill.core.pack import meant, shown
from handbill.core.records import Records
from handbill.core.window import Window

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.core.event import Event
    from handbill.core.receipts import Title
    from handbill.core.window import Record

GO_ON = "go-on"  # the ledger is right
FRESH = "fresh"  # an empty window
ADOPT = "adopt"  # a window that we do not know: its transcript says what is in it
WAIT = "wait"  # not known, and its transcript cannot be read yet: deliver nothing
AUDIT = "audit"  # resumed: what is in the ledger may not have survived
COMPACT = "compact"  # this window was compacted
CONTINUED = "continued"  # a subagent is woken again, by a client that keeps only what its start was given
SUSPECT = "suspect"  # some window of this session was compacted; its transcript will tell

# Lanes of one start run within this time of each other; a second compaction does not.
SAME_MOMENT = 10.0

# So much of an invoked skill the host puts back after a compaction.
REATTACHED = 20_000

_OF_A_SUSPICION = ("compacting", "suspect_mark")
_OF_AN_EPOCH = (*_OF_A_SUSPICION, "elsewhere")


class Survivors:
    """What a transcript says is in a window: titles of our blocks, and the tool calls they came with."""

    __slots__ = ("complete", "titles", "tools")

    def __init__(
        self,
        titles: dict[Title, int] | None = None,
        tools: tuple[str, ...] = (),
        complete: bool = True,
    ) -> None:
        self.titles = titles or {}
        self.tools = tools  # ids of the tool calls that stand in the window
        self.complete = complete  # False: only the end of a long transcript was read


def chapter(
    event: Event, window: Window | None, now: float, *, whose_known: bool = True, agents_survive: bool = True
) -> str:
    """`whose_known`: the host said (or there can be no doubt) which window a compaction hit.
    `agents_survive`: a subagent that is continued still has what it was given before.
    """
    if event.kind == SESSION_STARTED:
        return _start(event, window, now, whose_known)
    if event.kind == SUBAGENT_STARTED:
        if window is None or not window.started:
            return FRESH
        # touched: it has worked since, so this is no second registration of the same start
        again = len(window.touched) > 0 or now - window.created > SAME_MOMENT
        return CONTINUED if again and not agents_survive else GO_ON
    if window is None or not window.started:
        return {TOOL_BATCH_FINISHED: ADOPT, PROMPT_SUBMITTED: WAIT}.get(event.kind, GO_ON)
    return GO_ON


def _start(event: Event, window: Window | None, now: float, whose_known: bool) -> str:
    known = window is not None and window.started
    if event.source == "fork":
        return GO_ON if known else WAIT
    if event.source == "resume":
        return AUDIT if known else ADOPT
    if event.source == "compact":
        if not whose_known:
            return SUSPECT
        if window is None or not known:
            return COMPACT
        again = not window.flags.get("compacting") and now - window.flags.get("compacted", 0.0) < SAME_MOMENT
        return GO_ON if again else COMPACT
    if window is None or not known:
        return FRESH
    # startup or clear of a known id: a lane, or the same hooks registered twice, has been here
    return GO_ON if window.client == event.client else FRESH


def opened(event: Event, window: Window | None, now: float) -> Window:
    """A ledger for a window whose start we see; what a side event noted before is kept."""
    twin = Window(event.session_id, event.agent_id or "main", event.host, now)
    if window is not None and not window.started:
        twin.files = window.files.copy()
        twin.created = window.created
    twin.started = True
    twin.client = event.client
    twin.transcript = event.transcript
    return twin


def continued(event: Event, window: Window, now: float) -> Window:
    """Of a subagent's window only what came with its start is left, and in the results of its calls."""
    twin = opened(event, None, now)
    twin.files = Records.of(
        "path", {p: record for p, record in window.files.items() if record["via"] in (SUBAGENT_STARTED, TOOL_CALLED)}
    )
    twin.flags = {name: value for name, value in window.flags.items() if name == "standards"}
    return twin


def compacted(window: Window, offset: int, now: float) -> Window:
    """A new epoch: all but what the host reloads itself is gone, or in the tail that it keeps."""
    twin = window.copy()
    twin.epoch += 1
    every = window.files.items()
    twin.files = Records.of("path", {path: record for path, record in every if _reloaded(record)})
    twin.carried = {path: record for path, record in every if not _reloaded(record)}
    twin.carried_from = offset
    twin.pending, twin.claims, twin.touched = {}, [], Records("dir")
    twin.suspect = -1
    twin.flags = {name: value for name, value in window.flags.items() if name not in _OF_AN_EPOCH}
    twin.flags["compacted"] = now
    return twin


def arming(window: Window, offset: int) -> Window:
    """A compaction is about to come: tells it from the lanes of the one before.

    Should its SessionStart never reach us, the transcript behind `offset` will show it.
    """
    if window.flags.get("compacting"):
        return window
    twin = window.copy()
    twin.flags["compacting"] = True
    if window.suspect < 0:
        twin.suspect = offset
    return twin


def inherited(window: Window, survivors: Survivors, *, records: bool) -> Window:
    """Judge what was carried over a compaction, now that the transcript shows what was kept."""
    twin = window.copy()
    for path, record in window.carried.items():
        kept = _kept_parts(path, record, survivors) if records else _kept_batch(record, survivors)
        if kept and path not in twin.files:
            twin.files[path] = {**record, "parts": kept}
            if "." in kept:
                twin.pending[path] = record["reason"]
    twin.carried, twin.carried_from = {}, 0
    return twin


def resumed(window: Window, survivors: Survivors, event: Event, now: float) -> Window:
    """Keep what the resuming client rebuilds; the rest is pending again."""
    twin = window.copy()
    for path, record in window.files.items():
        if record["via"] == "host" or _of_this_moment(record, event, now):
            continue
        kept = _kept_parts(path, record, survivors)
        parts = kept or "." * len(record["parts"])
        if not survivors.complete:  # what is older than what was read keeps its state
            parts = "".join(new if new == "k" else old for new, old in zip(parts, record["parts"]))
        twin.files[path] = {**record, "parts": parts}
        if "." in parts:
            twin.pending.setdefault(path, record["reason"])
    if survivors.complete:
        for path, record in window.carried.items():  # a compaction came last: its kept tail was rebuilt, or not
            kept = _kept_parts(path, record, survivors)
            if kept and path not in twin.files:
                twin.files[path] = {**record, "parts": kept}
        twin.carried, twin.carried_from, twin.suspect = {}, 0, -1
        twin.claims = [claim for claim in window.claims if _of_this_moment(claim, event, now)]
    return twin if _differs(twin, window) else window


def _of_this_moment(record: Record, event: Event, now: float) -> bool:
    """Another lane of this very event delivered it: no transcript can show it yet."""
    return bool(record["batch"] == event.batch and now - record["at"] < SAME_MOMENT)


def adopted(event: Event, window: Window | None, survivors: Survivors, now: float) -> Window:
    """A ledger rebuilt from the transcript alone."""
    twin = opened(event, window, now)
    for (shown_path, digest, part, parts), size in survivors.titles.items():
        path = meant(shown_path)
        record = twin.files.get(path)
        if record is None or record["hash"] != digest or len(record["parts"]) != parts:
            record = {
                "inode": "", "hash": digest, "chars": 0, "reason": "found in the transcript",
                "at": now, "via": "transcript", "batch": "", "parts": "." * parts,
            }  # fmt: skip
        letters = record["parts"]
        letters = letters[: part - 1] + "k" + letters[part:]
        twin.files[path] = {**record, "parts": letters, "chars": record["chars"] + size}
    for path, record in twin.files.items():
        if "." in record["parts"]:
            twin.pending[path] = record["reason"]
    return twin


def _reloaded(record: Record) -> bool:
    """Root instruction files are read again by the host itself after a compaction; of skills, the first part."""
    cut = record["reason"].startswith("skill ") and record["chars"] > REATTACHED
    return bool(record["via"] == "host" and not record["reason"].startswith("nested") and not cut)


def _kept_parts(path: str, record: Record, survivors: Survivors) -> str:
    name, total = shown(path), len(record["parts"])
    letters = ["k" if (name, record["hash"], part, total) in survivors.titles else "." for part in range(1, total + 1)]
    return "".join(letters) if "k" in letters else ""


def _kept_batch(record: Record, survivors: Survivors) -> str:
    """Where injections are in no transcript: those of a kept tool call are kept with it."""
    parts: str = record["parts"]
    if len(parts) > 1:
        return ""  # only the last part's call is known: a repeated part is better than a lost one
    return parts.replace("s", "e") if record["batch"] and record["batch"] in survivors.tools else ""


def _differs(one: Window, other: Window) -> bool:
    names = ("files", "pending", "claims", "carried", "suspect")
    return any(getattr(one, name) != getattr(other, name) for name in names)


def side_noted(event: Event, now: float) -> Window:
    """A window that we know only from a side event, before (or without) its start."""
    return Window(event.session_id, event.agent_id or "main", event.host, now)


def reopened(window: Window, event: Event) -> Window:
    if window.client == event.client and window.transcript == event.transcript:
        return window
    twin = window.copy()
    twin.client, twin.transcript = event.client, event.transcript
    return twin


def suspected(window: Window | None, offset: int) -> Window | None:
    if window is None or window.suspect >= 0:
        return window
    twin = window.copy()
    twin.suspect = offset
    return twin


def cleared(window: Window) -> Window:
    twin = window.copy()
    twin.suspect = -1
    for name in _OF_A_SUSPICION:
        twin.flags.pop(name, None)
    return twin


def printed(window: Window | None, number: int) -> Window | None:
    """This claim was handed to the host."""
    if window is None:
        return None
    twin = window.copy()
    twin.claims = [{**claim, "printed": True} if claim["id"] == number else claim for claim in window.claims]
    return twin
