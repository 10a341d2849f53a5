"""Two clients on one session, in the simulator: one transcript, two windows. On the real client: e2e/test_two_terminals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from two_clients import Client, begin, clients

from builders import window
from handbill.event import MAIN, PROMPT_SUBMITTED, Event
from handbill.flow.terminals import _joined, note_own_rows
from handbill.hook import respond
from handbill.ledger.window import JOINED, OWN_ROWS
from simulated_project import SimulatedProject, assert_once, names

Make = Callable[..., SimulatedProject]
__all__ = ["clients"]  # the fixture

pytestmark = pytest.mark.usefixtures("no_patience")


def one_then_another(make_project: Make) -> tuple[SimulatedProject, subprocess.Popen[bytes], Client]:
    """A client that has worked and still runs, and the next one."""
    box = make_project()
    process = subprocess.Popen(["sleep", "120"])
    Client(box, process.pid).begin("startup", "one")
    return box, process, Client(box, os.getpid())


def test_a_client_that_has_ended_is_no_second_terminal(make_project: Make) -> None:
    """Even if nobody has asked how it ended: in a container without an init process, it stays in the process table."""
    box, ended, second = one_then_another(make_project)
    ended.kill()
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)  # it stays in the table
    with second:
        box.sim.start("resume")
        box.sim.prompt("again")
        box.sim.read("one/f.py", "two/f.py")
        box.idle()
    ended.wait()
    ledgers = list((Path(box.environ["HOME"]) / ".local/state/handbill").glob("*/.windows/*.jsonl"))
    assert len(ledgers) == 1
    assert_once(box, MAIN, "one", "two")


@pytest.mark.parametrize("act", ["read", "write"])
def test_the_second_one_goes_on_after_the_first_has_ended(make_project: Make, act: str) -> None:
    box, ended, second = one_then_another(make_project)
    second.begin("resume", "one")
    ended.kill()
    ended.wait()
    with second:
        box.sim.write("one/new.py") if act == "write" else box.sim.read("one/f.py")
        box.idle(3)
        rules = (box.project / "one/.directives/AGENTS.md").read_text().strip()
        assert second.copies("# Commands\n") == second.copies(rules) == 1
    head = (box.state_folder / ".windows" / f"{box.sim.session}.jsonl").read_text().splitlines()[0]
    assert json.loads(head)["pid"] == ended.pid, "the first one's ledger is left as it was"


def test_a_window_notes_its_last_rows() -> None:
    """A prompt that was dropped is in no transcript: an earlier one is."""
    event = Event(PROMPT_SUBMITTED, "s", prompt_id="dropped")
    turn = SimpleNamespace(event=event, facts=None, plan=SimpleNamespace(flags={}))
    note_own_rows(turn, window(flags={JOINED: [5], OWN_ROWS: list("abcdefgh")}))  # type: ignore[arg-type]
    assert turn.plan.flags[OWN_ROWS] == ["dropped", *"abcdefg"]


def test_a_window_notes_the_first_and_the_newest_of_many_that_joined() -> None:
    """From the first one on, rows may be another client's: that place is never forgotten."""
    joined = window()
    for size in range(10, 130, 10):
        joined = _joined(joined, size) or joined
        assert joined.flags[JOINED][0] == 10 and joined.flags[JOINED][-1] == size
    assert joined.flags[JOINED] == [10, 20, 30, 40, 50, 60, 70, 120]


def test_what_the_second_one_got_at_its_start(clients: tuple[Client, Client, Client]) -> None:
    """Its lanes bring more parts of a large file than the first one has; they are in the second window only."""
    first, second, _ = clients
    box, sim = first.box, first.box.sim
    lines = [f"line {number:04} of a large rule {'x' * 60}" for number in range(500)]
    box.write("one/.directives/AGENTS.md", "\n".join(lines))
    plain = box.hooks

    def lanes(name: str, raw: dict[str, Any]) -> list[str]:
        if name != "SessionStart":
            return plain(name, raw)
        words = [["claude-code", "--lane", f"{number}/4"] for number in range(1, 5)]
        return [respond(json.dumps(raw).encode(), arguments, box.environ) for arguments in words]

    box.hooks = lanes
    with first:
        sim.start()
        sim.prompt("go")
        sim.read("one/f.py")
    with second:
        sim.start("resume")
        sim.prompt("second")
        second.box.idle(8)
        assert second.copies(" of a large rule") == 500
    with first:
        sim.prompt("first")
        first.box.idle(8)
        sim.prompt("more")
        first.box.idle(8)
        assert first.copies(" of a large rule") == 500


