"""What each gate asks of a window, and what the agent did."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from builders import window
from handbill.reports.gates import Status, statuses
from simulated_project import SimulatedProject

Make = Callable[..., SimulatedProject]


@pytest.fixture
def box(make_project: Make) -> SimulatedProject:
    made = make_project()
    made.sim.held_tools = ""
    return made


def of(box: SimulatedProject, name: str, *, every: bool = True) -> Status:
    project = box.opened()
    found = project.store.read((box.sim.session, "main")) or window()
    return {gate.gate: gate for gate in statuses(found, project, lambda: every)}[name]


def states(gate: Status) -> list[str]:
    return [one.state for one in gate.files]


def test_a_window_in_which_no_gate_has_anything_to_do(box: SimulatedProject) -> None:
    box.sim.start()
    assert of(box, "load").plain() == {
        "gate": "load", "setting": "deliver", "state": "nothing to do: no context files in .context", "files": [],
    }  # fmt: skip
    assert of(box, "compaction").plain() == {
        "gate": "compaction", "setting": "regular (no other role fits)", "state": "does nothing in a regular session", "files": [],
        "role": "regular",
    }  # fmt: skip
    assert of(box, "resume").plain() == {
        "gate": "resume", "setting": "on", "state": "nothing was resumed here", "files": [],
    }  # fmt: skip


@pytest.mark.parametrize(
    "settings, state",
    [
        ("", "1 file due with the next prompt or session start"),
        ('[load_gate]\nmode = "off"\n', "the gate is off"),
        ('[load_gate]\nfolder = "docs"\n', "nothing to do: no context files in docs"),
    ],
)
def test_the_context_gate_before_it_opens(box: SimulatedProject, settings: str, state: str) -> None:
    box.write(".context/TASKS.md", "x\n")
    box.write(".handbill.toml", settings)
    assert of(box, "load").state == state


def test_the_context_gate_while_files_are_read(box: SimulatedProject) -> None:
    box.write(".handbill.toml", '[load_gate]\nmode = "require"\ndenials = 1\n')
    box.write(".context/TASKS.md", "x\n")
    box.write(".context/DECISIONS.md", "x\n")
    box.sim.start()
    assert (of(box, "load").state, of(box, "load").setting) == ("2 of 2 files not read yet", "require")
    box.sim.read(".context/TASKS.md")
    assert states(of(box, "load")) == ["read", "not read"]
    box.sim.read(".context/DECISIONS.md")
    assert of(box, "load").state == "2 of 2 files in the window or read"


def test_the_context_gate_after_it_let_go(box: SimulatedProject) -> None:
    box.write(".handbill.toml", '[load_gate]\nmode = "require"\ndenials = 1\n')
    box.write(".context/TASKS.md", "x\n")
    box.sim.start()
    box.sim.batch(("Bash", {"command": "x"}))
    assert of(box, "load").state == "no longer holds calls, after 1 held message; 1 of 1 file not read"


LIMIT = "; only Write, Agent and Task calls can be held until `engine install` is run"


@pytest.mark.parametrize("every, more", [(True, ""), (False, LIMIT)])
def test_a_role_before_a_compaction(box: SimulatedProject, every: bool, more: str) -> None:
    box.write(".handbill.toml", '[roles.lead]\nskills = ["lead"]\ntargets = ["lead.md"]\nread = ["board.md"]\n')
    box.write("lead.md", "x\n")
    box.write("board.md", "x\n")
    box.skill("lead")
    box.sim.start()
    box.sim.skill("lead")
    gate = of(box, "compaction", every=every)
    assert gate.role == "lead" and gate.setting == "lead (skill lead)"
    assert gate.state == f"2 files needed again after a compaction{more}"
    assert states(gate) == ["delivered after a compaction", "read by the agent after a compaction"]


def test_a_role_without_files(box: SimulatedProject) -> None:
    box.write(".handbill.toml", '[roles.lead]\nskills = ["lead"]\ntargets = ["gone.md"]\n')
    box.skill("lead")
    box.sim.start()
    box.sim.skill("lead")
    assert of(box, "compaction").state == "none of its files exists: gone.md"


def test_how_calls_are_held_is_asked_only_where_it_matters(box: SimulatedProject) -> None:
    """The answer takes reading the standards and the context."""
    box.sim.start()
    project = box.opened()
    found = project.store.read((box.sim.session, "main"))
    assert found is not None

    def ask() -> bool:
        raise AssertionError("the session is a regular one")

    assert len(statuses(found, project, ask)) == 4


def test_the_gate_after_a_compaction(box: SimulatedProject) -> None:
    box.write(".handbill.toml", '[roles.lead]\nskills = ["lead"]\ntargets = ["lead.md"]\nread = ["board.md"]\n')
    box.write("lead.md", "x\n")
    box.write("board.md", "x\n")
    box.skill("lead")
    box.sim.start()
    box.sim.skill("lead")
    box.idle()
    box.sim.compact()
    gate = of(box, "compaction")
    assert (gate.state, states(gate)) == ("holds the next message", ["in the window", "not read"])
    box.sim.batch(("Bash", {"command": "make"}))
    box.sim.read("board.md")
    gate = of(box, "compaction")
    assert gate.state.startswith("the agent got the list ") and states(gate) == ["in the window", "read"]


def test_a_resume_that_failed(box: SimulatedProject) -> None:
    box.write("02-projects/p/01-planning/_resume.md", "no head")
    box.sim.start()
    box.sim.read("02-projects/p/a.md", "02-projects/p/b.md")
    box.idle()
    box.sim.compact()
    gate = of(box, "resume")
    assert gate.state.startswith("not resumed: ") and "does not begin" in gate.state
    assert gate.resume_mode is not None and gate.plain()["resume_mode"]["active"] is False


def test_a_project_that_was_resumed(box: SimulatedProject) -> None:
    mode = {"active": True, "project_id": "p", "confidence": "high", "problems": ["x does not exist"]}
    found = statuses(window(flags={"resume_mode": mode}), box.opened(), lambda: True)[2]
    assert found.state == "resumed p (confidence high)"
    assert [(one.file, one.state) for one in found.files] == [("x does not exist", "not delivered")]


def test_what_the_agent_reported(box: SimulatedProject) -> None:
    state = {
        "epoch": 0,
        "files": [],
        "read": [],
        "tried": [],
        "mode": "direct",
        "state": "done",
        "reported": {"read": "all"},
    }
    found = statuses(window(flags={"context": state}), box.opened(), lambda: True)[0]
    assert found.said == found.plain()["said"] == {"read": "all"}
