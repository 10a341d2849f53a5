"""Finds the agent that runs this command: the host gives a shell its session, but not its agent."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from handbill.event import MAIN
from handbill.world import World

if TYPE_CHECKING:
    from handbill.project import Project

_LAST = 1 << 20  # bytes of a transcript; the running call is at its end
_PATIENCE = 1.0  # seconds to wait until the client has recorded the call


def calling_agent(project: Project, words: str) -> str | None:
    """Return the agent whose newest call runs `words`; None if no agent does or it is unclear."""
    session = project.host.shell(os.environ).session_id
    agents = [agent for known, agent in project.store.known() if known == session]
    if all(agent == MAIN for agent in agents):
        return None
    deadline = time.monotonic() + _PATIENCE
    while True:
        found = [agent for agent in agents if _runs(project, session, agent, words)]
        if found or time.monotonic() > deadline:
            return found[0] if len(found) == 1 else None
        time.sleep(0.05)


def _runs(project: Project, session: str, agent: str, words: str) -> bool:
    window = project.store.read((session, agent))
    data = World(()).tail(window.transcript, -_LAST) if window is not None and window.transcript else None
    return data is not None and project.host.runs_now(data, words)
