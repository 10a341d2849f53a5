"""Two clients on one session, in the simulator: one transcript, two windows. On the real client: e2e/test_two_terminals."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from box import Box
from handbill import evidence
from handbill.core.event import MAIN
from handbill.hook import respond


class Client:
    """What one process of the client keeps for itself: its window, and where in the transcript it is."""

    def __init__(self, box: Box, process: int) -> None:
        self.box = box
        self.process = process
        self.kept: tuple[Any, ...] = ()

    def __enter__(self) -> Client:
        sim, path = self.box.sim, self.box.sim.transcript
        self.box.environ["CLAUDE_PID"] = str(self.process)
        if self.kept:
            view, sim._last[path], sim._heads[path], sim._kept_from[MAIN], sim._batches[MAIN] = self.kept
            sim.views[MAIN] = list(view)
        return self

    def __exit__(self, *_: object) -> None:
        sim, path = self.box.sim, self.box.sim.transcript
        sim.answer("done")
        sim._heads[path] = sim._last[path]
        sim._kept_from[MAIN] = len(sim.views[MAIN])
        self.kept = (list(sim.views[MAIN]), sim._last[path], sim._heads[path], sim._kept_from[MAIN], "")

    def idle(self, times: int = 1) -> None:
        for _ in range(times):
            self.box.sim.batch(("Bash", {"command": "true"}))

    def copies(self, words: str) -> int:
        return sum(text.count(words) for _, text in self.box.sim.views[MAIN])


@pytest.fixture
def clients(make_box: Callable[..., Box], monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Client, Client]]:
    monkeypatch.setattr(evidence, "PATIENCE", -1.0)  # as if seconds lay between two events
    box = make_box()
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
        first.idle()
    with second:
        sim.start("resume")
        sim.prompt("second")
        second.idle()
        sim.compact()
        second.idle(2)
    with first:
        sim.prompt("first")
        first.idle(3)
        assert first.copies("# Commands\n") == 1
    assert first.box.process("engine window --all --audit").returncode == 0
    with second:
        sim.prompt("second again")
        second.idle(6)
        assert second.copies("# Commands\n") == 1


def test_what_the_second_one_got_at_its_start(clients: tuple[Client, Client]) -> None:
    """Its lanes bring more parts of a large file than the first one has; they are in the second window only."""
    first, second = clients
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
        second.idle(8)
        assert second.copies(" of a large rule") == 500
    with first:
        sim.prompt("first")
        first.idle(8)
        sim.prompt("more")
        first.idle(8)
        assert first.copies(" of a large rule") == 500
