"""What the transcript must say before a window's ledger can be trusted, and what follows from it.

Imported only when something is open: a claim on its way, a start, a resume, a compaction, a
hook that failed. The usual event never gets here.
"""

from __future__ import annotations

from handbill.core import epochs
from handbill.core.epochs import Survivors
from handbill.core.event import COMPACTING, PROMPT_SUBMITTED, SESSION_STARTED, TOOL_BATCH_FINISHED
from handbill.core.receipts import CONFIRMED, LOST, PATIENCE, Evidence, Outcome, settle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from handbill.core.event import Event, Tool
    from handbill.core.window import Window
    from handbill.world import World

# A resume looks at this much of a transcript's end; what is older was confirmed long ago.
AUDIT_BYTES = 8 << 20
_BACK = 2 << 20  # how far before a compaction its preserved messages may begin
_CALLS, _LAST_CALLS = 8 << 20, 256 << 10


class Facts:
    __slots__ = (
        "agents", "chapter", "evidence", "failures", "failures_end", "kept", "late", "missed", "missed_mark",
        "passed_suspicion", "size", "survivors",
    )  # fmt: skip

    def __init__(self, chapter: str) -> None:
        self.chapter = chapter
        self.size = 0
        self.evidence: Evidence | None = None
        self.survivors: Survivors | None = None  # of the whole window: resume, fork, unknown window
        self.kept: Survivors | None = None  # of the messages that the last known compaction preserved
        self.late: Survivors | None = None  # the same of one that we only suspected: it did happen
        self.passed_suspicion = False  # the transcript goes on, and no compaction stands in it
        self.failures: list[tuple[str, str, str]] = []
        self.failures_end = 0
        self.missed_mark = False  # a hook of ours could not do its work and said so
        self.missed: list[Tool] = []  # calls whose event we never got
        self.agents: list[str] = []

    @property
    def silent(self) -> bool:
        """Nothing can be delivered: this window's content is not known yet."""
        return self.chapter in (epochs.WAIT, epochs.SUSPECT)


def look(
    event: Event, window: Window | None, host: ModuleType, world: World, now: float, missed_mark: bool = False
) -> Facts:
    """Read what this event needs, and no more."""
    agents: list[str] = []
    whose_known = True
    if event.kind == SESSION_STARTED and event.source == "compact" and not host.names_compacted_agent(event):
        agents = host.agents_of(event, world)
        whose_known = not agents
    facts = Facts(
        epochs.chapter(event, window, now, whose_known=whose_known, agents_survive=host.agents_survive(event))
    )
    facts.agents = agents
    facts.missed_mark = missed_mark
    facts.size = max(world.size(event.transcript), 0) if event.transcript else 0
    known = window is not None and window.started
    if facts.chapter == epochs.ADOPT:
        facts.survivors = host.survivors(event, world, live=event.kind == TOOL_BATCH_FINISHED, most=0)
        if facts.survivors is None:
            facts.chapter = epochs.WAIT  # no transcript to read yet: a later tool event will see it
    elif facts.chapter == epochs.AUDIT:
        facts.survivors = host.survivors(event, world, live=False, most=AUDIT_BYTES)
    if window is not None and known and facts.chapter == epochs.GO_ON:
        _look_back(facts, event, window, host, world)
    if event.kind == TOOL_BATCH_FINISHED:
        _look_for_missed(facts, event, window, host, world)
    return facts


def _look_for_missed(facts: Facts, event: Event, window: Window | None, host: ModuleType, world: World) -> None:
    """Calls whose directories we never looked at: a hook failed, or the window was not known."""
    since = window.flags.get("failures", 0) if window is not None else 0
    facts.failures, facts.failures_end = host.failures(event, world, since)
    if facts.late or facts.failures or facts.missed_mark or facts.chapter == epochs.ADOPT:
        facts.missed = host.calls(event, world, _CALLS)
    elif not host.records_injections(event):  # there a hook that died left no trace: the last calls are looked at again
        facts.missed = host.calls(event, world, _LAST_CALLS)


