"""What the transcript must say before a claim is lost or a suspicion is gone."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from handbill import evidence
from handbill.core import epochs
from handbill.core.content import Content
from handbill.core.event import PROMPT_SUBMITTED, Event
from makers import DictWorld, window


@pytest.mark.parametrize("now, passed", [(11.0, set()), (13.0, {1})])
def test_a_claim_is_lost_only_after_the_client_had_time_to_write(now: float, passed: set[int]) -> None:
    content = Content()
    content.prompts, content.answered = {"p2": 100}, {"p2"}
    claim = {"id": 1, "batch": "prompt_submitted::p1", "offset": 50, "at": 10.0, "items": []}
    assert evidence.proof_in(content, window(claims=[claim]), now, records=True).passed == passed


@pytest.mark.parametrize("mark, passed", [("p1", False), ("p0", True)])
def test_an_event_does_not_pass_a_suspicion_by_its_own_mark(mark: str, passed: bool) -> None:
    suspected = window(suspect=0, flags={"suspect_mark": mark}, transcript="/t")
    event = Event(PROMPT_SUBMITTED, "s", project="/p", cwd="/p", transcript="/t", raw={"prompt_id": "p1"})
    host = SimpleNamespace(window_now=lambda *_, **__: Content())
    asked = SimpleNamespace(compacted=False, moved=False, missed=False)
    facts = evidence.Facts(epochs.GO_ON)
    world = DictWorld({"/t": '{"promptId":"p0"}\n{"promptId":"p1"}\n'})
    evidence._look_back(facts, event, suspected, host, world, asked)  # type: ignore[arg-type]
    assert facts.passed_suspicion is passed
