from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from handbill.after_compaction import Remains
from handbill.core.content import Content
from handbill.core.event import SESSION_STARTED, Event
from handbill.core.plan import Plan
from makers import batch, window


def turn(event: Event, **values: object) -> Any:
    plan = Plan()
    plan.want("/a", "context")
    return SimpleNamespace(event=event, plan=plan, world=None, **{"host": None, "facts": None, **values})


@pytest.mark.parametrize("boundary, restored", [(-1, []), (5, ["/a"])])
def test_only_a_compaction_restores(boundary: int, restored: list[str]) -> None:
    content = Content()
    content.files, content.boundary = {"/a"}, boundary
    found = Remains(turn(batch(), facts=SimpleNamespace(content=content)), window(epoch=1))
    assert found.restored == restored


def test_what_the_client_may_restore_is_not_sent_at_once() -> None:
    content = Content()
    content.answered = {"t1"}
    host = SimpleNamespace(may_restore=lambda _event, _world, asked: asked, window_now=lambda _event, _world: content)
    before = window(carried={"/a": {"via": "tool_batch_finished", "batch": "t1", "parts": "k"}}, epoch=1)
    found = Remains(turn(Event(SESSION_STARTED, "s", source="compact"), host=host), before)
    assert found.gone == [] and "/a" in found.noted_in(before, 1.0).carried
