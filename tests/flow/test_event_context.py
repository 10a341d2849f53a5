"""One piece of an event's work fails or takes too long: the rest goes on."""

from __future__ import annotations

import _signal
import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest

from builders import DictWorld, config, window
from handbill.errors import CorruptState, TookTooLong
from handbill.flow import event_context
from handbill.flow.delivery import _sheets
from handbill.flow.event_context import attempt, limited
from handbill.plan import Plan
from handbill.store.disk import StateUnwritable
from handbill.text.document import Document, Refusal
from handbill.world import World


class Traced(SimpleNamespace):
    def __init__(self) -> None:
        super().__init__(traces=[], broken=False, world=World(()), seconds_left=0.1)

    def trace(self, what: str, hint: str = "") -> None:
        self.traces.append(what)


def forever() -> None:
    while True:
        try:
            sum(range(100))
        except Exception:  # noqa: BLE001  a handler that forgives everything cannot forgive this
            pass


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_context, "MOST_SECONDS", 0.05)


@pytest.mark.usefixtures("quick")
def test_work_that_does_not_end() -> None:
    before = _signal.getsignal(_signal.SIGPROF)
    with pytest.raises(TookTooLong):
        limited(forever, seconds=0.05)
    assert _signal.getsignal(_signal.SIGPROF) == before and _signal.getitimer(_signal.ITIMER_PROF)[0] == 0


@pytest.mark.usefixtures("quick")
def test_work_that_ends_leaves_no_timer() -> None:
    assert limited(lambda one, two: one + two, 1, 2, seconds=0.05) == 3
    sum(range(10_000_000))  # longer than the limit


def test_another_thread_cannot_be_interrupted() -> None:
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(limited(lambda: 5, seconds=0.05)))
    thread.start()
    thread.join()
    assert found == [5]


def failing(error: BaseException) -> Any:
    def work() -> None:
        raise error

    return work


@pytest.mark.parametrize(
    "work, words", [(failing(RecursionError("deep")), "RecursionError: deep"), (forever, "too long")]
)
@pytest.mark.usefixtures("quick")
def test_what_fails_is_traced(work: Any, words: str) -> None:
    about = Traced()
    assert attempt(about, "gate", work) is None  # type: ignore[arg-type]
    assert about.broken and words in about.traces[0] and about.traces[0].startswith("gate: ")


@pytest.mark.parametrize("error", [CorruptState("x"), StateUnwritable("x")])
def test_our_own_state_concerns_the_whole_event(error: Exception) -> None:
    with pytest.raises(type(error)):
        attempt(Traced(), "gate", failing(error))  # type: ignore[arg-type]


@pytest.mark.usefixtures("quick")
def test_each_piece_of_work_gets_half_of_the_time_that_is_left() -> None:
    about, started = Traced(), time.process_time()
    for _ in range(3):
        attempt(about, "gate", forever)  # type: ignore[arg-type]
    assert time.process_time() - started < 0.5 and about.seconds_left < 0.03 and len(about.traces) == 3


@pytest.mark.usefixtures("quick")
def test_what_was_done_by_then_is_kept() -> None:
    def work() -> None:
        try:
            forever()
        except TookTooLong as stop:
            stop.partial = "half"
            raise

    assert attempt(Traced(), "gate", work) == "half"  # type: ignore[arg-type]


@pytest.mark.parametrize("where, said", [("/p/large", "/p/large"), ("", "this")])
def test_what_took_the_time_is_named(where: str, said: str) -> None:
    stop, about = TookTooLong(), Traced()
    stop.where = where
    attempt(about, "gate", failing(stop))  # type: ignore[arg-type]
    assert about.traces == [f"gate: {said} took too long and was skipped"]


def test_what_succeeds_is_not_traced() -> None:
    about = Traced()
    assert attempt(about, "gate", lambda: 5) == 5 and not about.broken and not about.traces  # type: ignore[arg-type]


def test_reading_files_takes_from_the_time_of_the_event() -> None:
    class Slow(DictWorld):
        clock = 0.0

        def spent(self) -> float:
            return self.clock

        def load(self, path: str, *, permitted: bool = False) -> Document | Refusal:
            self.clock += 0.25
            return super().load(path)

    plan = Plan()
    plan.want("/p/a", "x")
    plan.want("/p/b", "x")
    world = Slow({"/p/a": "a", "/p/b": "b"})
    event = SimpleNamespace(plan=plan, world=world, settings=config(), seconds_left=0.75)
    assert list(_sheets(event, window())) == ["/p/a", "/p/b"] and event.seconds_left == 0.25  # type: ignore[arg-type]
