"""Two clients on one session, in the simulator: one transcript, two windows."""

from __future__ import annotations

import os
from typing import Any

from box import Box
from handbill.core.event import MAIN


class Client:
    """What one process of the client keeps for itself: its window, and where in the transcript it is."""

    def __init__(self, box: Box, process: int) -> None:
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
