"""The only place that knows the order of the steps: event -> window -> plan -> claim -> output.

`run` is called once per event. The window is read without a lock; what the transcript proves and
what the handlers want is worked out on that value; and only if there is something to do, the
same steps are applied to the newest window inside one locked update.
"""

from __future__ import annotations

from handbill.errors import CorruptState
from handbill.event import (
    COMPACTING,
    INSTRUCTIONS_LOADED,
    PROMPT_SUBMITTED,
    SESSION_ENDED,
    SESSION_STARTED,
    SKILL_EXPANDED,
    STOPPING,
    TOOL_BATCH_FINISHED,
    TOOL_CALLED,
)
from handbill.flow.event_context import Answer, Asked, Turn, attempt
from handbill.handlers import HANDLERS, applies, handler
from handbill.ledger.records import Broken
from handbill.ledger.window import DOUBTFUL, JOINED, MENTIONED, Window
from handbill.paths import under
from handbill.plan import BLOCK, Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from handbill.event import Event
    from handbill.flow.findings import Facts
    from handbill.settings import Config
    from handbill.store.api import Store
    from handbill.world import World

_ADDED = "added"  # directories that the transcript names
_READ_AGAIN = 1 << 20  # bytes


def run(event: Event, host: ModuleType, store: Store, world: World, config: Config) -> Answer:
    turn = Turn(event, host, store, world, config)
    try:
        return _run(turn)
    except (CorruptState, Broken) as error:
        turn.trace(str(error), "nothing to do: it was moved aside, and the ledger is rebuilt")
        store.put_aside(event.window)
        return _run(turn)


def _run(turn: Turn) -> Answer:
    event, store = turn.event, turn.store
    event.terminal, event.notices, event.tasks = "", [], []  # it may be the second try, with a rebuilt ledger
    turn.plan, turn.broken = Plan(), False
    window = _own_window(turn)
    if event.kind in (TOOL_CALLED, STOPPING):
        return _gated(turn, window)
    turn.facts = gather(turn, window)
    if turn.asked.queued:
        return Answer()  # it waits for the running turn, whose next event delivers
    current = window
    if turn.facts is not None:
        from handbill.flow.delivery import advance, warn_if_unrecorded

        current = advance(turn, window)
        warn_if_unrecorded(turn, window, current)
    if turn.facts is not None and turn.facts.silent:
        from handbill.flow.quiet_events import remember

        remember(turn)
        return _logged(turn, Answer())
    if current is not None and _is_left_open(event, current):
        from handbill.flow.quiet_events import keep

        keep(turn)
        return _logged(turn, Answer())
    channel = event.kind in turn.host.CHANNELS
    if event.tools or event.kind == SKILL_EXPANDED:
        _complete_calls(turn, current)
    if current is not None:
        turn.has_session = bool(current.work.get("session"))
        _heard(turn, current, channel)
        turn.plan.add(decide(turn, current))
        settled = window is not None and bool(window.carried) and not current.carried
        if settled or (turn.facts is not None and turn.facts.whole_content):
            from handbill.flow.recovered import compare_found_files

            compare_found_files(turn, current)
            turn.plan.unfinished = turn.plan.unfinished or turn.broken
    if current is not None and (event.terminal or JOINED in current.flags):
        from handbill.flow.terminals import note_own_rows

        note_own_rows(turn, current)
    changed = current is not window
    pending = current is not None and bool(current.pending) and channel
    answer = Answer()
    if changed or turn.plan.changes or pending:
        from handbill.flow.delivery import deliver

        answer = deliver(turn, current, turn.host.CAP if channel else 0)
    if turn.facts is not None:
        _settle_marks(turn, turn.facts)
    if (turn.plan.unfinished or turn.broken) and store.note_missed(event.window) and turn.broken:
        answer.message = answer.message or "Handbill: part of a hook failed. Run `engine doctor` for details."
    if turn.plan.taken or turn.plan.keep:
        from handbill.flow.quiet_events import write_down

        write_down(turn)
    return _logged(turn, answer)


def _own_window(turn: Turn) -> Window | None:
    event = turn.event
    window = turn.store.read(event.window)
    known = window is not None and window.client in (0, event.client) and event.source != "resume"
    begins = window is None and event.source in ("startup", "clear")  # nobody else can have that session
    if known or begins or event.agent_id:
        return window
    from handbill.flow.terminals import own_window

    return own_window(turn, window)


