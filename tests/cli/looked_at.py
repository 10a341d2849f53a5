"""A project with hooks, and a session that read in two directories."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from command import engine

from handbill.lab.simulator import Simulator, direct_hooks


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with hooks, and a session that read in two directories."""
    folder = tmp_path / "project"
    for name in ("one", "two"):
        (folder / name / ".directives").mkdir(parents=True)
        (folder / name / ".directives" / "AGENTS.md").write_text(f"rules of {name}\n")
        (folder / name / ".directives" / "TESTING.md").write_text("for skills\n")
    engine("install", "--project", str(folder), "--python", sys.executable)
    environ = {
        "HOME": os.environ["HOME"],
        "CLAUDE_PROJECT_DIR": str(folder),
        "AI_AGENT": "claude-code_2-1-325_x",
        "CLAUDE_PID": "1",
    }
    sim = Simulator(str(folder), str(tmp_path / "transcripts"), direct_hooks(environ), session="abc-session")
    sim.start()
    sim.read("one/f.py")
    sim.read("two/f.py")
    return folder


def checks(project: Path, expect: int) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = {}
    for check in engine("doctor", cwd=project, expect=expect)["data"]["checks"]:
        found.setdefault(check["check"], []).append(check)
    return found
