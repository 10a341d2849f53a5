"""Two clients on one session, one of which resumes it behind the other one's newest row."""

from __future__ import annotations

import os
import signal

import pytest
from two_clients import STANDARD, Client, begin, clients

from handbill.event import MAIN
from simulated_project import SimulatedProject

__all__ = ["clients"]  # the fixture

pytestmark = pytest.mark.usefixtures("no_patience")
Three = tuple[Client, Client, Client]


def resume_behind(own: Client, other: Client, compacts: bool) -> SimulatedProject:
    """The loader goes on from the newest row of the transcript, which the other client wrote."""
    box = own.box
    with own:
        sim = box.sim
        view, sim._last[sim.transcript], sim._heads[sim.transcript], *_ = other.kept
        sim.views[MAIN] = list(view)
        sim.start("resume")
        sim.prompt("I am back")
        sim.read("three/f.py")
        box.idle()
        assert own.held()[STANDARD] == own.held()["three"] == 1
        if compacts:
            own.compact()
    return box


def assert_only_its_own(client: Client) -> None:
    box = client.box
    audit = box.process("engine window --all --audit")
    assert audit.returncode == 0, audit.stdout
    with client:
        box.sim.prompt("see @three/f.py")
        assert client.held()["three"] == 1
        box.idle(3)
        assert {name: client.held()[name] for name in (STANDARD, "two", "three")} == {STANDARD: 1, "two": 1, "three": 1}


@pytest.mark.parametrize("compacts", [True, False])
def test_the_first_one_ends_and_is_reopened(clients: Three, compacts: bool) -> None:
    second, first, reopened = clients
    first.begin("startup", "one")
    second.begin("resume", "two")
    os.kill(first.process, signal.SIGKILL)
    os.waitid(os.P_PID, first.process, os.WEXITED | os.WNOWAIT)
    resume_behind(reopened, second, compacts)
    assert_only_its_own(second)


@pytest.mark.parametrize("compacts", [True, False])
def test_the_first_one_resumes_again_in_its_process(clients: Three, compacts: bool) -> None:
    """The user types /clear, and later /resume."""
    first, second, _ = clients
    begin(first, second)
    resume_behind(first, second, compacts)
    assert_only_its_own(second)


@pytest.mark.parametrize("compacts", [True, False])
def test_the_second_one_resumes_again_in_its_process(clients: Three, compacts: bool) -> None:
    second, first, _ = clients
    first.begin("startup", "two")
    second.begin("resume")
    with first:
        first.box.sim.prompt("I am the newest")
    resume_behind(second, first, compacts)
    assert_only_its_own(first)


def test_the_ledger_of_the_first_one_is_lost(clients: Three) -> None:
    """The second one keeps its own window."""
    first, second, _ = clients
    box = begin(first, second)
    box.lose_ledger()
    with second:
        box.sim.prompt("see @three/f.py")
        box.sim.answer("ok")
        assert second.held()["three"] == 1
        assert box.sim.write("four/new.py").denied
        box.idle(2)
        assert second.held() == {STANDARD: 1, "one": 1, "two": 1, "three": 1, "four": 1}
    assert not (box.state_folder / ".windows" / f"{box.sim.session}.jsonl").exists()
    with first:
        box.sim.prompt("first")
        box.sim.read("one/f.py")
        box.idle(2)
        assert first.held() == {STANDARD: 1, "one": 1, "two": 0, "three": 0, "four": 0}
