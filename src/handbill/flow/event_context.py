"""The data of one event while it is handled, and its answer."""

from __future__ import annotations

from handbill.errors import HandbillError, TookTooLong
from handbill.event import Inbox
from handbill.plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
    from collections.abc import Callable
    from types import FrameType, ModuleType
    from typing import Any, TypeVar

    from handbill.event import Event
    from handbill.flow.findings import Findings
    from handbill.ledger.claim import Claim
    from handbill.ledger.receipts import Outcome
    from handbill.settings import Settings
    from handbill.store.api import Store
    from handbill.world import World

    T = TypeVar("T")
else:
    import _signal  # `signal` would also build enums from these names, which takes long to load

# Processor seconds for all work of one event that depends on a project's files; 0: no limit. Each
# piece of work may take half of the remaining time, so that one cannot use up the time of the
# others.
MOST_SECONDS = 0.9
_LEAST_SECONDS, _AGAIN_SECONDS = 0.02, 0.1


def attempt(context: EventContext, name: str, work: Callable[..., T], *arguments: Any) -> T | None:
    """Return the result of `work`. If it fails, the event continues without it.

    A faulty gate cannot block the standards.
    """
    started = context.world.spent()
    try:
        return limited(work, *arguments, seconds=context.seconds_left / 2)
    except HandbillError:
        raise  # it concerns our own state, and therefore the whole event
    except TookTooLong as stop:
        what = stop.where or "this"
        context.trace(
            f"{name}: {what} took too long and was skipped", "look for circular links and very large settings"
        )
        context.broken = True
        return stop.partial  # type: ignore[no-any-return]
    except Exception as error:
        from handbill.trace import describe

        context.trace(f"{name}: {describe(error)}", "nothing to do unless it recurs: the next event tries again")
    finally:
        context.seconds_left -= context.world.spent() - started
    context.broken = True
    return None


def limited(work: Callable[..., T], *arguments: Any, seconds: float) -> T:
    """Return the result of `work`, or raise TookTooLong after `seconds`.

    Whatever a page or a setting contains, other deliveries keep their time.
    """
    try:
        before = _signal.signal(_signal.SIGPROF, _stop) if MOST_SECONDS else None
    except ValueError:  # only the first thread of a process can be interrupted; a hook has no other
        before = None
    if before is None:
        return work(*arguments)
    # the timer repeats, because Python drops an exception that is raised in a finalizer
    _signal.setitimer(_signal.ITIMER_PROF, max(seconds, _LEAST_SECONDS), _AGAIN_SECONDS)
    try:
        return work(*arguments)
    finally:
        _signal.setitimer(_signal.ITIMER_PROF, 0)
        _signal.signal(_signal.SIGPROF, before)


def is_over(context: EventContext, started: float) -> bool:
    """Whether the work that began at `started` has used up its time.

    Work whose partial result is worth keeping checks this limit itself and is not interrupted.
    """
    return bool(MOST_SECONDS) and context.world.spent() - started > max(context.seconds_left, _LEAST_SECONDS)


def _stop(number: int, frame: FrameType | None) -> None:
    raise TookTooLong


class Asked:
    """Why the transcript must be read: a failed hook left a mark, or its newest part shows a
    sign."""

    def __init__(self, *, missed: bool = False) -> None:
        self.missed = missed  # a hook of ours failed
        self.compacted = False  # a compaction is recorded, which the ledger may already include
        self.failed = False  # the host reports that one of our hooks failed
        self.moved = False  # the conversation may have gone back to an earlier point
        # a prompt, or the end of a batch, may have arrived without its event
        self.unannounced = False
        # a queued prompt: its turn has not begun, and the user may take it back
        self.queued = False
        self.scanned = 0  # the byte up to which the transcript was searched; 0: not worth noting

    def __bool__(self) -> bool:
        return self.missed or self.compacted or self.failed or self.moved or self.unannounced or self.scanned > 0


class Answer:
    def __init__(self) -> None:
        self.text = ""
        self.number = 0  # number of the claim that granted the text
        self.message = ""
        self.plan: Plan | None = None
        self.claim: Claim | None = None  # None: no files were claimed


class EventContext:
    """One event while it is handled."""

    def __init__(self, event: Event, host: ModuleType, store: Store, world: World, settings: Settings) -> None:
        self.event = event
        self.host = host
        self.inbox = Inbox()
        self.store = store
        self.world = world
        self.settings = settings
        self.now = world.now()
        self.seconds_left = MOST_SECONDS
        self.plan = Plan()
        self.asked = Asked()
        self.facts: Findings | None = None
        self.broken = False  # a handler failed, and the others continued
        self.has_session = False  # this window works on a session
        self.opened = ""  # new-window or new-epoch: the log counts copies per window by it
        self.outcomes: list[Outcome] = []
        self.traces: list[dict[str, Any]] = []

    def trace(self, what: str, hint: str = "") -> None:
        from handbill.trace import trace_line

        window = ".".join(self.event.window)
        self.traces.append(trace_line(self.now, self.event.kind, what, hint, window=window))


def logged(context: EventContext, answer: Answer) -> Answer:
    told = context.plan.notes or context.plan.seen or context.plan.verdicts
    if context.traces or context.outcomes or context.opened or told or answer.claim is not None:
        from handbill.flow.log_lines import write

        write(context, answer)
    return answer
