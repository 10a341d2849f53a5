"""The only place that knows the order of the steps: event -> window -> plan -> claim -> output.

`run` is called once per event. The window is read without a lock; what the transcript proves and
what the handlers want is worked out on that value; and only if there is something to do, the
same steps are applied to the newest window inside one locked update.
"""

from __future__ import annotations

from handbill.core.event import (
    INSTRUCTIONS_LOADED,
    MAIN,
    PROMPT_SUBMITTED,
    SESSION_ENDED,
    SESSION_STARTED,
    TOOL_BATCH_FINISHED,
)
from handbill.core.plan import Plan
from handbill.core.records import Broken
from handbill.core.sheet import Refusal
from handbill.core.window import see
from handbill.errors import CorruptState, StateUnwritable
from handbill.handlers.table import HANDLERS, handler
from handbill.turn import Answer, Turn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from handbill.config import Config
    from handbill.core.event import Event
    from handbill.core.sheet import Sheet
    from handbill.core.window import Window
    from handbill.evidence import Facts
    from handbill.store.api import Store
    from handbill.world import World


def run(event: Event, host: ModuleType, store: Store, world: World, config: Config) -> Answer:
    turn = Turn(event, host, store, world, config)
    try:
        return _run(turn)
    except (CorruptState, Broken) as error:
        turn.trace(str(error), "it was moved aside; the ledger is rebuilt")
        store.put_aside(event.window)
        return _run(turn)


def _run(turn: Turn) -> Answer:
    event, store = turn.event, turn.store
    window = store.read(event.window)
    turn.facts = gather(turn, window)
    current = advance(turn, window)
    if turn.facts is not None and turn.facts.silent:
        return _remember(turn)
    if current is not None:
        turn.plan = decide(turn, current)
    changed = current is not window
    pending = current is not None and bool(current.pending) and event.kind in turn.host.CHANNELS
    answer = Answer()
    if changed or turn.plan or pending:
        answer = _deliver(turn, current)
    if turn.facts is not None:
        _settle_marks(turn, turn.facts)
    _log(turn, answer)
    return answer


def _settle_marks(turn: Turn, facts: Facts) -> None:
    """Batches whose directories nobody looked at: made good now, or to be by the next batch."""
    if facts.missed_mark:
        turn.store.clear_missed(turn.event.window)
    elif facts.late is not None and turn.event.kind != TOOL_BATCH_FINISHED:
        turn.store.note_missed(turn.event.window)


_SETTLED = frozenset({TOOL_BATCH_FINISHED, PROMPT_SUBMITTED, INSTRUCTIONS_LOADED, SESSION_ENDED})


def gather(turn: Turn, window: Window | None) -> Facts | None:
    """What the transcript must say first; None on the usual event, where nothing is open."""
    event = turn.event
    if window is None or not window.started or event.kind not in _SETTLED:
        return _look(turn, window)
    if window.claims or window.carried or window.suspect >= 0:
        return _look(turn, window)
    if event.kind == TOOL_BATCH_FINISHED:
        if turn.store.missed(event.window) or not turn.host.records_injections(event):
            return _look(turn, window)
        if turn.host.hook_failed(turn.world, event, window.flags.get("failures", 0)):
            return _look(turn, window)
    return None


def _look(turn: Turn, window: Window | None) -> Facts:
    from handbill.evidence import look

    missed = turn.event.kind == TOOL_BATCH_FINISHED and turn.store.missed(turn.event.window)
    facts = look(turn.event, window, turn.host, turn.world, turn.now, missed)
    for _, name, how in facts.failures:
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
    from handbill.core.claim import claim, postponed

    event, plan = turn.event, turn.plan
    channel = event.kind in turn.host.CHANNELS
    sheets = _sheets(turn, current) if channel and current is not None else {}
    moved = _moved(turn, current, sheets)
    offset = max(turn.world.size(event.transcript), 0) if event.transcript else 0

    def change(newest: Window | None) -> tuple[Window | None, Answer]:
        answer = Answer()
        answer.plan = plan
        window = advance(turn, newest)
        if window is None:
            return None, answer
        after = _noted(turn, window, moved)
        if after.suspect >= 0:
            from handbill.evidence import doubted

            # this window may have been emptied: the transcript must say so first
            after = doubted(postponed(after, plan.wants), event)
        elif channel and (plan.wants or after.pending):
            after, answer.claim = claim(after, plan.wants, sheets, event, turn.host.CAP, offset=offset, now=turn.now)
        if answer.claim is not None:
            answer.text, answer.number = answer.claim.text, after.serial
            for refusal in answer.claim.refused:
                if refusal.quiet:  # gone or empty now: a later touch looks again
                    _forget(after, refusal.path)
        return _telling(turn, after, answer), answer

    try:
        answer = turn.store.update(event.window, change)
    except StateUnwritable as error:
        if event.kind != SESSION_STARTED or event.lane > 1:
            raise
        # The client itself drops a repeat of the same start text, so no ledger is needed to give it once.
        turn.trace(str(error), error.hint)
        return change(None)[1]
    return answer