def _look_back(facts: Facts, event: Event, window: Window, host: ModuleType, world: World) -> None:
    if window.claims:
        offset = min(claim["offset"] for claim in window.claims)
        facts.evidence = host.evidence(event, world.tail(event.transcript, offset), window.claims)
    open_from = [window.carried_from] if window.carried else []
    open_from += [window.suspect] if window.suspect >= 0 else []
    if not open_from:
        return
    since = min(open_from)
    start = max(since - _BACK, 0)
    data = world.tail(event.transcript, start)
    mark = window.flags.get("suspect_mark", "")
    if data is None:  # nothing to judge by, now or later: believe in what is likely, as for receipts
        facts.passed_suspicion = bool(mark) and mark != _mark(event)
        if window.carried and world.now() - window.flags.get("compacted", 0.0) > PATIENCE:
            facts.kept = Survivors()
        return
    if window.carried:
        facts.kept = _kept(event, host, world, data, start, window.carried_from)
    if window.suspect >= 0:
        facts.late = _kept(event, host, world, data, start, window.suspect)
        ids = [mark if mark != _mark(event) else "", *(tool.id for tool in event.tools)]
        behind = window.suspect - start
        facts.passed_suspicion = any(id and data.find(f'"{id}"'.encode(), behind) >= 0 for id in ids)


def _kept(event: Event, host: ModuleType, world: World, data: bytes, start: int, since: int) -> Survivors | None:
    found: Survivors | None = host.kept_tail(data, since - start)
    if found is not None and not found.complete and start:  # the kept messages begin before what was read
        whole: Survivors | None = host.kept_tail(world.tail(event.transcript, 0, 256 << 20) or b"", since)
        return whole or found
    return found


def _mark(event: Event) -> str:
    """What the transcript will show of this event, once it has got that far; of others it shows nothing."""
    if event.kind == TOOL_BATCH_FINISHED:
        return event.tools[-1].id if event.tools else ""
    prompt = event.raw.get("prompt_id") if event.kind == PROMPT_SUBMITTED else ""
    return prompt if isinstance(prompt, str) else ""


def doubted(window: Window, event: Event) -> Window:
    """Suspected, and not settled by this event: a later one will find this event's mark, or a compaction."""
    if window.suspect < 0 or "suspect_mark" in window.flags or not _mark(event):
        return window
    twin = window.copy()
    twin.flags["suspect_mark"] = _mark(event)
    return twin


def apply(
    facts: Facts, event: Event, window: Window | None, host: ModuleType, now: float
) -> tuple[Window | None, list[Outcome]]:
    """Pure: the same facts on a newer window give that window's next value."""
    chapter = epochs.chapter(event, window, now, agents_survive=host.agents_survive(event))
    if facts.chapter in (epochs.WAIT, epochs.SUSPECT):
        return window, []
    if facts.chapter == epochs.FRESH and chapter == epochs.FRESH:
        return epochs.opened(event, window, now), []
    if facts.chapter == epochs.CONTINUED and chapter == epochs.CONTINUED and window is not None:
        return epochs.continued(event, window, now), []
    if facts.chapter == epochs.ADOPT and chapter == epochs.ADOPT:
        after = epochs.adopted(event, window, facts.survivors or Survivors(), now)
        return _failures_noted(after, facts), []
    if facts.chapter == epochs.COMPACT and chapter == epochs.COMPACT:
        base = window if window is not None and window.started else epochs.opened(event, window, now)
        return epochs.compacted(base, facts.size, now), []
    if window is None:
        return (epochs.side_noted(event, now), []) if event.path else (None, [])
    if facts.chapter == epochs.AUDIT:
        if facts.survivors is None:
            return window, []  # nothing to judge by: absence of a record proves nothing
        after = epochs.resumed(window, facts.survivors, event, now)
        return epochs.reopened(after, event), _resume_outcomes(window, after)
    return _go_on(facts, event, window, host, now)


def _go_on(facts: Facts, event: Event, window: Window, host: ModuleType, now: float) -> tuple[Window, list[Outcome]]:
    outcomes: list[Outcome] = []
    if event.kind == COMPACTING:
        return epochs.arming(window, facts.size), []
    if facts.evidence is not None:
        window, outcomes = settle(window, facts.evidence, event, now)
    kept = facts.kept
    if window.suspect >= 0 and facts.late is not None:
        window, kept = epochs.compacted(window, facts.size, now), facts.late
    elif window.suspect >= 0 and facts.passed_suspicion:
        window = epochs.cleared(window)
    if window.carried and kept is not None:
        window = epochs.inherited(window, kept, records=host.records_injections(event))
    return _failures_noted(window, facts), outcomes


def _resume_outcomes(before: Window, after: Window) -> list[Outcome]:
    gone = [path for path in after.pending if path not in before.pending]
    found = [Outcome(path, "did not survive the resume", LOST) for path in gone]
    for path, record in before.files.items():
        if "s" in record["parts"] and "s" not in after.files[path]["parts"] and path not in gone:
            found.append(Outcome(path, record["reason"], CONFIRMED))
    return found


def _failures_noted(window: Window, facts: Facts) -> Window:
    if not facts.failures:
        return window
    twin = window.copy()
    twin.flags["failures"] = facts.failures_end  # those before it are dealt with
    return twin
