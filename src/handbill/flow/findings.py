"""Read the transcript facts that a window's ledger depends on, and apply them to the ledger.

Imported only when something is open: a claim on its way, a start, a resume, a compaction, a failed
hook or a rewind. Most events do not need it.
"""

from __future__ import annotations

from handbill.event import COMPACTING, PROMPT_SUBMITTED, SESSION_STARTED, SUBAGENT_STARTED, TOOL_BATCH_FINISHED
from handbill.flow.missed_calls import found_late, look_for_missed
from handbill.ledger import epochs, reconcile
from handbill.ledger.content import Content
from handbill.ledger.epochs import within
from handbill.ledger.host_files import compared
from handbill.ledger.receipts import LOST, PATIENCE, Evidence, Outcome, settle, survived
from handbill.ledger.window import JOINED, MENTIONED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from handbill.event import Event, Tool
    from handbill.flow.event_context import Asked
    from handbill.ledger.window import Record, Window
    from handbill.world import World

_BACK = 2 << 20  # bytes before a compaction in which the part that it keeps may begin


class Findings:
    __slots__ = (
        "agents", "boundary_from", "chapter", "content", "dropped_mention", "failures", "missed", "missed_mark",
        "passed_suspicion", "readable", "recorded_at", "scanned", "size", "trigger", "whole_content",
    )  # fmt: skip

    def __init__(self, chapter: str) -> None:
        self.chapter = chapter
        self.size = 0
        self.trigger = ""  # of a compaction that is about to start
        self.readable = True  # the transcript exists
        self.content: Content | None = None  # of the window, from its oldest open question
        self.whole_content = False  # `content` is complete: the ledger is compared with it
        self.passed_suspicion = False  # the transcript continues and shows no compaction
        self.recorded_at = -1  # where the transcript shows the compaction of this event
        self.boundary_from = -1  # the transcript shows a compaction after this byte
        self.failures: list[tuple[str, str, str]] = []
        self.scanned = 0  # the byte up to which failures and rewinds were searched
        self.missed_mark = False  # a hook of ours failed and left a mark
        self.dropped_mention = False  # a mention was not taken: earlier calls may need its rule
        self.missed: list[Tool] = []  # calls whose event we never received
        self.agents: list[str] = []

    @property
    def must_be_followed(self) -> bool:
        """Whether this event found something that only a later event can handle."""
        return self.whole_content or self.dropped_mention

    @property
    def has_marks(self) -> bool:
        return bool(self.missed or self.missed_mark or self.dropped_mention)

    @property
    def silent(self) -> bool:
        """Whether nothing can be delivered because this window's content is not known yet."""
        return self.chapter in (epochs.WAIT, epochs.SUSPECT)


def look(event: Event, window: Window | None, host: ModuleType, world: World, now: float, asked: Asked) -> Findings:
    """Read only the facts that this event needs."""
    agents: list[str] = []
    whose_known = True
    if event.kind == SESSION_STARTED and event.source == "compact" and not host.names_compacted_agent(event):
        agents = host.agents_of(event, world)
        whose_known = not agents
    survive = host.agents_survive(event)
    facts = Findings(epochs.chapter(event, window, now, whose_known=whose_known, agents_survive=survive))
    facts.agents = agents
    facts.missed_mark = asked.missed
    # Until the host writes the prompt, the newest rows of a shared transcript may be anybody's.
    is_unsure = window is not None and JOINED in window.flags and event.kind == PROMPT_SUBMITTED
    facts.scanned = asked.scanned if not is_unsure else 0
    facts.size = max(world.size(event.transcript), 0) if event.transcript else 0
    if event.kind == COMPACTING:
        # After the server rejected a request as too long, the client may keep any part of the
        # window.
        facts.trigger = epochs.MANUAL if host.keeps_several_turns(event, world) else event.trigger
    woken = facts.chapter == epochs.FRESH and event.kind == SUBAGENT_STARTED and survive
    if woken or (event.kind == COMPACTING and (window is None or not window.started)):
        facts.content = host.window_now(event, world, unknown=woken)
        if facts.content is not None:  # it has worked before, and its ledger was lost
            facts.chapter, facts.scanned, facts.whole_content = epochs.ADOPT, facts.size, True
    elif facts.chapter in (epochs.ADOPT, epochs.AUDIT):
        from handbill.flow.late_record import of_unknown_window

        resumed = event.kind == SESSION_STARTED or facts.chapter == epochs.AUDIT
        facts.scanned = facts.size
        facts.content = of_unknown_window(event, host, world, resumed=resumed)
        if facts.content is None and facts.chapter == epochs.ADOPT:
            if asked.missed and event.kind == TOOL_BATCH_FINISHED:  # the last batch found none
                facts.content = host.window_now(event, world)  # all but the newest rows
            else:
                facts.chapter = epochs.WAIT  # no transcript yet: a later tool event reads it
        facts.whole_content = facts.content is not None
    elif facts.chapter == epochs.COMPACT and (window is None or not window.started):
        facts.content = host.window_now(event, world)  # some of it may be in the kept part
    elif facts.chapter == epochs.COMPACT and window is not None:
        facts.recorded_at = _recorded_at(event, window, host, world)
    elif window is not None and window.started and facts.chapter == epochs.GO_ON:
        _look_back(facts, event, window, host, world, asked)
    look_for_missed(facts, event, window, host, world, asked)
    return facts


