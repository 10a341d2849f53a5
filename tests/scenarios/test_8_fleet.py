"""Category 8: several agents in one project."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from implement_session import SESSION, activate, move, with_implement

from simulated_project import SimulatedProject


@pytest.fixture
def living() -> Iterator[str]:
    """A process that lives as long as the test: another agent's client."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield str(process.pid)
        process.kill()


def test_two_windows_have_two_ledgers(make_project: Callable[..., SimulatedProject]) -> None:
    box = with_implement(make_project())
    first = box.sim.session
    box.sim.start()
    box.sim.skill("implement")
    box.sim.session = "second"
    box.sim.start()
    assert len(box.state()["files"]) == 6
    box.sim.session = first
    assert len(box.state()["files"]) > 6


def test_two_sessions_are_two_states(make_project: Callable[..., SimulatedProject], living: str) -> None:
    box = with_implement(make_project())
    box.environ["CLAUDE_PID"] = living
    box.sim.start()
    activate(box, name="A")
    box.sim.session = "second"
    box.environ["CLAUDE_PID"] = str(os.getpid())
    box.sim.start()
    activate(box, name="B")
    move(box, "1", name="B")
    assert box.session_state("A")["currentPhase"] == "0: Setup"
    assert box.session_state("B")["currentPhase"] == "1: Interrogation"
    assert box.session_state("B")["pid"] == os.getpid()


@pytest.mark.parametrize("command", ["activate {s} implement", "continue {s}", "phase {s} 1"])
def test_two_live_agents_on_one_session(
    make_project: Callable[..., SimulatedProject], living: str, command: str
) -> None:
    box = with_implement(make_project())
    box.environ["CLAUDE_PID"] = living
    first = box.sim.session
    box.sim.start()
    activate(box)
    box.sim.session = "second"
    box.environ["CLAUDE_PID"] = str(os.getpid())
    box.sim.start()
    before = box.session_state(SESSION)
    box.shell(f"engine session {command.format(s=SESSION)}", expect=1)
    assert f"process {living}" in box.printed and first in box.printed
    assert box.session_state(SESSION) == before


def test_a_dead_holder_is_taken_over_with_its_state(make_project: Callable[..., SimulatedProject]) -> None:
    box = with_implement(make_project())
    with subprocess.Popen(["sleep", "600"]) as process:
        box.environ["CLAUDE_PID"] = str(process.pid)
        box.sim.start()
        activate(box)
        move(box, "1")
        box.process(f"engine session update {SESSION} note 'keep me'")
        process.kill()
    box.sim.session = "second"
    box.environ["CLAUDE_PID"] = str(os.getpid())
    box.sim.start()
    activate(box)
    state = box.session_state(SESSION)
    assert (state["currentPhase"], state["note"], state["sessionId"]) == ("1: Interrogation", "keep me", "second")
    assert [entry["phase"] for entry in state["phaseHistory"]] == ["0: Setup", "1: Interrogation"]


def test_a_number_that_was_given_to_another_process_is_no_holder(
    make_project: Callable[..., SimulatedProject], living: str
) -> None:
    box = with_implement(make_project())
    box.environ["CLAUDE_PID"] = living
    box.sim.start()
    activate(box)
    path = box.project / "sessions" / SESSION / ".state.json"
    path.write_text(path.read_text().replace('"pidStarted": "', '"pidStarted": "1'))
    box.sim.session = "second"
    box.environ["CLAUDE_PID"] = str(os.getpid())
    box.sim.start()
    activate(box)
    assert box.session_state(SESSION)["sessionId"] == "second"


def test_a_person_may_release_what_a_live_agent_holds(
    make_project: Callable[..., SimulatedProject], living: str
) -> None:
    box = with_implement(make_project())
    box.environ["CLAUDE_PID"] = living
    box.sim.start()
    activate(box)
    command = f"echo stop | engine session idle {SESSION} --user-approved 'it hangs'"
    assert box.process(command, CLAUDE_CODE_SESSION_ID="").returncode == 0
    assert "pid" not in box.session_state(SESSION)


def test_sixteen_writers_lose_nothing(make_project: Callable[..., SimulatedProject]) -> None:
    """The reference keeps 2 of 12."""
    box = with_implement(make_project())
    box.sim.start()
    activate(box)
    with ThreadPoolExecutor(16) as pool:
        done = list(pool.map(lambda n: box.process(f"engine session update {SESSION} field{n} {n}"), range(16)))
    assert [one.returncode for one in done] == [0] * 16, [one.stderr for one in done]
    state = box.session_state(SESSION)
    assert {name: value for name, value in state.items() if name.startswith("field")} == {
        f"field{n}": n for n in range(16)
    }


def test_the_sessions_own_state_is_for_its_owner_only(make_project: Callable[..., SimulatedProject]) -> None:
    box = with_implement(make_project())
    box.sim.start()
    activate(box)
    folder = box.project / "sessions" / SESSION
    assert {path.stat().st_mode & 0o777 for path in folder.glob(".state*")} == {0o600}
