"""Two clients on one session, in the simulator: one transcript, two windows."""

from __future__ import annotations

import os
import subprocess
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from handbill.event import MAIN
from simulated_project import SimulatedProject

FOLDERS = ("one", "two", "three", "four")
STANDARD = "# Commands\n"


class Client:
    """What one process of the client keeps for itself: its window, and where in the transcript it is."""

    def __init__(self, box: SimulatedProject, process: int) -> None:
        self.box = box
        self.process = process
        self.kept: tuple[Any, ...] = ()
        self.at_rest = False  # the model has nothing more to say

    @property
    def key(self) -> str:
        """The name of its window: the first client's is the session's."""
        session = self.box.sim.session
        return session if self.process == os.getpid() else f"{session}~{self.process}"

    def __enter__(self) -> Client:
        sim, path = self.box.sim, self.box.sim.transcript
        self.box.environ["CLAUDE_PID"] = str(self.process)
        if self.kept:
            view, sim._last[path], sim._heads[path], sim._kept_from[MAIN], sim._batches[MAIN] = self.kept
            sim.views[MAIN] = list(view)
        return self

    def __exit__(self, *_: object) -> None:
        sim, path = self.box.sim, self.box.sim.transcript
        if not self.at_rest:
            sim.answer("done")
        self.at_rest = False
        sim._heads[path] = sim._last[path]
        sim._kept_from[MAIN] = len(sim.views[MAIN])
        self.kept = (list(sim.views[MAIN]), sim._last[path], sim._heads[path], sim._kept_from[MAIN], "")

    def copies(self, words: str) -> int:
        return sum(text.count(words) for _, text in self.box.sim.views[MAIN])

    def begin(self, source: str, *folders: str) -> None:
        """It starts, or resumes; its first prompt reads a file in each of these folders."""
        with self:
            self.box.sim.start(source)
            self.box.sim.prompt("go")
            for folder in folders:
                self.box.sim.read(f"{folder}/f.py")
            self.box.idle()

    def compact(self) -> None:
        """The user types /compact: nothing is kept, and the client waits for a prompt."""
        sim, path = self.box.sim, self.box.sim.transcript
        sim._heads[path] = sim._last[path]
        sim._kept_from[MAIN] = len(sim.views[MAIN])
        self.box.environ["CLAUDE_CODE_ENTRYPOINT"] = "cli"
        sim.send({"hook_event_name": "PreCompact", "trigger": "manual"})
        sim.send({"hook_event_name": "SessionStart", "source": "compact"})
        del self.box.environ["CLAUDE_CODE_ENTRYPOINT"]
        self.at_rest = True

    def call_off_a_compaction(self) -> None:
        """The user types /compact, and presses Escape."""
        self.box.sim.send({"hook_event_name": "PreCompact", "trigger": "manual"})
        self.at_rest = True

    def drop_a_prompt(self, text: str = "dropped") -> None:
        """Another hook blocks it: the client writes nothing."""
        sim = self.box.sim
        raw = {"hook_event_name": "UserPromptSubmit", "prompt": text, "prompt_id": str(uuid.uuid4())}
        sim.hooks(
            "UserPromptSubmit",
            {"session_id": sim.session, "transcript_path": sim.transcript, "cwd": sim.project, **raw},
        )
        self.at_rest = True

    def held(self) -> dict[str, int]:
        """How often the window has the standards, and the rules of each folder."""
        return {STANDARD: self.copies(STANDARD), **{name: self.copies(f"rules of {name}") for name in FOLDERS}}


@pytest.fixture
def clients(make_project: Callable[..., SimulatedProject]) -> Iterator[tuple[Client, Client, Client]]:
    box = make_project()
    for name in FOLDERS[2:]:
        box.write(f"{name}/.directives/AGENTS.md", f"rules of {name}\n")
        box.write(f"{name}/f.py", "x\n")
    others = [subprocess.Popen(["sleep", "120"]) for _ in range(2)]
    yield Client(box, os.getpid()), Client(box, others[0].pid), Client(box, others[1].pid)
    for other in others:
        other.kill()
        other.wait()


def begin(first: Client, second: Client) -> SimulatedProject:
    """The first one reads `one`; the second one joins, and reads `two`."""
    first.begin("startup", "one")
    second.begin("resume", "two")
    return first.box
