"""The only place that knows the order of the steps: event -> window -> plan -> claim -> output.

`run` is called once per event. The window is read without a lock; what the transcript proves and
what the handlers want is worked out on that value; and only if there is something to do, the
same steps are applied to the newest window inside one locked update.
"""

from __future__ import annotations

from handbill.core import epochs
from handbill.core.claim import Claim, Refusal, claim
from handbill.core.event import (
    INSTRUCTIONS_LOADED,
    MAIN,
    PROMPT_SUBMITTED,
    SESSION_ENDED,
    SESSION_STARTED,
    TOOL_BATCH_FINISHED,
)
from handbill.core.plan import Plan
from handbill.core.window import see
from handbill.errors import CorruptState, trace_line
from handbill.handlers.table import HANDLERS, handler
from handbill.store.api import DELIVERIES, ERRORS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    from handbill.config import Config
    from handbill.core.claim import Sheet
    from handbill.core.event import Event
    from handbill.core.receipts import Outcome
    from handbill.core.window import Window
    from handbill.evidence import Facts
    from handbill.store.api import Store
    from handbill.world import World


class Answer:
    __slots__ = ("claim", "message", "plan", "text")

    def __init__(self) -> None:
        self.text = ""
        self.message = ""
        self.plan: Plan | None = None
        self.claim = Claim()


class Turn:
    """One event on its way through the house."""

    __slots__ = ("config", "event", "facts", "host", "now", "opened", "outcomes", "plan", "store", "traces", "world")

    def __init__(self, event: Event, host: ModuleType, store: Store, world: World, config: Config) -> None:
        self.event = event
        self.host = host
        self.store = store
        self.world = world
        self.config = config
        self.now = world.now()
        self.plan = Plan()
        self.facts: Facts | None = None
        self.opened = ""  # new-window, new-epoch: what the log needs to count copies per window
        self.outcomes: list[Outcome] = []
        self.traces: list[dict[str, Any]] = []

    def trace(self, what: str, hint: str = "") -> None:
        window = ".".join(self.event.window)
        self.traces.append(trace_line(self.now, self.event.kind, what, hint, window=window))


def run(event: Event, host: ModuleType, store: Store, world: World, config: Config) -> Answer:
    turn = Turn(event, host, store, world, config)
    try:
        window = store.read(event.window)
    except CorruptState as error:
        turn.trace(str(error), error.hint)
        window = None
    turn.facts = gather(turn, window)
    current = advance(turn, window)
    if turn.facts is not None and turn.facts.chapter in (epochs.WAIT, epochs.SUSPECT):
        return _remember(turn)
    if current is not None:
        turn.plan = decide(turn, current)
    changed = current is not window
    pending = current is not None and bool(current.pending) and event.kind in host.CHANNELS
    answer = Answer()
    if changed or turn.plan or pending:
        answer = _deliver(turn, current)
    _log(turn, answer)
    return answer


_SETTLED = frozenset({TOOL_BATCH_FINISHED, PROMPT_SUBMITTED, INSTRUCTIONS_LOADED, SESSION_ENDED})


def gather(turn: Turn, window: Window | None) -> Facts | None:
    """What the transcript must say first; None on the usual event, where nothing is open."""
    event = turn.event
    if window is None or not window.started or event.kind not in _SETTLED:
        return _look(turn, window)
    if window.claims or window.carried or window.suspect >= 0:
        return _look(turn, window)
    if event.kind == TOOL_BATCH_FINISHED and not turn.host.records_injections(event):
        return _look(turn, window)
    if event.kind == TOOL_BATCH_FINISHED and turn.host.hook_failed(turn.world, event):
        return _look(turn, window)
    return None


def _look(turn: Turn, window: Window | None) -> Facts:
    from handbill.evidence import look

    facts = look(turn.event, window, turn.host, turn.world, turn.now)
    for uuid, name, how in facts.failures:
        if window is None or uuid not in window.flags.get("failures", ()):
            turn.trace(f"our {name} hook {how}", "what it should have delivered is delivered now")
    if facts.missed:
        turn.event.tools = [*facts.missed, *turn.event.tools]
    return facts


def advance(turn: Turn, window: Window | None) -> Window | None:
    """The window with what the facts say about it; the same object when they say nothing."""
    if turn.facts is None:
        return window
    from handbill.evidence import apply

    after, turn.outcomes = apply(turn.facts, turn.event, window, turn.host, turn.now)
    if (
        after is not None
        and after.started
        and (window is None or not window.started or after.created != window.created)
    ):
        turn.opened = "new-window"
    elif after is not None and window is not None and after.epoch != window.epoch:
        turn.opened = "new-epoch"
    else:
        turn.opened = ""
    return after


def decide(turn: Turn, window: Window) -> Plan:
    plan = Plan()
    for name in HANDLERS.get(turn.event.kind, ()):
        plan.add(handler(name)(turn.event, window, turn.world, turn.config))
    return plan


