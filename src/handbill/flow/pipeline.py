"""The only module that knows the order of the steps: event, window, plan, claim, output.

`run` is called once per event. It reads the window without a lock and derives from that value what
the transcript proves and what the handlers want. Only if something must change, the same steps run
on the newest window inside one locked update.
"""

from __future__ import annotations

from handbill import gates
from handbill.errors import CorruptState
from handbill.event import (
    COMPACTING,
    INSTRUCTIONS_LOADED,
    LOADS_SKILL,
    PROMPT_SUBMITTED,
    SESSION_ENDED,
    SESSION_STARTED,
    SKILL_EXPANDED,
    STOPPING,
    TOOL_BATCH_FINISHED,
    TOOL_CALLED,
    Inbox,
)  # fmt: skip
from handbill.flow.event_context import Answer, Asked, EventContext, attempt, logged
from handbill.handlers import handler, handlers_for
from handbill.ledger.window import DOUBTFUL, JOINED, MENTIONED, Window
from handbill.paths import under
from handbill.plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from handbill.event import Event
    from handbill.flow.findings import Findings
    from handbill.settings import Settings
    from handbill.store.api import Store
    from handbill.world import World

_ADDED = "added"  # directories that the transcript names
_READ_AGAIN = 1 << 20  # bytes


def run(event: Event, host: ModuleType, store: Store, world: World, settings: Settings) -> Answer:
    context = EventContext(event, host, store, world, settings)
    try:
        return _run(context)
    except CorruptState as error:
        context.trace(str(error), "nothing to do: Handbill moved it aside and rebuilds the ledger")
        store.put_aside(event.window)
        return _run(context)


def _run(context: EventContext) -> Answer:
    event, store = context.event, context.store
    event.terminal, context.inbox = "", Inbox()  # this may be the second try, with a rebuilt ledger
    context.plan, context.broken = Plan(), False
    window = _own_window(context)
    if event.kind in (TOOL_CALLED, STOPPING):
        return _gated(context, window)
    context.facts = gather(context, window)
    if context.asked.queued:
        return Answer()  # the prompt waits for the running turn, whose next event delivers
    current = window
    if context.facts is not None:
        from handbill.flow.delivery import advance, warn_if_unrecorded

        current = advance(context, window)
        warn_if_unrecorded(context, window, current)
    if _is_quiet(context, current):
        return logged(context, Answer())
    channel = event.kind in context.host.CHANNELS
    if event.tools or event.kind == SKILL_EXPANDED:
        _complete_calls(context, current)
    if current is not None:
        context.has_session = bool(current.work.get("session"))
        _read_inbox(context, current, channel)
        context.plan.add(decide(context, current))
        context.plan.say_warnings()
        settled = window is not None and bool(window.from_last_epoch) and not current.from_last_epoch
        if settled or (context.facts is not None and context.facts.whole_content):
            from handbill.flow.recovered import compare_found_files

            compare_found_files(context, current)
            context.plan.unfinished = context.plan.unfinished or context.broken
    if current is not None and (event.terminal or JOINED in current.flags):
        from handbill.flow.terminals import note_own_rows

        note_own_rows(context, current)
    changed = current is not window
    pending = current is not None and bool(current.pending) and channel
    answer = Answer()
    if changed or context.plan.changes or pending:
        from handbill.flow.delivery import deliver

        answer = deliver(context, current, context.host.CAP if channel else 0)
    if context.facts is not None and context.facts.has_marks:
        from handbill.flow.quiet_events import settle_marks

        settle_marks(context, context.facts)
    if (context.plan.unfinished or context.broken) and store.note_missed(event.window) and context.broken:
        answer.message = answer.message or "Handbill: part of a hook failed. Run `engine doctor` for details."
    if context.plan.settled or context.plan.save_notes:
        from handbill.flow.quiet_events import write_down

        write_down(context)
    return logged(context, answer)


