"""Pages whose references cannot be looked up at once: they wait for one event, then go without what they refer to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from box import Box
from handbill.handlers import expansion


@pytest.fixture
def box(make_box: Callable[..., Box]) -> Box:
    box = make_box()
    box.page("CMD_X")
    box.write("one/.directives/INVARIANTS.md", "Follow §CMD_X.\n")
    box.sim.start()
    return box


def fail(*_: Any) -> None:
    raise OSError(5, "Input/output error")


def test_an_error_that_passes(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(expansion, "pages_named", fail)
        box.sim.read("one/f.py")
    assert "Follow" not in box.seen() and "rules of one" in box.seen()
    box.idle(2)
    assert box.seen().count("Follow §CMD_X") == 1 and box.seen().count("Text of CMD_X") == 1


def test_an_error_that_stays(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expansion, "pages_named", fail)
    box.sim.read("one/f.py")
    box.idle(2)
    assert box.seen().count("Follow §CMD_X") == 1
    before = len(box.errors())
    box.idle(5)
    assert len(box.errors()) == before
