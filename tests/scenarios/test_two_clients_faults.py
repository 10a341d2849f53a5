"""Two and three clients on one session, when a prompt is dropped, a compaction called off, a ledger or a start lost."""

from __future__ import annotations

import os
import signal

import pytest
from two_clients import STANDARD, Client, begin, clients

from handbill.world import World
from simulated_project import nothing

__all__ = ["clients"]  # the fixture

pytestmark = pytest.mark.usefixtures("no_patience")
Three = tuple[Client, Client, Client]
NONE = {STANDARD: 1, "one": 1, "two": 0, "three": 0, "four": 0}


def test_one_calls_off_its_compaction_and_the_other_compacts(clients: Three) -> None:
    first, second, _ = clients
    box = begin(first, second)
    with first:
        first.call_off_a_compaction()
    with second:
        second.compact()
    with first:
        box.sim.prompt("first")
        assert first.held() == NONE
        box.idle(2)
        box.sim.read("one/f.py")
        box.idle()
        assert first.held() == NONE


@pytest.mark.parametrize("act", ["mention", "write", "read"])
def test_two_prompts_of_one_are_dropped(clients: Three, act: str) -> None:
    first, second, _ = clients
    box = begin(first, second)
    with first:
        box.sim.prompt("first")
        box.sim.read("three/f.py")
        box.idle(2)
    with first:
        first.drop_a_prompt()
        first.drop_a_prompt()
    with second:
        box.sim.prompt("second")
        box.idle()
    with first:
        box.sim.prompt("see @three/f.py" if act == "mention" else "go on")
        denied = box.sim.write("three/new.py").denied if act == "write" else ""
        if act == "read":
            box.sim.read("three/f.py")
        box.idle(2)
        assert first.held() == {**NONE, "three": 1} and not denied


@pytest.mark.parametrize("case", ["three run", "the second one has ended", "the second one was compacted"])
def test_a_third_one_joins(clients: Three, case: str) -> None:
    first, second, third = clients
    box = begin(first, second)
    if case == "the second one was compacted":
        with second:
            second.compact()
        with second:
            box.sim.prompt("second")
            box.idle()
    if case == "the second one has ended":
        os.kill(second.process, signal.SIGKILL)
        os.waitid(os.P_PID, second.process, os.WEXITED | os.WNOWAIT)
    with third:
        box.sim.start("resume")
        third.at_rest = True
    audit = box.process("engine window --all --audit")
    assert audit.returncode == 0, audit.stdout
    if case == "three run":
        with second:
            box.sim.prompt("second")
            box.idle()
    with third:
        box.sim.prompt("third")
        box.sim.read("four/f.py")
        box.idle()
    with first:
        box.sim.prompt("see @two/f.py")
        box.idle(2)
        assert first.held() == {**NONE, "two": 1}
    audit = box.process("engine window --all --audit")
    assert audit.returncode == 0, audit.stdout


def test_the_second_one_knows_of_the_third(clients: Three) -> None:
    first, second, third = clients
    box = begin(first, second)
    with third:
        box.sim.start("resume")
        box.sim.prompt("third")
        box.sim.read("three/f.py")
        box.idle()
        third.compact()
    with second:
        assert box.sim.prompt("see @three/f.py").titles, "the third one's rules are not in this window"
        box.idle()
        assert second.held() == {**NONE, "two": 1, "three": 1}


@pytest.mark.parametrize("how", ["compacts", "reads"])
def test_the_ledger_of_the_first_one_is_lost(clients: Three, how: str) -> None:
    first, second, _ = clients
    box = begin(first, second)
    with first:
        box.sim.prompt("first")
        box.idle()
        box.lose_ledger()
        box.idle()
    with second:
        box.sim.prompt("second")
        box.sim.read("three/f.py") if how == "reads" else box.idle()
        box.idle()
        if how == "compacts":
            second.compact()
    with second:
        box.sim.prompt("again")
        box.idle()
    with first:
        box.sim.prompt("see @three/f.py")
        box.idle(2)
        assert first.held() == {**NONE, "three": 1}


