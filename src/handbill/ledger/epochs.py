"""Windows over time: the chapter that an event opens in its window, and its effect on the
ledger."""

from __future__ import annotations

from handbill.event import PROMPT_SUBMITTED, SESSION_STARTED, SUBAGENT_STARTED, TOOL_BATCH_FINISHED, TOOL_CALLED
from handbill.ledger.records import Records
from handbill.ledger.window import (
    ELSEWHERE,
    HOST_ONCE,
    HOST_TOO,
    JOINED,
    MENTIONED,
    NESTED,
    OWN_ROWS,
    PASSING,
    RESUMED,
    UNDELIVERABLE,
    UNDOABLE,
    Window,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.event import Event
    from handbill.ledger.window import Record

GO_ON = "go-on"  # the ledger is correct
FRESH = "fresh"  # an empty window
ADOPT = "adopt"  # an unknown window: its transcript shows the content
WAIT = "wait"  # an unknown window whose transcript cannot be read yet: deliver nothing
AUDIT = "audit"  # resumed: the files in the ledger may not have survived
COMPACT = "compact"  # this window was compacted
CONTINUED = "continued"  # a subagent runs again, and its client keeps only what its start delivered
SUSPECT = "suspect"  # some window of this session was compacted; its transcript will show which

# Lanes of one start run within this many seconds; a second compaction does not.
SAME_MOMENT = 10.0

# The host restores this many characters of an invoked skill after a compaction.
REATTACHED = 20_000

MANUAL = "manual"  # the user asked for the compaction: it may keep any part of the window

# Flags of a window: the byte at which its transcript shows the newest known compaction, and the
# byte from which it will show one that is not recorded yet.
BOUNDARY, DUE = "boundary", "boundary_due"

_OF_A_SUSPICION = ("compacting", "suspect_mark")
_OF_AN_EPOCH = (*_OF_A_SUSPICION, ELSEWHERE, "kept_unknown", MENTIONED, UNDELIVERABLE)


def within(moment: float, now: float, seconds: float) -> bool:
    """Whether two moments are less than `seconds` apart, in either order.

    Processes that run at the same time may note them in either order. After a change of the clock,
    an old moment does not count as a recent one.
    """
    return abs(now - moment) < seconds


def chapter(
    event: Event, window: Window | None, now: float, *, whose_known: bool = True, agents_survive: bool = True
) -> str:
    """Return the chapter that this event opens.

    `whose_known`: it is certain which window a compaction affected. `agents_survive`: a subagent
    that continues still has what it received before.
    """
    if event.kind == SESSION_STARTED:
        return _start(event, window, now, whose_known)
    if event.kind == SUBAGENT_STARTED:
        if window is None or not window.started:
            return FRESH
        # If directories were touched, it has worked since: this is not a second registration of its
        # start.
        again = len(window.touched) > 0 or not within(window.created, now, SAME_MOMENT)
        return CONTINUED if again and not agents_survive else GO_ON
    if window is None or not window.started:
        return {TOOL_BATCH_FINISHED: ADOPT, PROMPT_SUBMITTED: WAIT}.get(event.kind, GO_ON)
    if event.kind in (TOOL_BATCH_FINISHED, PROMPT_SUBMITTED) and event.is_of_another_client(window.client):
        return AUDIT  # we did not receive its start
    return GO_ON


def _start(event: Event, window: Window | None, now: float, whose_known: bool) -> str:
    known = window if window is not None and window.started else None
    if event.source == "fork":
        return GO_ON if known is not None else WAIT
    if event.source == "resume":
        return AUDIT if known is not None else ADOPT
    if event.source == "compact":
        if not whose_known:
            return SUSPECT
        if known is None:
            return COMPACT
        lane = not known.flags.get("compacting") and within(known.flags.get("compacted", 0.0), now, SAME_MOMENT)
        return GO_ON if lane else COMPACT
    if known is None:
        return FRESH
    # For a startup or clear with a known id, a lane or a second registration of the hooks was here
    # first.
    return GO_ON if known.client == event.client else FRESH


def opened(event: Event, window: Window | None, now: float) -> Window:
    """Return a ledger for a window whose start we see; files that a side event noted are kept."""
    after = Window(event.session_id, event.agent_id or "main", event.host, now)
    if window is not None and not window.started:
        after.files = window.files.copy()
        after.created = window.created
    after.started = True
    after.client = event.client
    after.transcript = event.transcript
    return after


def continued(event: Event, window: Window, now: float) -> Window:
    """Keep only the files that a subagent's start or the results of its calls delivered."""
    after = opened(event, None, now)
    after.files = Records.of(
        "path", {p: record for p, record in window.files.items() if record["via"] in (SUBAGENT_STARTED, TOOL_CALLED)}
    )
    after.flags = {name: value for name, value in window.flags.items() if name == "standards"}
    return after


def compacted(window: Window, offset: int, now: float) -> Window:
    """Begin a new epoch: keep the files that the host reloads; the others are gone or in the kept
    part."""
    manual = window.flags.get("compacting") == MANUAL
    after = next_epoch(window)
    every = window.files.items()
    after.files = Records.of("path", {path: record for path, record in every if reloaded(record)})
    # of the compaction before this one: what it kept was not known yet
    unresolved = window.from_last_epoch
    after.from_last_epoch = {**unresolved, **{path: record for path, record in every if not reloaded(record)}}
    after.compacted_at_offset = offset
    after.claims = []
    after.maybe_compacted_from = -1
    # Nothing can show any more whether this work was undone.
    after.work = {name: value for name, value in window.work.items() if name not in UNDOABLE}
    after.flags["compacted"] = now
    for name in (HOST_ONCE, HOST_TOO):
        after.flags.pop(name, None)
    # the compaction before this one may not be recorded, either
    after.flags.setdefault(DUE, offset)
    if manual:
        after.flags["kept_unknown"] = True  # the compaction may have kept the beginning
    return after


def next_epoch(window: Window) -> Window:
    after = window.copy()
    after.epoch += 1
    after.pending, after.touched = {}, Records("dir")
    after.flags = {name: value for name, value in window.flags.items() if name not in _OF_AN_EPOCH}
    return after


def arming(window: Window, offset: int, trigger: str) -> Window:
    """Note that a compaction is about to start, which distinguishes it from lanes of the one
    before.

    If we never receive its SessionStart, the transcript after `offset` will show it.
    """
    trigger = trigger or "auto"
    if window.flags.get("compacting") == trigger:
        return window
    after = window.copy()
    # the compaction before may have been cancelled: the newest trigger counts
    after.flags["compacting"] = trigger
    if window.maybe_compacted_from < 0:
        after.maybe_compacted_from = offset
    return after


def reloaded(record: Record) -> bool:
    """Whether the host reads the file again after a compaction.

    It does so with root instruction files and the first part of skills.
    """
    cut = record["reason"].startswith("skill ") and record["chars"] > REATTACHED
    passing = record["reason"].startswith(NESTED) or record["reason"] in PASSING
    return bool(record["via"] == "host" and not passing and not cut)


def side_noted(event: Event, now: float) -> Window:
    """Return a window that only a side event has shown so far, before or without its start."""
    return Window(event.session_id, event.agent_id or "main", event.host, now)


def reopened(window: Window, event: Event, size: int, leaf: str) -> Window:
    """Return the window of a process that rebuilt it from a transcript of this size, up to the row
    `leaf`.

    A second client may still write to that transcript.
    """
    after = window.copy()
    after.client, after.transcript = event.client, event.transcript
    after.flags[RESUMED] = size
    if JOINED in after.flags:
        after.flags[JOINED], after.flags[OWN_ROWS] = [size], [leaf] if leaf else []
    return after


def is_known_compaction(window: Window, boundary: int) -> bool:
    """Whether we know of the compaction that the transcript shows at this byte."""
    if BOUNDARY not in window.flags and DUE not in window.flags:
        return "compacted" in window.flags  # an older version did not note the byte
    return bool(boundary <= window.flags.get(BOUNDARY, -1) or boundary >= window.flags.get(DUE, boundary + 1))


def precedes_compaction(window: Window, boundary: int) -> bool:
    """Whether a known compaction is still to be recorded after the newest recorded one."""
    return DUE in window.flags and boundary < window.compacted_at_offset


def recorded(window: Window, boundary: int) -> Window:
    """Note that the known compaction is recorded: one that is recorded later is another one."""
    if DUE not in window.flags and window.flags.get(BOUNDARY, -1) >= boundary:
        return window
    after = window.copy()
    after.flags[BOUNDARY] = boundary
    after.flags.pop(DUE, None)
    if 0 <= boundary < window.compacted_at_offset:  # two were due, and this is the first
        after.flags[DUE] = window.compacted_at_offset
    return after


def suspected(window: Window | None, offset: int) -> Window | None:
    if window is None or window.maybe_compacted_from >= 0:
        return window
    after = window.copy()
    after.maybe_compacted_from = offset
    return after


def cleared(window: Window) -> Window:
    after = window.copy()
    after.maybe_compacted_from = -1
    for name in _OF_A_SUSPICION:
        after.flags.pop(name, None)
    return after


def printed(window: Window | None, number: int) -> Window | None:
    """Note that this claim's text was handed to the host."""
    if window is None:
        return None
    after = window.copy()
    after.claims = [{**claim, "printed": True} if claim["id"] == number else claim for claim in window.claims]
    return after