def _recorded_at(event: Event, window: Window, host: ModuleType, world: World) -> int:
    """Return the byte at which the host has recorded this compaction; -1: not yet."""
    flags = window.flags
    # the newest compaction that may be an earlier one
    known = max(flags.get(epochs.BOUNDARY, -1), flags.get("scanned", 0) - 1)
    since = flags.get(epochs.DUE, window.maybe_compacted_from if window.maybe_compacted_from >= 0 else known + 1)
    if JOINED in flags:  # other compactions may be another client's
        content = host.window_now(event, world, window=window)
        return content.boundary if content is not None and content.boundary >= since else -1
    earlier = epochs.DUE in flags  # the one before was not yet recorded when this one was announced
    found = host.compactions_since(event, world, since)
    return int(found[-1]) if len(found) > earlier else -1


def _look_back(facts: Findings, event: Event, window: Window, host: ModuleType, world: World, asked: Asked) -> None:
    if window.maybe_compacted_from >= 0:  # checked first: content that is read below may be newer
        mark = window.flags.get("suspect_mark", "")
        ids = [mark if mark != event.mark else "", *(tool.id for tool in event.tools)]
        data = world.tail(event.transcript, window.maybe_compacted_from)
        # The host submits no prompt during a compaction: it was cancelled or is already recorded.
        is_over = event.kind == PROMPT_SUBMITTED and "compacting" in window.flags
        facts.passed_suspicion = is_over or (
            any(id and f'"{id}"'.encode() in data for id in ids)
            if data is not None
            else bool(mark) and mark != event.mark  # without data: the probable answer
        )
    scanned = window.flags.get("scanned", 0)
    facts.boundary_from = scanned if asked.compacted else -1
    since = [claim["offset"] for claim in window.claims]
    since += [max(window.compacted_at_offset - _BACK, 0)] if window.from_last_epoch else []
    since += [max(window.maybe_compacted_from - _BACK, 0)] if window.maybe_compacted_from >= 0 else []
    since += [max(scanned - _BACK, 0)] if asked.compacted else []
    since += [window.flags[MENTIONED]["at"]] if MENTIONED in window.flags else []
    # Only the whole content shows which of the earlier calls are in this window.
    everything = asked.moved or asked.missed or asked.failed or asked.unannounced
    if since and not everything:
        facts.content = host.window_now(event, world, since=min(since), window=window)
        everything = facts.content is not None and _is_overdue(window, facts.content)
    if everything:
        facts.content = host.window_now(event, world, window=window)
        facts.whole_content = facts.content is not None
    facts.readable = world.size(event.transcript) >= 0


def _is_overdue(window: Window, content: Content) -> bool:
    """Whether only the start of the transcript can show what became of an earlier turn's claim."""
    return not content.whole and any(
        any(at >= int(claim["offset"]) for at in content.prompts.values()) and not content.went_past(claim)
        for claim in window.claims
    )


def doubted(window: Window, event: Event) -> Window:
    """Note this event's mark if the suspicion remains: a later event finds it, or a compaction."""
    if window.maybe_compacted_from < 0 or "suspect_mark" in window.flags or not event.mark:
        return window
    after = window.copy()
    after.flags["suspect_mark"] = event.mark
    return after


def apply(
    facts: Findings, event: Event, window: Window | None, host: ModuleType, now: float
) -> tuple[Window | None, list[Outcome]]:
    """Return the next value of the window. Pure: the same facts apply to a newer window too."""
    chapter = epochs.chapter(event, window, now, agents_survive=host.agents_survive(event))
    if facts.chapter == epochs.ADOPT and (window is None or not window.started):
        chapter = epochs.ADOPT
    if facts.chapter in (epochs.WAIT, epochs.SUSPECT):
        return window, []
    if facts.chapter == epochs.FRESH and chapter == epochs.FRESH:
        return epochs.opened(event, window, now), []
    if facts.chapter == epochs.CONTINUED and chapter == epochs.CONTINUED and window is not None:
        return epochs.continued(event, window, now), []
    if facts.chapter == epochs.ADOPT and chapter == epochs.ADOPT:
        found = facts.content or Content()
        after = epochs.recorded(reconcile.adopted(event, window, found, now), found.boundary)
        if event.kind == SESSION_STARTED:
            after = epochs.reopened(after, event, facts.size, "")
        if event.kind == COMPACTING:
            after = epochs.arming(after, facts.size, facts.trigger)
        return _scanned(after, facts), []
    if facts.chapter == epochs.COMPACT and chapter == epochs.COMPACT:
        known = window if window is not None and window.started else None
        before = known or reconcile.adopted(event, window, facts.content or Content(), now)
        if known is None and window is not None:
            before = epochs.arming(before, facts.size, window.flags.get("compacting", ""))
        return epochs.compacted(before, facts.recorded_at if facts.recorded_at >= 0 else facts.size, now), []
    if window is None:
        if event.kind == COMPACTING:  # its trigger shows which part may be kept
            return epochs.arming(epochs.side_noted(event, now), facts.size, facts.trigger), []
        return (epochs.side_noted(event, now), []) if event.path else (None, [])
    if facts.chapter == epochs.AUDIT:
        if chapter != epochs.AUDIT:
            return window, []  # another event of this process did it
        if facts.content is None:
            return epochs.reopened(window, event, facts.size, ""), []  # nothing to compare with
        boundary, known = facts.content.boundary, window
        if boundary >= 0 and not epochs.is_known_compaction(window, boundary):  # start was missed
            known = epochs.recorded(epochs.compacted(window, boundary, now), boundary)
        after = reconcile.resumed(known, facts.content, event, now)
        after = reconcile.without_undone_reading(after, facts.content, event, now, PATIENCE)
        after = epochs.recorded(epochs.reopened(after, event, facts.size, facts.content.leaf), boundary)
        return _scanned(after, facts), survived(window, after)
    return _go_on(facts, event, window, host, now)


