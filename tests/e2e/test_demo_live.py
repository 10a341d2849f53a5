"""`engine demo --live` says what the agent does while the real client runs."""

from __future__ import annotations

import pytest
from sandbox import Sandbox

from conftest import Make
from engine_server import run_engine


@pytest.mark.client
def test_each_step_is_told(make: Make, version: str) -> None:
    box: Sandbox = make(version, install=False)
    words = ("demo", "--client", box.client.binary)
    done = run_engine(words, cwd=box.project, environ={**box.environment(), "COLUMNS": "100"})
    assert done.returncode == 0, done.stdout + done.stderr
    said = [
        "▸ the user asks: fix the cart", "the agent reads api/orders.py", "+ api/.directives/AGENTS.md",
        "the agent starts a subagent: look at the api", "(subagent)", "▸ the window is full",
        "▸ the user resumes the session in a new process", "every file exactly once per window",
    ]  # fmt: skip
    at = [done.stdout.find(one) for one in said]
    assert -1 not in at and at == sorted(at), done.stdout
