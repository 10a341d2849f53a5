"""Two clients on one session, and one of them is compacted: the other one never hears of it."""

from __future__ import annotations

import os
import random

import pytest
from two_clients import FOLDERS, STANDARD, Client, begin, clients

from handbill.lab.simulator import Moment

__all__ = ["clients"]  # the fixture

pytestmark = pytest.mark.usefixtures("no_patience")
SEEDS, STEPS = int(os.environ.get("SEEDS", "30")), 10


def test_a_compaction_of_the_second_one(clients: tuple[Client, Client, Client]) -> None:
    first, second, _ = clients
    sim = first.box.sim
    first.begin("startup")
    second.begin("resume")
    with second:
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
def test_the_other_one_speaks_first(clients: tuple[Client, Client, Client], who: int, before: str) -> None:
    first, second, _ = clients
    box = begin(first, second)
    sim = box.sim
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
        assert other.held() == {STANDARD: 1, **{name: int(name in [*own[other], "four"]) for name in FOLDERS}}
    report = box.process(f"engine compaction report --session {compacted.key}")
    assert report.returncode == 0 and f"{compacted.key}.main" in report.stdout, report.stdout + report.stderr
    assert "then rewound" not in report.stdout and "four/" not in report.stdout, report.stdout
    assert "one/" in report.stdout and ("two/" in report.stdout) is (who == 1), report.stdout
    with compacted:
        sim.prompt("the compacted one")
        assert compacted.held()[STANDARD] == 1
        box.idle(2)
        sim.read("four/f.py")
        box.idle(2)
        assert compacted.held()[STANDARD] == compacted.held()["four"] == 1
        assert all(count <= 1 for count in compacted.held().values())
    audit = box.process("engine window --all --audit")
    assert audit.returncode == 0, audit.stdout


@pytest.mark.parametrize("seed", range(SEEDS))
def test_any_two_conversations(clients: tuple[Client, Client, Client], seed: int) -> None:
    """Each window has the standards once, and the rules of each folder that it touched since its compaction, once."""
    both = clients[:2]
    box, sim, choose = clients[0].box, clients[0].box.sim, random.Random(seed)
    touched = {client: {"one"} for client in both}
    undo: dict[Client, tuple[Moment, set[str]] | None] = {}
    steps = []
    clients[0].begin("startup", "one")
    clients[1].begin("resume")  # if both are compacted before either has spoken, nobody can tell the compactions apart
    for _ in range(STEPS):
        client = choose.choice(both)
        act = choose.choice(["words", "read", "read", "compact", "compact", "rewind", "call off", "drop"])
        folder = choose.choice(FOLDERS)
        steps.append((clients.index(client), act, folder))
        with client:
            if act == "call off":
                client.call_off_a_compaction()
                continue
            if act == "drop":
                client.drop_a_prompt()
                continue
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
            found = client.held()
            assert found[STANDARD] == 1, (steps, found)
            assert all(found[name] == 1 for name in touched[client]), (steps, found, touched[client])
            assert all(count <= 1 for count in found.values()), (steps, found)
    audit = box.process("engine window --all --audit")
    assert audit.returncode == 0, (steps, audit.stdout)


def test_restore_answers_in_the_window_that_was_named(clients: tuple[Client, Client, Client]) -> None:
    first, second, _ = clients
    box, sim = first.box, first.box.sim
    first.begin("startup")
    second.begin("resume", "two")
    with second:
        second.compact()
    with second:
        sim.prompt("after the compaction")
        box.idle()
    restored = box.process(f"engine compaction restore --session {second.key}", CLAUDE_CODE_SESSION_ID="")
    assert "restoring 1 file" in restored.stdout, restored.stdout + restored.stderr
    preview = box.process(f"engine preview --session {second.key} one/f.py", CLAUDE_CODE_SESSION_ID="")
    assert "two/.directives/AGENTS.md" in preview.stdout, preview.stdout
    with first:
        sim.prompt("first")
        box.idle()
        assert first.held()["two"] == 0
    with second:
        sim.prompt("second")
        assert second.held()["two"] == 1
