"""Category 7: restart and resume."""

from __future__ import annotations

from collections.abc import Callable

from implement_session import SESSION, activate, move, with_implement

from simulated_project import SimulatedProject


def worked(box: SimulatedProject) -> SimulatedProject:
    with_implement(box)
    box.sim.start()
    box.sim.skill("implement")
    activate(box)
    for label in ("1", "2", "3.A"):
        move(box, label)
    return box


def test_a_restart_seeds_its_own_window_and_leaves_the_others(make_project: Callable[..., SimulatedProject]) -> None:
    box = worked(make_project())
    before = box.state()["files"]
    first = box.sim.session
    box.sim.session = "second"
    box.environ["CLAUDE_PID"] = "2"
    box.sim.start()
    assert len(box.state()["files"]) == 6
    box.sim.session = first
    assert box.state()["files"] == before


def test_continue_brings_the_phase_in_hand_and_nothing_twice(make_project: Callable[..., SimulatedProject]) -> None:
    box = worked(make_project())
    box.sim.session = "second"
    box.environ["CLAUDE_PID"] = "2"
    box.sim.views.clear()
    box.sim.start()
    box.sim.skill("implement")  # the user types it again: phase 0 is what the skill begins with
    box.shell(f"engine session continue {SESSION}")
    assert box.state()["work"]["phase"] == "3.A"
    box.deliveries.assert_no_duplicates()
    mine = [line for line in box.deliveries.of("claim-deliver") if line["window"] == "second.main"]
    assert sum(line["file"].endswith("CMD_BUILD.md") for line in mine) == 1
    assert not any(line["file"].endswith("SKILL.md") for line in mine)
    assert set(box.sim.copies().values()) == {1}


def test_resume_of_the_same_window_delivers_nothing_again(make_project: Callable[..., SimulatedProject]) -> None:
    box = worked(make_project())
    box.sim.read("one/f.py")
    before = box.sim.copies()
    box.environ["CLAUDE_PID"] = "2"
    box.sim.start("resume")
    box.sim.prompt("go on")
    box.shell(f"engine session continue {SESSION}")
    box.sim.read("one/f.py")
    assert box.sim.copies() == before
