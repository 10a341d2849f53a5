"""Skills that a rewind undoes: the skill before them is active again."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from handbill.hook import respond
from simulated_project import SimulatedProject

PHASES = {
    skill: {"label": "0", "name": "Setup", "steps": [f"§CMD_{skill.upper()}"]} for skill in ("ship", "other", "third")
}


@pytest.fixture(params=[1, 4], ids=["one hook", "four lanes"])
def box(make_project: Callable[..., SimulatedProject], request: pytest.FixtureRequest) -> SimulatedProject:
    box = make_project()
    lanes = [["--lane", f"{number}/{request.param}"] for number in range(1, request.param + 1)]

    def hooks(name: str, raw: dict[str, Any]) -> list[str]:
        each = lanes if name == "UserPromptExpansion" else lanes[:1]
        return [respond(json.dumps(raw).encode(), ["claude-code", *lane], box.environ) for lane in each]

    box.hooks = hooks
    for skill, phase in PHASES.items():
        box.skill(skill, phase)
    box.sim.start()
    box.sim.prompt("go")
    return box


def work(box: SimulatedProject) -> str:
    return str(box.state()["work"].get("skill", ""))


def after_a_rewind(box: SimulatedProject, skill: str) -> str:
    typed = box.sim.skill(skill)
    box.sim.answer("begun")
    box.sim.rewind(typed_prompt(box, typed.event["prompt_id"]))
    box.sim.prompt("again")
    box.idle()
    return work(box)


class typed_prompt:
    """The prompt in which a skill was typed."""

    def __init__(self, box: SimulatedProject, prompt: str) -> None:
        self.event = {"prompt_id": prompt}


@pytest.mark.parametrize("again", ["ship", "other", "third"])
def test_a_skill_that_was_typed_again_and_undone(box: SimulatedProject, again: str) -> None:
    box.sim.skill("ship")
    box.sim.invoke("other")
    box.idle()
    assert work(box) == "other"
    assert after_a_rewind(box, again) == "other"


def test_the_pages_of_the_former_skill_return_after_a_compaction(box: SimulatedProject) -> None:
    box.sim.skill("ship")
    box.sim.invoke("other")
    box.idle(2)
    after_a_rewind(box, "ship")
    box.sim.compact()
    box.idle()
    assert "Text of CMD_OTHER" in box.seen() and "Text of CMD_SHIP" not in box.seen()


def test_a_helper_in_between_is_not_what_was_at_work(box: SimulatedProject) -> None:
    box.skill("helper", text="Without phases.")
    box.sim.skill("ship")
    box.sim.answer("ok")
    box.sim.invoke("helper")
    box.idle()
    assert after_a_rewind(box, "other") == "ship"
    box.sim.compact()
    box.idle(2)
    assert box.seen().count("Text of CMD_SHIP") == 1


def test_the_first_skill_is_undone(box: SimulatedProject) -> None:
    assert after_a_rewind(box, "ship") == ""


def test_a_session_outlives_the_message_that_activated_it(box: SimulatedProject) -> None:
    box.sim.skill("ship")
    prompt = box.sim.prompt("activate it")
    box.shell("engine session activate S ship")
    box.sim.rewind(prompt)
    box.sim.prompt("again")
    box.idle()
    assert work(box) == "ship" and set(box.state()["work"]) == {"skill", "phase", "directives", "session"}


def test_a_compaction_hides_where_the_skill_began(box: SimulatedProject) -> None:
    box.sim.skill("ship")
    box.idle()
    box.sim.compact()
    prompt = box.sim.prompt("more")
    box.idle()
    box.sim.rewind(prompt)
    box.sim.prompt("again")
    box.idle()
    assert work(box) == "ship"
