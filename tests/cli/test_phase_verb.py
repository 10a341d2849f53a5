"""`engine session phase`: order, proof, and what is printed."""

from __future__ import annotations

from pathlib import Path

import pytest
from session_command import PROOF, project, session, state

__all__ = ["project"]  # the fixture


def test_a_phase_as_it_is_printed(project: Path) -> None:
    text = session(project, "activate", "S", "work")
    assert text.startswith("Session activated: sessions/S (skill: work)\nPhase: 0: Setup\n")
    assert session(project, "phase", "S", "1: Work", stdin=PROOF) == (
        "Phase: 1: Work\nInvariants:\n  - §INV_X\nSteps:\n  1.1: §CMD_WORK\n  1.2: §CMD_NOWHERE\nGate: false\n"
    )
    assert session(project, "phase", "S", "2") == (
        "Phase: 2: End\nProof required to leave this phase:\n  - seen: was it seen\nGate: true\n"
    )


@pytest.mark.parametrize(
    "proof, words",
    [
        ("", "depth is missing; seen is missing"), ('{"depth": "x"}', "seen is missing"), ('{"depth": "", "seen": true}', "depth is empty"),
        ('{"depth": "x", "seen": "yes"}', 'seen must be a boolean, not "yes" (§CMD_LOOK)'), ("depth: x", "not JSON"), ("[]", "one JSON object"),
        ('{"depth": "x", "seen": true', "not JSON"),
    ],
)  # fmt: skip
def test_proof_that_does_not_hold(project: Path, proof: str, words: str) -> None:
    session(project, "activate", "S", "work")
    assert words in session(project, "phase", "S", "1", stdin=proof, expect=1)
    assert state(project)["currentPhase"] == "0: Setup"


@pytest.mark.parametrize("ending", ["", "\n", "\n\n", "\r\n"])
def test_proof_with_and_without_a_newline(project: Path, ending: str) -> None:
    session(project, "activate", "S", "work")
    session(project, "phase", "S", "1", stdin='{"depth": 0, "seen": false}' + ending)
    history = state(project)["phaseHistory"]
    assert isinstance(history, list) and history[0]["proof"] == {"depth": 0, "seen": False}


def test_skipping_is_never_silent(project: Path) -> None:
    session(project, "activate", "S", "work")
    refused = session(project, "phase", "S", "2", stdin=PROOF, expect=1)
    assert "skips 1" in refused and "--user-approved" in refused
    text = session(project, "phase", "S", "2", "--user-approved", "no work needed", stdin=PROOF)
    assert text.startswith("Phase: 2: End\nApproved by the user: no work needed\nSkipped: 1\n")
    back = session(project, "phase", "S", "0", "--user-approved", "once more")
    assert "Left without proof: seen" in back
    history = state(project)["phaseHistory"]
    assert isinstance(history, list) and [entry.get("approved") for entry in history] == [
        None,
        "no work needed",
        "once more",
    ]


def test_the_same_phase_again_changes_nothing(project: Path) -> None:
    session(project, "activate", "S", "work")
    before = state(project)
    assert session(project, "phase", "S", "0: Setup").startswith("Phase: 0: Setup\nSteps:")
    assert "nothing was recorded" in session(project, "phase", "S", "0", stdin=PROOF)
    assert state(project) == before


def test_undeclared_labels_are_refused_with_the_declared(project: Path) -> None:
    session(project, "activate", "S", "work")
    for label in ("0.1", "7: Mine", "WAITING: x"):
        text = session(project, "phase", "S", label, "--user-approved", "yes", stdin=PROOF, expect=1)
        assert "declared: 0: Setup, 1: Work, 2: End" in text


def test_an_approved_skip_still_needs_the_proof_of_the_phase(project: Path) -> None:
    session(project, "activate", "S", "work")
    assert "depth is missing" in session(project, "phase", "S", "2", "--user-approved", "no work needed", expect=1)
    assert state(project)["currentPhase"] == "0: Setup"
