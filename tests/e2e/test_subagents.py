"""A subagent is a window of its own."""

from __future__ import annotations

from sandbox import STANDARDS, assert_absent, assert_once

from conftest import Make


def test_a_subagent_gets_its_own_copy_and_main_no_second(make: Make, version: str) -> None:
    box = make(version)
    box.write("one/.directives/AGENTS.md", "MARK-ONE\n")
    box.write("one/f.py", "x\n")
    run = box.run(
        box.read("one/f.py"), box.agent(), box.bash(), "done",
        agent=(box.read("one/f.py"), box.read("one/f.py"), box.bash(), "sub done"),
    )  # fmt: skip
    for request in run.of()[1:]:
        assert_once(request, *STANDARDS, "MARK-ONE")
    agent = run.of(None)
    assert_absent(agent[0], "MARK-ONE")
    assert_once(agent[0], "# Invariants\n")
    assert_absent(agent[0], "# Sigils\n")
    for request in agent[1:]:
        assert_once(request, "MARK-ONE", "# Invariants\n")


def test_two_subagents_at_once(make: Make, version: str) -> None:
    box = make(version)
    box.write("one/.directives/AGENTS.md", "MARK-ONE\n")
    box.write("one/f.py", "x\n")
    run = box.run(
        [box.agent("first"), box.agent("second")], "done",
        agent=(box.read("one/f.py"), box.read("one/f.py"), box.bash(), box.bash(), box.bash(), box.bash()),
    )  # fmt: skip
    agents = {request.agent for request in run.of(None)}
    assert len(agents) == 2
    for name in agents:
        last = [request for request in run.of(None) if request.agent == name][-1]
        assert_once(last, "MARK-ONE", "# Invariants\n")
    assert_absent(run.of()[-1], "MARK-ONE")
