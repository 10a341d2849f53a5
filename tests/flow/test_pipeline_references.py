"""Pages whose references cannot be looked up at once: they wait for one event, then go without what they refer to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from handbill.library import named_pages
from simulated_project import SimulatedProject


@pytest.fixture
def box(make_project: Callable[..., SimulatedProject]) -> SimulatedProject:
    box = make_project()
    box.page("CMD_X")
    box.write("one/.directives/INVARIANTS.md", "Follow §CMD_X.\n")
    box.sim.start()
    return box


def fail(*_: Any) -> None:
    raise OSError(5, "Input/output error")


def test_an_error_that_passes(box: SimulatedProject, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(named_pages, "pages_named", fail)
        box.sim.read("one/f.py")
    assert "Follow" not in box.seen() and "rules of one" in box.seen()
    box.idle(2)
    assert box.seen().count("Follow §CMD_X") == 1 and box.seen().count("Text of CMD_X") == 1


def test_an_error_that_stays(box: SimulatedProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(named_pages, "pages_named", fail)
    box.sim.read("one/f.py")
    box.idle(2)
    assert box.seen().count("Follow §CMD_X") == 1
    before = len(box.errors())
    box.idle(5)
    assert len(box.errors()) == before