@pytest.mark.parametrize("held", [False, True], ids=["with results", "with a denial"])
def test_a_third_client_finds_what_the_second_was_given(make_project: Make, held: bool) -> None:
    box = make_project()
    box.environ["CLAUDE_PID"] = str(os.getpid())  # it runs, and does nothing
    box.sim.start()
    box.idle()
    box.environ["CLAUDE_PID"] = "4194301"
    box.sim.start("resume")
    box.sim.write("one/new.py") if held else box.sim.read("one/f.py")
    box.idle()
    first = box.state()
    assert not any("/one/" in path for path in first["files"])
    path = box.state_folder / ".windows" / f"{box.sim.session}.jsonl"
    path.write_text(path.read_text().replace(f'"pid":{os.getpid()}', '"pid":4194300'))  # it has ended
    box.environ["CLAUDE_PID"] = "4194302"
    box.sim.start("resume")
    box.sim.read("one/f.py")
    box.idle()
    assert_once(box, "main", "one")


def test_a_failing_hook_marks_the_window_of_its_own_terminal(
    make_project: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = make_project()
    box.environ["CLAUDE_PID"] = str(os.getpid())
    box.sim.start()
    box.idle()
    box.environ["CLAUDE_PID"] = "4194301"
    box.sim.start("resume")
    box.idle()
    with monkeypatch.context() as patch:
        patch.setattr("handbill.flow.pipeline.decide", lambda *_: 1 / 0)
        box.sim.read("one/f.py")
    assert names(box.idle()) == ["one"]


def test_prompts_of_two_terminals(clients: tuple[Client, Client, Client]) -> None:
    """When a prompt is submitted, the newest rows are those of the other terminal: that is not a rewind."""
    first, second, _ = clients
    box, sim = first.box, first.box.sim
    begin(first, second)
    with first:
        sim.prompt("first")
        sim.read("three/f.py")
        box.idle()
    with second:
        sim.prompt("only words")
        sim.answer("yes")
        assert names(sim.prompt("look at @three/f.py")) == ["three"]
        box.idle()
        assert [second.copies(f"rules of {name}") for name in ("one", "two", "three")] == [1, 1, 1]
    assert box.process("engine window --all --audit").returncode == 0
    with first:
        sim.prompt("only words")
        sim.answer("yes")
        sim.prompt("first again")
        sim.read("four/f.py", "three/f.py")
        box.idle()
        assert [first.copies(f"rules of {name}") for name in ("one", "two", "three", "four")] == [1, 0, 1, 1]
    for _ in range(2):
        audit = box.process("engine window --all --audit")
        assert audit.returncode == 0, audit.stdout
    assert not any(
        "rewound" in line for line in (box.state_folder / ".engine/deliveries.jsonl").read_text().splitlines()
    )


def test_a_rewind_in_one_of_two_terminals(clients: tuple[Client, Client, Client]) -> None:
    first, second, _ = clients
    box, sim = first.box, first.box.sim
    first.begin("startup")
    second.begin("resume")
    with second:
        undone = sim.prompt("undone")
        sim.read("one/f.py")
        box.idle()
    with first:
        sim.prompt("first")
        box.idle()
    with second:
        sim.rewind(undone)
        sim.prompt("again")
        box.idle(2)
        sim.read("one/f.py")
        box.idle()
        assert second.copies("rules of one") == 1


def test_which_of_two_windows_a_command_shows(clients: tuple[Client, Client, Client]) -> None:
    first, second, _ = clients
    box, sim = first.box, first.box.sim
    first.begin("startup")
    second.begin("resume", "two")

    def shown(**environ: str) -> str:
        return str(json.loads(box.process("engine window --json", **environ).stdout)["data"]["session"])

    assert shown(CLAUDE_CODE_SESSION_ID="") == second.key, "the one that was used last"
    for client in clients[:2]:
        named = box.process(f"engine window {client.key} --json", CLAUDE_CODE_SESSION_ID="")
        assert json.loads(named.stdout)["data"]["session"] == client.key
    for client in clients[:2]:  # in its own shell
        assert shown(CLAUDE_CODE_SESSION_ID=sim.session, CLAUDE_PID=str(client.process)) == client.key
    other = box.process(f"engine window {second.key} --json", CLAUDE_PID=str(first.process))
    assert json.loads(other.stdout)["data"]["session"] == second.key, "the shell of one asks for the other"
    listed = "engine window --all"
    assert "ended" not in box.process(listed).stdout
    os.kill(second.process, signal.SIGKILL)
    os.waitid(os.P_PID, second.process, os.WEXITED | os.WNOWAIT)
    assert box.process(listed).stdout.count("ended") == 1
    audited = json.loads(box.process("engine window --all --audit --json").stdout)["data"]["windows"]
    assert [one["session"] for one in audited] == [first.key], "nobody repairs the ledger of a terminal that has ended"


def test_a_subagent_is_found_from_the_shell_of_the_second_one(clients: tuple[Client, Client, Client]) -> None:
    first, second, _ = clients
    first.begin("startup")
    second.begin("resume", "two")
    with second:
        first.box.sim.subagent("a77")
    for client in clients[:2]:
        done = first.box.process("engine window --agent a7 --json", CLAUDE_PID=str(client.process))
        assert json.loads(done.stdout)["data"]["agent"] == "a77", done.stdout