def _heard(turn: Turn, current: Window, channel: bool) -> None:
    """Word that commands left, and what only the host's record still knows of a window that had to be rebuilt."""
    event = turn.event
    for notice in turn.store.notices(event.session_id) if channel else ():
        (event.tasks if notice["verb"] == "task" else event.notices).append(notice)
    if event.agent_id and event.tasks:
        event.call = turn.host.call_behind(event, turn.world)
    rebuilt = turn.facts is not None and turn.facts.whole_content and turn.opened != ""
    if rebuilt or any(notice["verb"] in ("activate", "continue") for notice in event.notices):
        event.skills = _skills_loaded(turn, current)  # what the host itself brought is there
    if rebuilt:
        from handbill.flow.recovered import found_again

        found_again(turn, current)
    if current.flags.get("awaits"):
        event.notes["answers"] = turn.host.answers(event, turn.world, current.flags["awaits"])
    is_new = event.source or turn.asked.missed or current.flags.get("standards") != current.epoch
    if is_new or event.kind == COMPACTING:
        from handbill.flow.inbox import recall

        recall(turn, current)


def _complete_calls(turn: Turn, window: Window | None) -> None:
    """What the event itself does not say: files that a command's body mentions, and directories that the user added."""
    event = turn.event
    if event.kind == SKILL_EXPANDED or any(tool.name == "Skill" for tool in event.tools):
        ask = turn.host.mentions_in_commands
        event.tools += attempt(turn, "mentions in a command", ask, event, turn.world, turn.config.home) or []
    known = (turn.config.project, turn.config.user_library, *turn.config.allowed)
    paths = [path for tool in event.tools for path in (*tool.files, *tool.places)]
    if not all(any(under(path, root) for root in known) for path in paths):
        before = window.flags.get(_ADDED) if window is not None else None
        ask = turn.host.added_directories
        found = attempt(turn, "added directories", ask, event, turn.world, turn.config.home, before)
        event.added, after = found or ([], {"to": 0})
        if after["to"] - (before["to"] if before else 0) > _READ_AGAIN:
            turn.plan.flags[_ADDED] = after  # else it is as quick to read it again as to write this down


def _skills_loaded(turn: Turn, window: Window) -> list[str]:
    known = turn.facts.content if turn.facts is not None and turn.facts.whole_content else None
    content = known or turn.host.window_now(turn.event, turn.world, window=window)
    return content.skills if content is not None else []


def _gated(turn: Turn, window: Window | None) -> Answer:
    """Before a tool runs, or the agent rests: no context can be given, only a reason not to do it yet."""
    event = turn.event
    in_doubt = window is not None and _is_in_doubt(event, window)
    window = _up_to_date(turn, window)
    known = window is not None and window.started and window.suspect < 0
    turn.has_session = window is not None and bool(window.work.get("session"))
    _complete_calls(turn, window)
    noted = turn.plan.flags
    turn.plan = decide(turn, window if known and window is not None else Window(*event.window))
    turn.plan.flags.update(noted)
    if not known:
        turn.plan.verdict = ""  # what was delivered there is not known, so nothing is held
    answer = Answer()
    answer.plan = turn.plan
    for notice in turn.plan.post:
        turn.store.post(event.session_id, notice)
    if turn.plan.changes and known:
        from handbill.flow.delivery import deliver, said_beside

        answer = deliver(turn, window, turn.host.GATE_CAP if turn.plan.wants else 0)
        if turn.plan.wants and not answer.text and not (turn.plan.firm and said_beside(turn.plan, answer)):
            turn.plan.verdict = ""  # it is all there under another name, or gone: nothing to hold the call for
        if turn.opened or in_doubt or (turn.facts is not None and turn.facts.must_be_followed):
            turn.store.note_missed(event.window)  # the next batch looks at all that is left, and at the files
    else:
        turn.opened, turn.outcomes = "", []  # not written down: the next batch finds and logs them
    return _logged(turn, answer)


