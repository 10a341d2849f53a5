"""A client that is killed while it compacts: the compaction never took place, and what follows is judged as usual."""

from __future__ import annotations

from collections.abc import Callable

from simulated_project import SimulatedProject, names


def test_what_is_lost_after_the_resume_is_noticed(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    box.sim.prompt("go")
    box.sim.read("two/f.py")
    box.sim._boundary = lambda path: None  # type: ignore[method-assign]
    box.sim.compact()
    box.environ["CLAUDE_PID"] = "4194302"
    box.sim.start("resume")
    box.drop_next()
    box.sim.read("one/f.py")
    assert names(box.sim.read("one/f.py")) == ["one"]
    assert "boundary_due" not in box.state()["flags"]