def _is_quiet(context: EventContext, current: Window | None) -> bool:
    """Whether nothing can be delivered now; if so, note what a later event must settle."""
    if context.facts is not None and context.facts.silent:
        from handbill.flow.quiet_events import remember

        remember(context)
        return True
    event = context.event
    by_hand = event.kind == SESSION_STARTED and event.source == "compact" and event.attended
    if by_hand and current is not None and current.flags.get("kept_unknown"):
        # After a manual compaction, it is too early to see the kept part: the next prompt delivers.
        from handbill.flow.quiet_events import keep

        keep(context)
        return True
    return False


def _own_window(context: EventContext) -> Window | None:
    event = context.event
    window = context.store.read(event.window)
    known = window is not None and window.client in (0, event.client) and event.source != "resume"
    begins = window is None and event.source in ("startup", "clear")  # no other client has it
    if known or begins or event.agent_id:
        return window
    from handbill.flow.terminals import own_window

    return own_window(context, window)


def _read_inbox(context: EventContext, current: Window, channel: bool) -> None:
    """Read messages of commands, and the facts that a rebuilt window can only get from the host."""
    event = context.event
    for notice in context.store.notices(event.session_id) if channel else ():
        (context.inbox.tasks if notice["verb"] == "task" else context.inbox.notices).append(notice)
    if event.agent_id and context.inbox.tasks:
        context.inbox.call = context.host.call_behind(event, context.world)
    rebuilt = context.facts is not None and context.facts.whole_content and context.opened != ""
    if rebuilt or any(notice["verb"] in ("activate", "continue") for notice in context.inbox.notices):
        context.inbox.skills = _skills_loaded(context, current)  # including the host's own
    if rebuilt:
        from handbill.flow.recovered import found_again

        found_again(context, current)
    for gate in gates.ALL:
        since = gate.state_of(current).get("awaits")
        if since:
            context.inbox.notes["answers"] = context.host.answers(event, context.world, since)
    is_new = event.source or context.asked.missed or gates.is_new_epoch(current)
    if is_new or event.kind == COMPACTING:
        from handbill.flow.inbox import recall

        recall(context, current)


def _complete_calls(context: EventContext, window: Window | None) -> None:
    """Add files that a command's body mentions, and directories that the user added."""
    event = context.event
    if event.kind == SKILL_EXPANDED or any(tool.does == LOADS_SKILL for tool in event.tools):
        ask = context.host.mentions_in_commands
        event.tools += attempt(context, "mentions in a command", ask, event, context.world, context.world.home) or []
    known = (context.world.project, context.world.user_library, *context.settings.allowed)
    paths = [path for tool in event.tools for path in (*tool.files, *tool.paths)]
    if not all(any(under(path, root) for root in known) for path in paths):
        before = window.flags.get(_ADDED) if window is not None else None
        ask = context.host.added_directories
        found = attempt(context, "added directories", ask, event, context.world, context.world.home, before)
        context.inbox.added, after = found or ([], {"to": 0})
        if after["to"] - (before["to"] if before else 0) > _READ_AGAIN:
            # otherwise, reading it again is as quick as storing the result
            context.plan.flags[_ADDED] = after


def _skills_loaded(context: EventContext, window: Window) -> list[str]:
    facts = context.facts
    known = facts.content if facts is not None and facts.whole_content else None
    content = known or context.host.window_now(context.event, context.world, window=window)
    return content.skills if content is not None else []


def _gated(context: EventContext, window: Window | None) -> Answer:
    """Decide on a tool call or a stop: such an event can be held, but carries no other context."""
    event = context.event
    in_doubt = window is not None and _is_in_doubt(event, window)
    window = _up_to_date(context, window)
    known = window is not None and window.started and window.maybe_compacted_from < 0
    context.has_session = window is not None and bool(window.work.get("session"))
    _complete_calls(context, window)
    noted = context.plan.flags
    context.plan = decide(context, window if known and window is not None else Window(*event.window))
    context.plan.flags.update(noted)
    if not known:
        context.plan.let_go()  # the window's content is not known, so no call is held
    answer = Answer()
    answer.plan = context.plan
    for notice in (*context.plan.outgoing, *context.plan.warnings(event.window, context.now)):
        context.store.post(event.session_id, notice)
    if context.plan.changes and known:
        from handbill.flow.delivery import deliver, held_elsewhere

        plan = context.plan
        answer = deliver(context, window, context.host.GATE_CAP if plan.blocks and plan.wants else 0)
        elsewhere = plan.hold_anyway and held_elsewhere(plan, answer)
        if plan.wants and not answer.text and not (elsewhere or plan.needs_no_pages):
            context.plan.let_go()  # the pages are there under another name, or gone
        if context.opened or in_doubt or (context.facts is not None and context.facts.must_be_followed):
            context.store.note_missed(event.window)  # the next batch checks the rest and the files
    else:
        context.opened, context.outcomes = "", []  # not logged: the next batch finds and logs them
    return logged(context, answer)


