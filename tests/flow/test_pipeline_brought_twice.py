"""A rule that Handbill and the client both bring: after a rewind, the client does not bring it again."""

from __future__ import annotations

from collections.abc import Callable

from simulated_project import SimulatedProject


def test_an_agents_md_that_the_client_brought_as_well_and_a_rewind_removed(
    make_project: Callable[..., SimulatedProject],
) -> None:
    """The client brings it only once."""
    box = make_project()
    box.write("bare/AGENTS.md", "BARE RULES\n")
    box.write("bare/f.py", "x")
    box.sim.start()
    prompt = box.sim.prompt("go")
    box.sim.batch(("Edit", {"file_path": str(box.project / "bare/f.py")}))
    assert box.seen().count("BARE RULES") == 1
    box.sim.read("bare/f.py")
    box.sim.answer("done")
    box.sim.rewind(prompt)
    box.sim.prompt("again")
    box.sim.read("bare/f.py")
    assert box.seen().count("BARE RULES") == 1, "delivered, because the client does not bring it again"


def test_repeated_rewinds_note_a_file_once(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.write("bare/AGENTS.md", "BARE RULES\n")
    box.write("bare/f.py", "x")
    box.sim.start()
    prompt = box.sim.prompt("go")
    for _ in range(4):
        box.sim.batch(("Edit", {"file_path": str(box.project / "bare/f.py")}))
        box.sim.read("bare/f.py")
        box.sim.answer("done")
        box.sim.rewind(prompt)
        prompt = box.sim.prompt("again")
        box.idle()
    assert box.state()["flags"]["host_once"] == [str(box.project / "bare/AGENTS.md")]
