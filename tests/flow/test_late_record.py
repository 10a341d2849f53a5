"""Half a second of looks at a file that grows."""

from __future__ import annotations

import pytest

from builders import DictWorld
from handbill.event import Event
from handbill.flow.event_context import Asked
from handbill.flow.findings import look
from handbill.flow.late_record import as_it_grows
from looking import Host, batch, start


@pytest.mark.parametrize(
    "sizes, looks",
    [([5] * 20, 1), ([5, 5, 6, 6, 9] + [9] * 15, 3), ([5] * 19 + [6], 2), ([5, 3] + [3] * 18, 2), ([0] * 20, 1)],
)
def test_looks_only_when_there_is_something_new(monkeypatch: pytest.MonkeyPatch, sizes: list[int], looks: int) -> None:
    world, left = DictWorld({}), list(sizes)
    monkeypatch.setattr(world, "size", lambda path: left.pop(0))
    assert sum(1 for _ in as_it_grows("/t", world)) == looks  # type: ignore[arg-type]
    assert left == [] and world.paused == pytest.approx(0.5)


def test_does_not_wait_for_a_file_that_does_not_exist() -> None:
    world = DictWorld({})
    assert sum(1 for _ in as_it_grows("/t", world)) == 1  # type: ignore[arg-type]
    assert world.paused == 0


def test_does_not_wait_before_the_first_look() -> None:
    world = DictWorld({"/t": "x"})
    next(as_it_grows("/t", world))  # type: ignore[call-overload]
    assert world.paused == 0


@pytest.mark.parametrize(
    "event, files, paused",
    [(batch(), {"/t": "x"}, 0.5), (batch(), {}, 0.0), (start("resume"), {"/t": "x"}, 0.0), (start("resume"), {}, 0.0)],
)
def test_only_a_batch_waits_and_only_for_a_record_that_is_there(
    event: Event, files: dict[str, str], paused: float
) -> None:
    world = DictWorld(files)
    look(event, None, Host(None), world, 100.0, Asked())  # type: ignore[arg-type]
    assert world.paused == pytest.approx(paused)