def _deliver(turn: Turn, current: Window | None) -> Answer:
    event, host, plan = turn.event, turn.host, turn.plan
    sheets: dict[str, Sheet | Refusal] = {}
    budget = host.CAP if event.kind in host.CHANNELS else 0
    if budget and current is not None:
        for path in [*current.pending, *(want.path for want in plan.wants)]:
            if path not in sheets and not current.holds(path):
                sheets[path] = turn.world.load(path)
    offset = max(turn.world.size(event.transcript), 0) if event.transcript else 0

    def change(newest: Window | None) -> tuple[Window | None, Answer]:
        answer = Answer()
        answer.plan = plan
        window = advance(turn, newest)
        if window is None:
            return None, answer
        after = _noted(turn, window)
        if plan.wants or (budget and after.pending):
            after, answer.claim = claim(after, plan.wants, sheets, event, budget, offset=offset, now=turn.now)
        answer.text = answer.claim.text
        for refusal in answer.claim.refused:
            if refusal.quiet:  # gone or empty now: a later touch looks again
                after.touched.pop(_directive_level(refusal.path), None)
        return _telling(turn, after, answer), answer

    return turn.store.update(event.window, change)


def acknowledging(event: Event, host: ModuleType, store: Store, answer: Answer) -> Callable[[], None]:
    """Where the host keeps no record of injections, that we got as far as printing is our only proof."""

    def acknowledge() -> None:
        if not host.records_injections(event):
            store.update(event.window, lambda window: (epochs.printed(window, event), None))

    return acknowledge


def _telling(turn: Turn, window: Window, answer: Answer) -> Window:
    """The person is told once per window that something went wrong, and where to look."""
    problems = [trace["error"] for trace in turn.traces]
    problems += [f"{refusal.path} {refusal.why}" for refusal in answer.claim.refused if not refusal.quiet]
    if not problems or window.flags.get("told"):
        return window
    answer.message = f"Handbill: {problems[0]}. See: engine doctor"
    twin = window.copy()
    twin.flags["told"] = True
    return twin


def _noted(turn: Turn, window: Window) -> Window:
    """What the plan says besides wanting files."""
    plan, after = turn.plan, window
    for path, reason in plan.seen:
        if path not in after.files:
            after = see(after, path, turn.world.inode(path), reason, turn.now)
    if plan.touched or plan.flags:
        after = after.copy()
        after.touched.update(plan.touched)
        after.flags.update(plan.flags)
    return after


def _directive_level(path: str) -> str:
    return path[: path.rfind("/.directives/")] if "/.directives/" in path else path[: path.rfind("/")]


def _remember(turn: Turn) -> Answer:
    """Nothing is delivered now; note what a later event has to settle."""
    if turn.facts is not None and turn.facts.chapter == epochs.SUSPECT:
        for agent in {MAIN, *turn.facts.agents}:
            key = (turn.event.session_id, agent)
            offset = max(turn.world.size(turn.host.transcript_of(turn.event, agent)), 0)
            turn.store.update(key, _suspicion(offset))
    _log(turn, Answer())
    return Answer()


def _suspicion(offset: int) -> Callable[[Window | None], tuple[Window | None, None]]:
    return lambda window: (epochs.suspected(window, offset), None)


def _log(turn: Turn, answer: Answer) -> None:
    lines = _delivery_lines(turn, answer)
    for refusal in answer.claim.refused:
        if not refusal.quiet:
            turn.trace(f"{refusal.path} {refusal.why}", "it is not delivered")
    for note in turn.plan.notes:
        turn.trace(note)
    if turn.event.kind == SESSION_STARTED:
        for problem in turn.config.problems:
            turn.trace(problem, "correct the settings file")
    if turn.traces:
        turn.store.append(ERRORS, turn.traces)
    if lines:
        turn.store.append(DELIVERIES, lines)


def _delivery_lines(turn: Turn, answer: Answer) -> list[dict[str, Any]]:
    """One line per decision, with the event names of the source documents."""
    found = answer.claim
    rows: list[tuple[str, str, str, int]] = []
    if turn.opened:
        rows.append((turn.opened, "", turn.event.source or turn.event.kind, 0))
    rows += [(outcome.result, outcome.path, outcome.reason, 0) for outcome in turn.outcomes]
    rows += [("seed", path, reason, 0) for path, reason in turn.plan.seen]
    for grant in found.grants:
        name = "updated" if grant.word == "Updated" else "claim-deliver"
        if turn.event.kind == SESSION_STARTED:
            name = "direct-deliver" if name == "claim-deliver" else name
        label = f"{grant.reason} (part {grant.part}/{grant.parts})" if grant.parts > 1 else grant.reason
        rows.append((name, grant.path, label, len(grant.block)))
    rows += [(why, path, reason, 0) for path, why, reason in found.skipped]
    rows += [("queue-pending", path, reason, 0) for path, reason in found.queued]
    rows += [("refused", refusal.path, refusal.why, 0) for refusal in found.refused]
    window = ".".join(turn.event.window)
    return [
        {
            "ts": round(turn.now, 3), "host": turn.event.host, "window": window, "handler": turn.event.kind,
            "event": name, "file": path, "source": reason, "chars": chars,
        }
        for name, path, reason, chars in rows
    ]  # fmt: skip