def test_the_start_of_the_second_one_is_lost(clients: Three) -> None:
    first, second, _ = clients
    box = first.box
    first.begin("startup", "one")
    with second:
        usual, box.hooks = box.hooks, nothing
        box.sim.start("resume")
        box.hooks = usual
        box.sim.prompt("second")
        box.sim.read("two/f.py")
        box.idle()
    assert box.process("engine window --all --audit").returncode == 0
    with first:
        box.sim.prompt("see @two/f.py")
        box.idle()
        assert first.held() == {**NONE, "two": 1}


def test_what_the_agent_of_one_restores_does_not_go_to_the_other(
    clients: Three, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, _ = clients
    box = begin(first, second)
    with second:
        second.compact()
    with second:
        box.sim.prompt("after")
        box.idle()
    restored = box.process("engine compaction restore", CLAUDE_PID=str(second.process))
    assert "restoring 2 files" in restored.stdout, restored.stdout + restored.stderr
    now = World.now
    monkeypatch.setattr(World, "now", lambda self: now(self) + 100)  # no call will show it any more
    with first:
        box.sim.prompt("first")
        assert first.held() == NONE
    with second:
        box.sim.prompt("second")
        assert second.held() == {**NONE, "two": 1}


def test_a_compaction_that_was_called_off_long_ago(clients: Three) -> None:
    first, second, _ = clients
    box = first.box
    first.begin("startup", "one")
    with first:
        box.sim.send({"hook_event_name": "PreCompact", "trigger": "auto"})
    second.begin("resume")
    with second:
        box.sim.compact()
        box.idle()
    with first:
        first.compact()
    with first:
        box.sim.prompt("first")
        box.idle(4)
        assert first.held()[STANDARD] == 1


def test_both_hooks_of_a_compaction_are_killed(clients: Three) -> None:
    """The window has no row of its own yet when the next prompt is submitted."""
    first, second, _ = clients
    box = first.box
    first.begin("startup", "one")
    with second:
        box.sim.start("resume")
        second.at_rest = True
    usual, box.hooks = box.hooks, nothing
    with first:
        first.compact()
    box.hooks = usual
    with first:
        box.sim.prompt("first")
        box.idle(4)
        assert first.held()[STANDARD] == 1


def test_both_compact_and_the_second_one_speaks_first(clients: Three) -> None:
    first, second, _ = clients
    box = begin(first, second)
    with first:
        first.compact()
    with second:
        second.compact()
    with second:
        box.sim.prompt("second")
        box.sim.read("four/f.py")
        box.idle()
    assert box.process("engine window --all --audit").returncode == 0
    with first:
        box.sim.prompt("first")
        assert first.held()[STANDARD] == 1
        box.sim.read("four/f.py")
        box.idle()
        assert first.held()["four"] == 1


def test_a_third_one_goes_on_with_what_the_first_one_said(clients: Three) -> None:
    first, second, third = clients
    box = begin(first, second)
    with first:
        box.sim.prompt("first")
        box.sim.read("three/f.py")
        box.idle()
    with third:
        box.sim.start("resume")
        box.sim.prompt("third")
        box.sim.read("four/f.py")
        box.idle()
    audit = box.process("engine window --all --audit")
    assert audit.returncode == 0, audit.stdout


def test_the_ledger_of_the_second_one_is_full_of_garbage(clients: Three) -> None:
    first, second, _ = clients
    box = begin(first, second)
    (box.state_folder / ".windows" / f"{second.key}.jsonl").write_text("garbage")
    with second:
        box.sim.read("two/f.py", "three/f.py")
        assert box.state_folder.joinpath(".windows", f"{second.key}.jsonl").exists()
        box.idle()
        assert {name: second.held()[name] for name in (STANDARD, "two", "three")} == {STANDARD: 1, "two": 1, "three": 1}
    with first:
        box.sim.prompt("see @three/f.py")
        box.idle()
        assert first.held() == {**NONE, "one": 1, "three": 1}
