from __future__ import annotations

import pytest

from handbill.work.phases import Phase
from handbill.work.session import (  # fmt: skip  # fmt: skip
    Ending,
    Holder,
    Refused,
    State,
    activated,
    continued,
    ended,
    holder_of,
    label_of,
    move,
    moved,
    proof_so_far,
)
from handbill.work.skill_file import Skill

NOW = "2026-02-16T14:30:00Z"
ME = Holder("w1", 42, "s")


def skill(*labels: str) -> Skill:
    made = Skill()
    made.phases = [Phase(label, f"P{label}") for label in labels]
    made.values = {"nextSkills": ["test"]}
    return made


def state(current: str = "0", *labels: str) -> State:
    made, _ = activated(
        None, "x", skill(*(labels or ("0", "1", "2", "3.A", "3.B", "4"))), {"taskSummary": "t"}, ME, NOW
    )
    return {**made, "currentPhase": current}


def test_a_new_session() -> None:
    made, happened = activated(None, "x", skill("0", "1"), {"taskSummary": "t"}, ME, NOW)
    assert happened == "activated"
    assert (made["currentPhase"], made["lifecycle"], made["taskSummary"]) == ("0: P0", "active", "t")
    assert (made["sessionId"], made["pid"], made["pidStarted"]) == ("w1", 42, "s")
    assert label_of(made) == "0" and holder_of(made).pid == 42


def test_again_keeps_phase_and_merges_parameters() -> None:
    before = {**state("1: P1"), "note": 1}
    made, happened = activated(before, "x", skill("0", "1"), {"scope": "s"}, ME, NOW)
    assert happened == "re-activated"
    assert (made["currentPhase"], made["scope"], made["note"], made["taskSummary"]) == ("1: P1", "s", 1, "t")


def test_another_skill_keeps_the_history_of_the_first() -> None:
    before = {**state("1: P1"), "checkPassed": True, "mode": "audit", "note": 1}
    made, happened = activated(before, "y", skill("0"), {}, ME, NOW)
    assert happened == "switched"
    assert made["currentPhase"] == "0: P0" and made["note"] == 1
    assert "checkPassed" not in made and "mode" not in made, "a second skill does not inherit the first one's pass"
    assert made["skillHistory"][0]["skill"] == "x" and made["skillHistory"][0]["phaseHistory"]


def test_a_completed_skill_needs_approval() -> None:
    done = ended(state(), "idle", Ending("d"), NOW)
    with pytest.raises(Refused, match="completed"):
        activated(done, "x", skill("0"), {}, ME, NOW)
    made, _ = activated(done, "x", skill("0"), {}, ME, NOW, approved="again, please")
    assert made["approvals"][0]["reason"] == "again, please"


@pytest.mark.parametrize(
    "current, target, allowed",
    [
        ("0", "1", True), ("1", "2", True), ("2", "3.A", True), ("2", "3.B", True), ("3.A", "4", True), ("3.B", "4", True),
        ("0", "2", False), ("2", "4", False), ("3.A", "3.B", False), ("3.B", "3.A", False), ("2", "1", False), ("4", "0", False),
        ("0", "0", True),
    ],
)  # fmt: skip
def test_order(current: str, target: str, allowed: bool) -> None:
    before = state(current)
    if allowed:
        assert move(before, target, "").phase.label == target
    else:
        with pytest.raises(Refused):
            move(before, target, "")
    approved = move(before, target, "the user said so")
    assert approved.phase.label == target


@pytest.mark.parametrize("label", ["9", "3.D", "4.1A", "x", ""])
def test_an_invented_label_is_refused_whoever_approves(label: str) -> None:
    for approved in ("", "yes"):
        with pytest.raises(Refused) as refused:
            move(state("3.B"), label, approved)
        assert "0: P0, 1: P1, 2: P2, 3.A: P3.A" in refused.value.hint


def test_what_a_move_leaves_out_is_recorded() -> None:
    before = state("0: P0")
    step = move(before, "4", "skip it")
    after = moved(before, step, {"a": False}, ["b"], "skip it", NOW)
    assert after["phaseHistory"] == [
        {"phase": "0: P0", "ts": NOW, "proof": {"a": False}, "unproven": ["b"]},
        {"phase": "4: P4", "ts": NOW, "approved": "skip it", "skipped": ["1", "2", "3.A", "3.B"]},
    ]
    assert before["phaseHistory"] == [{"phase": "0: P0", "ts": NOW}], "values in, values out"


@pytest.mark.parametrize(
    "current, target, abandons, words",
    [
        ("2", "1", True, "goes back"),
        ("3.A", "3.B", True, "another branch"),
        ("3.B", "3.A", True, "another branch"),
        ("0", "2", False, "skips 1"),
    ],
)
def test_what_does_not_say_that_a_phase_is_done(current: str, target: str, abandons: bool, words: str) -> None:
    step = move(state(current), target, "yes")
    assert step.abandons is abandons
    with pytest.raises(Refused, match=words):
        move(state(current), target, "")


def test_ending() -> None:
    idle = ended(state("4"), "idle", Ending("what was done", ["a"], {"p": 1}), NOW)
    assert (idle["lifecycle"], idle["lastKnownPid"], idle["completedSkills"], idle["searchKeywords"]) == (
        "idle",
        42,
        ["x"],
        ["a"],
    )
    assert "pid" not in idle and "sessionId" not in idle
    assert proof_so_far(idle) == {"p": 1}, "the last phase's proof is kept, and not asked for again"
    done = ended(state("4"), "completed", Ending("d", unproven=["q"], approved="because"), NOW)
    assert (done["lifecycle"], done["completedAt"], done["approvals"][0]["reason"]) == ("completed", NOW, "because")
    assert done["phaseHistory"][-1]["unproven"] == ["q"]
    assert continued(idle, ME, NOW)["lifecycle"] == "active"
    with pytest.raises(Refused):
        continued(done, ME, NOW)


def test_a_state_of_the_reference_engine_can_be_read() -> None:
    old = {
        "pid": 7,
        "skill": "x",
        "lifecycle": "active",
        "currentPhase": "Phase 1: Setup",
        "phases": [{"label": "1", "name": "Setup"}],
    }
    assert label_of(old) == "1" and holder_of(old).pid == 7 and move(old, "1", "").same


def test_old_phases_in_a_state() -> None:
    old = {
        "skill": "x",
        "currentPhase": "1.2: B",
        "phases": [{"major": 1, "minor": 1, "name": "A"}, {"major": 1, "minor": 2, "name": "B"}],
    }
    assert move(old, "1.2", "").same
    with pytest.raises(Refused):
        move(old, "1.1", "")


def test_a_session_that_was_set_down_goes_on_in_its_phase() -> None:
    made, happened = activated({**state("1: P1"), "lifecycle": "dehydrated"}, "x", skill("0", "1"), {}, ME, NOW)
    assert (happened, made["currentPhase"]) == ("re-activated", "1: P1")
