"""Two clients on one session, and one of them is compacted: the other one never hears of it."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable, Iterator

import pytest

from box import Box
from handbill.simulate import Moment
from two_clients import Client

Make = Callable[..., Box]

pytestmark = pytest.mark.usefixtures("no_patience")
FOLDERS = ("one", "two", "three", "four")
STANDARD = "# Commands\n"
SEEDS, STEPS = int(os.environ.get("SEEDS", "30")), 10


@pytest.fixture
def clients(make_box: Make) -> Iterator[tuple[Client, Client]]:
    box = make_box()
    for name in ("three", "four"):
        box.write(f"{name}/.directives/AGENTS.md", f"rules of {name}\n")
        box.write(f"{name}/f.py", "x\n")
    other = subprocess.Popen(["sleep", "120"])
    yield Client(box, os.getpid()), Client(box, other.pid)
    other.kill()
    other.wait()


def test_a_compaction_of_the_second_one(clients: tuple[Client, Client]) -> None:
    first, second = clients
    sim = first.box.sim
    with first:
        sim.start()
        sim.prompt("go")
        first.box.idle()
    with second:
        sim.start("resume")
        sim.prompt("second")
        second.box.idle()
        sim.compact()
        second.box.idle(2)
    with first:
        sim.prompt("first")
        first.box.idle(3)
        assert first.copies("# Commands\n") == 1
    assert first.box.process("engine window --all --audit").returncode == 0
    with second:
        sim.prompt("second again")
        second.box.idle(6)
        assert second.copies("# Commands\n") == 1


@pytest.mark.parametrize("before", ["silent", "it spoke"])
@pytest.mark.parametrize("who", [0, 1], ids=["the first compacts", "the second compacts"])
def test_the_other_one_speaks_first(clients: tuple[Client, Client], who: int, before: str) -> None:
    first, second = clients
    box, sim = first.box, first.box.sim
    with first:
        sim.start()
        sim.prompt("go")
        sim.read("one/f.py")
        box.idle()
    with second:
        sim.start("resume")
        sim.prompt("second")
        sim.read("two/f.py")
        box.idle()
    if before == "it spoke":
        with first:
            sim.prompt("first")
            sim.read("three/f.py")
            box.idle()
    compacted, other = (clients[who], clients[1 - who])
    with compacted:
        compacted.compact()
    own = {first: ["one", *(["three"] if before == "it spoke" else [])], second: ["one", "two"]}
    with other:
        sim.prompt("the other one")
        sim.read("four/f.py")
        box.idle(2)
        assert held(other) == {STANDARD: 1, **{name: int(name in [*own[other], "four"]) for name in FOLDERS}}
    report = box.process(f"engine compaction report {compacted.key}")
    assert "then rewound" not in report.stdout and "four/" not in report.stdout, report.stdout
    with compacted:
        sim.prompt("the compacted one")
        assert held(compacted)[STANDARD] == 1
        box.idle(2)
        sim.read("four/f.py")
        box.idle(2)
        assert held(compacted)[STANDARD] == held(compacted)["four"] == 1
        assert all(count <= 1 for count in held(compacted).values())
    audit = box.process("engine window --all --audit")
    assert audit.returncode == 0, audit.stdout


def held(client: Client) -> dict[str, int]:
    return {STANDARD: client.copies(STANDARD), **{name: client.copies(f"rules of {name}") for name in FOLDERS}}


@pytest.mark.parametrize("seed", range(SEEDS))
def test_any_two_conversations(clients: tuple[Client, Client], seed: int) -> None:
    """Each window has the standards once, and the rules of each folder that it touched since its compaction, once."""
    box, sim, choose = clients[0].box, clients[0].box.sim, random.Random(seed)
    touched = {client: {"one"} for client in clients}
    undo: dict[Client, tuple[Moment, set[str]] | None] = {}
    steps = []
    with clients[0]:
        sim.start()
        sim.prompt("go")
        sim.read("one/f.py")
        box.idle()
    with clients[1]:
        sim.start("resume")
        clients[1].at_rest = True
    for _ in range(STEPS):
        client = choose.choice(clients)
        act = choose.choice(["words", "read", "read", "compact", "compact", "rewind"])
        folder = choose.choice(FOLDERS)
        steps.append((clients.index(client), act, folder))
        with client:
            if act == "compact":
                client.compact() if choose.random() < 0.5 else sim.compact()
                touched[client], undo = set(), {**undo, client: None}
                continue
            back = undo.get(client) if act == "rewind" else None
            if back:
                touched[client] = back[1]
                sim.rewind(back[0])
            undo[client] = sim.prompt(act), set(touched[client])
            if act == "read":
                sim.read(f"{folder}/f.py")
                touched[client].add(folder)
            box.idle(2)
            found = held(client)
            assert found[STANDARD] == 1, (steps, found)
            assert all(found[name] == 1 for name in touched[client]), (steps, found, touched[client])
            assert all(count <= 1 for count in found.values()), (steps, found)
    audit = box.process("engine window --all --audit")
    assert audit.returncode == 0, (steps, audit.stdout)


def test_restore_answers_in_the_window_that_was_named(clients: tuple[Client, Client]) -> None:
    first, second = clients
    box, sim = first.box, first.box.sim
    with first:
        sim.start()
        sim.prompt("go")
        box.idle()
    with second:
        sim.start("resume")
        sim.prompt("second")
        sim.read("two/f.py")
        box.idle()
        second.compact()
    with second:
        sim.prompt("after the compaction")
        box.idle()
    restored = box.process(f"engine compaction restore --session {second.key}", CLAUDE_CODE_SESSION_ID="")
    assert "restoring 1 file" in restored.stdout, restored.stdout + restored.stderr
    with first:
        sim.prompt("first")
        box.idle()
        assert held(first)["two"] == 0
    with second:
        sim.prompt("second")
        assert held(second)["two"] == 1