def _up_to_date(turn: Turn, window: Window | None) -> Window | None:
    """A rewind or a compaction may have emptied the window since the last event: its transcript tells, or soon will."""
    if window is None or not window.started:
        return window
    asked = _asked(turn, window)
    lost = bool(window.claims) or asked.failed  # what was sent may not have arrived
    if not asked.moved and not asked.compacted and not lost and not _is_in_doubt(turn.event, window):
        return window
    from handbill.flow.delivery import advance
    from handbill.flow.late_record import as_it_grows

    for _ in as_it_grows(turn.event.transcript, turn.world):
        turn.facts = _look(turn, window, asked)
        if asked.failed or asked.unannounced:
            turn.facts.scanned = 0  # the next batch sees those signs again, and makes good what was missed
        current = advance(turn, window)
        if current is None or not _is_in_doubt(turn.event, current):
            return current
    return window


def _is_in_doubt(event: Event, window: Window) -> bool:
    """Was it compacted, or does the host restore what a gate waits for? Only its newest records say."""
    if event.kind == TOOL_CALLED:  # the rules for what it does may be gone
        return window.suspect >= 0 or bool(window.carried)
    return any(record["via"] == DOUBTFUL for record in window.carried.values())


def _settle_marks(turn: Turn, facts: Facts) -> None:
    """Batches whose directories nobody looked at: made good now, or to be by the next batch."""
    unseen = facts.missed and not facts.missed_mark and "directives" not in HANDLERS.get(turn.event.kind, ())
    if unseen or facts.dropped_mention:
        turn.store.note_missed(turn.event.window)
    elif facts.missed_mark:
        turn.store.clear_missed(turn.event.window)


_SETTLED = frozenset({TOOL_BATCH_FINISHED, PROMPT_SUBMITTED, INSTRUCTIONS_LOADED, SESSION_ENDED})
_SIGNED = frozenset({TOOL_BATCH_FINISHED, PROMPT_SUBMITTED, TOOL_CALLED})


def gather(turn: Turn, window: Window | None) -> Facts | None:
    """What the transcript must say first; None on the usual event, where nothing is open."""
    event = turn.event
    turn.asked = asked = _asked(turn, window)
    if window is None or not window.started or event.kind not in _SETTLED:
        return _look(turn, window, asked)
    is_open = window.claims or window.carried or window.suspect >= 0 or MENTIONED in window.flags
    if is_open or asked or event.is_of_another_client(window.client):
        return _look(turn, window, asked)
    unrecorded = event.kind == TOOL_BATCH_FINISHED and not turn.host.records_injections(event)
    return _look(turn, window, asked) if unrecorded else None


def _asked(turn: Turn, window: Window | None) -> Asked:
    event = turn.event
    asked = Asked(missed=event.kind in (TOOL_BATCH_FINISHED, PROMPT_SUBMITTED) and turn.store.missed(event.window))
    if window is not None and window.started and event.kind in _SIGNED:
        turn.host.look_for_signs(event, turn.world, window.flags.get("scanned", 0), asked)
    return asked


def _look(turn: Turn, window: Window | None, asked: Asked) -> Facts:
    from handbill.flow.findings import look

    facts = look(turn.event, window, turn.host, turn.world, turn.now, asked)
    for _, name, how in facts.failures:
        turn.trace(f"our {name} hook {how}", "nothing to do: Handbill now delivers what it missed")
    if facts.missed:
        turn.event.tools = [*facts.missed, *turn.event.tools]
    return facts


def decide(turn: Turn, window: Window) -> Plan:
    plan = Plan()
    turn.world.add_roots(window.flags.get("roots", ()))
    for name in HANDLERS.get(turn.event.kind, ()):
        if applies(name, turn.event, window):
            plan.add(attempt(turn, name, handler(name), turn.event, window, turn.world, turn.config))
            if plan.verdict == BLOCK:
                break  # one reason at a time: the others have their turn when the call is made again
    plan.unfinished = plan.unfinished or turn.broken
    return plan


def _is_left_open(event: Event, window: Window) -> bool:
    """Somebody compacted by hand: which part stays is recorded only now. The next prompt brings what is missing."""
    by_hand = event.kind == SESSION_STARTED and event.source == "compact" and event.attended
    return by_hand and bool(window.flags.get("kept_unknown"))


def _logged(turn: Turn, answer: Answer) -> Answer:
    told = turn.plan.notes or turn.plan.seen or turn.plan.verdict
    if turn.traces or turn.outcomes or turn.opened or told or answer.claim is not None:
        from handbill.flow.log_lines import write

        write(turn, answer)
    return answer