def _go_on(facts: Findings, event: Event, window: Window, host: ModuleType, now: float) -> tuple[Window, list[Outcome]]:
    outcomes: list[Outcome] = []
    if event.kind == COMPACTING:
        return epochs.arming(window, facts.size, facts.trigger), []
    records, content = host.records_injections(event), facts.content
    older = content is not None and epochs.precedes_compaction(window, content.boundary)
    if window.claims and not older:  # content from before the compaction proves nothing
        proof = proof_in(content, window, now, records=records, readable=facts.readable, failed=bool(facts.failures))
        window, outcomes = settle(window, proof, event, now)
    offset = found_late(facts, window)
    late = offset >= 0
    if late and content is not None:
        before, window = window, epochs.recorded(epochs.compacted(window, offset, now), content.boundary)
        _keep_this_moment(window, before, event)
    elif content is not None and 0 <= facts.boundary_from <= content.boundary:
        window = epochs.recorded(window, content.boundary)
    if not late and window.maybe_compacted_from >= 0 and facts.passed_suspicion:
        window = epochs.cleared(window)
    if window.from_last_epoch and content is not None and content.boundary >= window.compacted_at_offset:
        window = reconcile.inherited(window, content, records=records)
    elif (
        window.from_last_epoch and not facts.readable and not within(window.flags.get("compacted", 0.0), now, PATIENCE)
    ):
        window = reconcile.inherited(window, Content(), records=records)
    elif facts.whole_content and content is not None and records and not window.from_last_epoch:
        gone = reconcile.left(window, content, now, PATIENCE)
        if gone:
            outcomes += [Outcome(path, "the conversation was rewound", LOST) for path in gone]
            window = reconcile.rewound(window, content, event)
        if window.work.get("begun"):
            window = reconcile.without_undone_work(window, content, event)
        window = reconcile.without_undone_reading(window, content, event, now, PATIENCE)
        window = reconcile.found(window, content, now)
    if content is not None and records and not window.from_last_epoch:
        mention = window.flags.get(MENTIONED)
        window, gone = compared(window, content, event, now, whole=facts.whole_content)
        if gone and facts.whole_content:
            window = reconcile.found(window, content, now)  # parts of our earlier delivery
        outcomes += [Outcome(path, "the message that showed it is gone", LOST) for path in gone]
        if mention is not None and MENTIONED not in window.flags:
            facts.dropped_mention = not content.has_batch(mention["prompt"])
    return _scanned(window, facts), outcomes


def _keep_this_moment(window: Window, before: Window, event: Event) -> None:
    """Keep deliveries of this prompt: the host submits no prompt while it compacts."""
    window.claims = [claim for claim in before.claims if event.is_moment(claim["batch"])]
    for path in [item[0] for claim in window.claims for item in claim["items"]]:
        if path in window.from_last_epoch:
            window.files[path] = window.from_last_epoch.pop(path)


def proof_in(
    content: Content | None, window: Window, now: float, *, records: bool, readable: bool = True, failed: bool = False
) -> Evidence:
    """Return evidence on the open claims. `failed`: the host recorded a failure of our hooks."""
    if content is None:
        return Evidence(readable=readable, records=records)
    arrived = content.newest(content.titles(reconcile.denied_calls(window)))
    passed = {claim["id"] for claim in window.claims if _is_past(claim, content, now)} if records else set()
    understood = failed or bool(content.blocks)
    dropped = {claim["id"] for claim in window.claims if content.skipped(claim)}
    return Evidence(
        arrived, content.cut, passed, dropped, content.lines(), records=records, understood=understood,
        untrue=content.untrue,
    )  # fmt: skip


def _is_past(claim: Record, content: Content, now: float) -> bool:
    old = not within(claim["at"], now, PATIENCE)  # earlier text may be recorded late
    return content.went_past(claim) or (old and content.skipped(claim))


def _scanned(window: Window, facts: Findings) -> Window:
    """Note that failures and rewinds up to this byte are handled."""
    if facts.scanned <= window.flags.get("scanned", 0):
        return window
    after = window.copy()
    after.flags["scanned"] = facts.scanned
    return after
