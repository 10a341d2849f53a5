"""Windows over time: which chapter of its window an event opens, and what that does to the ledger."""

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

MANUAL = "manual"  # somebody asked for the compaction: it may keep any part of the window

# Flags of a window: where its transcript shows the newest compaction that we know of, or from which byte on it will.
BOUNDARY, DUE = "boundary", "boundary_due"

_OF_A_SUSPICION = ("compacting", "suspect_mark")
_OF_AN_EPOCH = (*_OF_A_SUSPICION, ELSEWHERE, "kept_unknown", MENTIONED, UNDELIVERABLE)


def within(moment: float, now: float, seconds: float) -> bool:
    """Do the two lie so close together? Processes that run at once may have them in either order; a clock that
    was set to another time does not make an old moment a recent one."""
    return abs(now - moment) < seconds


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
        again = len(window.touched) > 0 or not within(window.created, now, SAME_MOMENT)
        return CONTINUED if again and not agents_survive else GO_ON
    if window is None or not window.started:
        return {TOOL_BATCH_FINISHED: ADOPT, PROMPT_SUBMITTED: WAIT}.get(event.kind, GO_ON)
    if event.kind in (TOOL_BATCH_FINISHED, PROMPT_SUBMITTED) and event.is_of_another_client(window.client):
        return AUDIT  # its start did not reach us
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
    # startup or clear of a known id: a lane, or the same hooks registered twice, has been here
    return GO_ON if known.client == event.client else FRESH


def opened(event: Event, window: Window | None, now: float) -> Window:
    """A ledger for a window whose start we see; what a side event noted before is kept."""
    after = Window(event.session_id, event.agent_id or "main", event.host, now)
    if window is not None and not window.started:
        after.files = window.files.copy()
        after.created = window.created
    after.started = True
    after.client = event.client
    after.transcript = event.transcript
    return after


def continued(event: Event, window: Window, now: float) -> Window:
    """Of a subagent's window only what came with its start is left, and in the results of its calls."""
    after = opened(event, None, now)
    after.files = Records.of(
        "path", {p: record for p, record in window.files.items() if record["via"] in (SUBAGENT_STARTED, TOOL_CALLED)}
    )
    after.flags = {name: value for name, value in window.flags.items() if name == "standards"}
    return after


def compacted(window: Window, offset: int, now: float) -> Window:
    """A new epoch: all but what the host reloads itself is gone, or in the part that it keeps."""
    manual = window.flags.get("compacting") == MANUAL
    after = next_epoch(window)
    every = window.files.items()
    after.files = Records.of("path", {path: record for path, record in every if reloaded(record)})
    unresolved = window.from_last_epoch  # of a compaction just before this one: what that kept was not known yet
    after.from_last_epoch = {**unresolved, **{path: record for path, record in every if not reloaded(record)}}
    after.compacted_at_offset = offset
    after.claims = []
    after.maybe_compacted_from = -1
    # nobody can see any more whether it was undone
    after.work = {name: value for name, value in window.work.items() if name not in UNDOABLE}
    after.flags["compacted"] = now
    for name in (HOST_ONCE, HOST_TOO):
        after.flags.pop(name, None)
    after.flags.setdefault(DUE, offset)  # the one before may not be recorded either
    if manual:
        after.flags["kept_unknown"] = True  # its beginning may be what is left
    return after


def next_epoch(window: Window) -> Window:
    after = window.copy()
    after.epoch += 1
    after.pending, after.touched = {}, Records("dir")
    after.flags = {name: value for name, value in window.flags.items() if name not in _OF_AN_EPOCH}
    return after


def arming(window: Window, offset: int, trigger: str) -> Window:
    """A compaction is about to come: tells it from the lanes of the one before.

    Should its SessionStart never reach us, the transcript behind `offset` will show it.
    """
    trigger = trigger or "auto"
    if window.flags.get("compacting") == trigger:
        return window
    after = window.copy()
    after.flags["compacting"] = trigger  # the one before may have been called off: the newest trigger counts
    if window.maybe_compacted_from < 0:
        after.maybe_compacted_from = offset
    return after


def reloaded(record: Record) -> bool:
    """Root instruction files are read again by the host itself after a compaction; of skills, the first part."""
    cut = record["reason"].startswith("skill ") and record["chars"] > REATTACHED
    passing = record["reason"].startswith(NESTED) or record["reason"] in PASSING
    return bool(record["via"] == "host" and not passing and not cut)


def side_noted(event: Event, now: float) -> Window:
    """A window that we know only from a side event, before (or without) its start."""
    return Window(event.session_id, event.agent_id or "main", event.host, now)


def reopened(window: Window, event: Event, size: int, leaf: str) -> Window:
    """By a process that rebuilt it from a transcript of this size, up to the row `leaf`. A second client may still
    write there."""
    after = window.copy()
    after.client, after.transcript = event.client, event.transcript
    after.flags[RESUMED] = size
    if JOINED in after.flags:
        after.flags[JOINED], after.flags[OWN_ROWS] = [size], [leaf] if leaf else []
    return after


def is_known_compaction(window: Window, boundary: int) -> bool:
    """The transcript shows a compaction at this byte. Did its event reach us?"""
    if BOUNDARY not in window.flags and DUE not in window.flags:
        return "compacted" in window.flags  # by a version that did not note it
    return bool(boundary <= window.flags.get(BOUNDARY, -1) or boundary >= window.flags.get(DUE, boundary + 1))


def precedes_compaction(window: Window, boundary: int) -> bool:
    """The newest compaction in the transcript is at this byte. Is one that we know of still to be recorded?"""
    return DUE in window.flags and boundary < window.compacted_at_offset


def recorded(window: Window, boundary: int) -> Window:
    """The transcript shows the compaction that we know of; one that it shows later is another."""
    if DUE not in window.flags and window.flags.get(BOUNDARY, -1) >= boundary:
        return window
    after = window.copy()
    after.flags[BOUNDARY] = boundary
    after.flags.pop(DUE, None)
    if 0 <= boundary < window.compacted_at_offset:  # of two, the first
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
    """This claim was handed to the host."""
    if window is None:
        return None
    after = window.copy()
    after.claims = [{**claim, "printed": True} if claim["id"] == number else claim for claim in window.claims]
    return after
