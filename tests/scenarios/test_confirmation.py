"""`direct` with the mandatory wording: the agent says what it read and what it skipped, and that goes on record."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from simulated_project import SimulatedProject

Make = Callable[..., SimulatedProject]


@pytest.fixture
def box(make_project: Make) -> SimulatedProject:
    made = make_project()
    made.write(".context/CONSTITUTION.md", "MARK-CONSTITUTION\n")
    made.write(".context/TASKS.md", "MARK-TASKS\n")
    made.write(".handbill.toml", '[load_gate]\nmode = "direct"\nwording = "mandatory"\n')
    made.sim.start()
    return made


def said(box: SimulatedProject) -> object:
    return box.state()["flags"]["context"].get("reported")


@pytest.mark.parametrize(
    "answer, record",
    [
        ("Context Loaded\n- Read: CONSTITUTION.md\n- Skipped: TASKS.md, not needed\n\nNow to work.",
         {"read": "CONSTITUTION.md", "skipped": "TASKS.md, not needed"}),
        ("## Context Loaded\n\n**Read:**\n- CONSTITUTION.md\n- TASKS.md\n**Skipped:** none",
         {"read": "CONSTITUTION.md TASKS.md", "skipped": "none"}),
        ("Context Loaded", {}),
    ],
)  # fmt: skip
def test_the_block_goes_on_record(box: SimulatedProject, answer: str, record: dict[str, str]) -> None:
    first = box.idle().texts[0]
    assert first.rstrip().endswith("or none]") and "Context Loaded" in first
    box.sim.answer(answer)
    box.idle()
    assert said(box) == record and not box.state()["flags"]["context"]["awaits"]
    (load, *_) = json.loads(box.process("engine gate status --json").stdout)["data"]["gates"]
    assert load.get("said", {}) == record, "also as a person sees it"


def test_an_agent_that_says_nothing_is_asked_once(box: SimulatedProject) -> None:
    texts = [box.idle().texts for _ in range(14)]
    assert len([text for text in texts if text]) == 1
    assert said(box) is None and not box.state()["flags"]["context"]["awaits"], "nobody looks for it for ever"


def test_the_factual_wording_asks_for_no_block(make_project: Make) -> None:
    box = make_project()
    box.write(".context/TASKS.md", "MARK-TASKS\n")
    box.write(".handbill.toml", '[load_gate]\nmode = "direct"\n')
    box.sim.start()
    assert "Context Loaded" not in box.idle().texts[0]
    assert not box.state()["flags"].get("context", {}).get("awaits")