def _sheets(turn: Turn, current: Window) -> dict[str, Sheet | Refusal]:
    """Everything that may be granted, read before the claim."""
    found: dict[str, Sheet | Refusal] = {}
    for path in [*current.pending, *(want.path for want in turn.plan.wants)]:
        if path not in found and not current.holds(path):
            found[path] = turn.world.load(path)
    return found


def _moved(turn: Turn, current: Window | None, sheets: dict[str, Sheet | Refusal]) -> list[str]:
    """Files of the host's that are no longer behind the inode we noted."""
    found = []
    for sheet in sheets.values() if current is not None else ():
        if isinstance(sheet, Refusal) or current is None:
            continue
        for path, record in current.files.where("inode", sheet.inode):
            if record["via"] == "host" and turn.world.inode(path) != sheet.inode:
                found.append(path)
    return found


def _forget(window: Window, path: str) -> None:
    """Look again at the level of this directive, and so at every level from which a walk leads there."""
    level = path[: path.rfind("/.directives/")] if "/.directives/" in path else path[: path.rfind("/")]
    for directory in [place for place in window.touched if place == level or place.startswith(level + "/")]:
        del window.touched[directory]


def acknowledging(event: Event, host: ModuleType, store: Store, answer: Answer) -> Callable[[], None]:
    """Where the host keeps no record of injections, that we got as far as printing is our only proof."""

    def acknowledge() -> None:
        if not host.records_injections(event):
            from handbill.core import epochs

            store.update(event.window, lambda window: (epochs.printed(window, answer.number), None))

    return acknowledge


def _telling(turn: Turn, window: Window, answer: Answer) -> Window:
    """The person is told once per window that something went wrong, and where to look."""
    problems = [trace["error"] for trace in turn.traces]
    if answer.claim is not None:
        problems += [f"{refusal.path} {refusal.why}" for refusal in answer.claim.refused if not refusal.quiet]
    if not problems or window.flags.get("told"):
        return window
    answer.message = f"Handbill: {problems[0]}. See: engine doctor"
    twin = window.copy()
    twin.flags["told"] = True
    return twin


def _noted(turn: Turn, window: Window, moved: list[str]) -> Window:
    """What the plan says besides wanting files."""
    plan, after = turn.plan, window
    if moved:
        after = after.copy()
        for path in moved:
            if path in after.files:
                after.files[path] = {**after.files[path], "inode": ""}
    for path, reason in plan.seen:
        if path not in after.files:
            after = see(after, path, turn.world.inode(path), reason, turn.now)
    if plan.touched or plan.flags:
        after = after.copy()
        for directory, names in plan.touched.items():
            after.touched[directory] = {"found": names}
        after.flags.update(plan.flags)
    return after


def _remember(turn: Turn) -> Answer:
    """Nothing is delivered now; note what a later event has to settle."""
    from handbill.core import epochs

    if turn.facts is not None and turn.facts.chapter == epochs.SUSPECT:
        for agent in {MAIN, *turn.facts.agents}:
            key = (turn.event.session_id, agent)
            offset = max(turn.world.size(turn.host.transcript_of(turn.event, agent)), 0)
            turn.store.update(key, _suspicion(offset))
    _log(turn, Answer())
    return Answer()


def _suspicion(offset: int) -> Callable[[Window | None], tuple[Window | None, None]]:
    from handbill.core import epochs

    return lambda window: (epochs.suspected(window, offset), None)


def _log(turn: Turn, answer: Answer) -> None:
    if turn.traces or turn.outcomes or turn.opened or turn.plan or answer.claim is not None:
        from handbill.logbook import write

        write(turn, answer)