def _up_to_date(context: EventContext, window: Window | None) -> Window | None:
    """Return the window after a rewind or compaction since the last event, once it is recorded."""
    if window is None or not window.started:
        return window
    asked = _asked(context, window)
    lost = bool(window.claims) or asked.failed  # a delivery may not have arrived
    if not asked.moved and not asked.compacted and not lost and not _is_in_doubt(context.event, window):
        return window
    from handbill.flow.delivery import advance
    from handbill.flow.late_record import as_it_grows

    for _ in as_it_grows(context.event.transcript, context.world):
        context.facts = _look(context, window, asked)
        if asked.failed or asked.unannounced:
            context.facts.scanned = 0  # the next batch sees those signs again and catches up
        current = advance(context, window)
        if current is None or not _is_in_doubt(context.event, current):
            return current
    return window


def _is_in_doubt(event: Event, window: Window) -> bool:
    """Whether new records must first show what a compaction left, or what the host restores."""
    if event.kind == TOOL_CALLED:  # the rules for its action may be gone
        return window.maybe_compacted_from >= 0 or bool(window.from_last_epoch)
    return any(record["via"] == DOUBTFUL for record in window.from_last_epoch.values())


_SETTLED = frozenset({TOOL_BATCH_FINISHED, PROMPT_SUBMITTED, INSTRUCTIONS_LOADED, SESSION_ENDED})
_SIGNED = frozenset({TOOL_BATCH_FINISHED, PROMPT_SUBMITTED, TOOL_CALLED})


def gather(context: EventContext, window: Window | None) -> Findings | None:
    """Return the facts that the transcript must supply; None if nothing is open, as usual."""
    event = context.event
    context.asked = asked = _asked(context, window)
    if window is None or not window.started or event.kind not in _SETTLED:
        return _look(context, window, asked)
    is_open = window.claims or window.from_last_epoch or window.maybe_compacted_from >= 0 or MENTIONED in window.flags
    if is_open or asked or event.is_of_another_client(window.client):
        return _look(context, window, asked)
    unrecorded = event.kind == TOOL_BATCH_FINISHED and not context.host.records_injections(event)
    return _look(context, window, asked) if unrecorded else None


def _asked(context: EventContext, window: Window | None) -> Asked:
    event = context.event
    asked = Asked(missed=event.kind in (TOOL_BATCH_FINISHED, PROMPT_SUBMITTED) and context.store.missed(event.window))
    if window is not None and window.started and event.kind in _SIGNED:
        context.host.look_for_signs(event, context.world, window.flags.get("scanned", 0), asked)
    return asked


def _look(context: EventContext, window: Window | None, asked: Asked) -> Findings:
    from handbill.flow.findings import look

    facts = look(context.event, window, context.host, context.world, context.now, asked)
    for _, name, how in facts.failures:
        context.trace(f"Handbill's {name} hook {how}", "nothing to do: Handbill now delivers what it missed")
    if facts.missed:
        context.event.tools = [*facts.missed, *context.event.tools]
    return facts


def decide(context: EventContext, window: Window) -> Plan:
    plan = Plan()
    context.world.add_roots(window.flags.get("roots", ()))
    for name in handlers_for(context.event, context.inbox, window):
        arguments = (context.event, context.inbox, window, context.world, context.settings)
        found = attempt(context, name, handler(name), *arguments)
        plan.add(found)
        plan.needs_no_pages = plan.needs_no_pages or (found is not None and found.blocks and not found.wants)
        if plan.blocks:
            break  # one reason at a time: the other handlers run when the call is repeated
    plan.unfinished = plan.unfinished or context.broken
    return plan
