"""A project with a resume file, on the host in a box."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from handbill.store.files import FileStore
from simulated_project import SimulatedProject

Make = Callable[..., SimulatedProject]
HOME = "02-projects/24-login"
RESUME = f"{HOME}/01-planning/_resume.md"
HEAD = """---
project_id: 24-login
current_phase: execution
current_task: 15
next_action: execute-project
files_to_load:
  - 01-planning/overview.md
  - steps.md
  - 03-working/code.py
---
MARK-RESUME
"""


def prepared(made: SimulatedProject) -> SimulatedProject:
    made.write(RESUME, HEAD)
    made.write(f"{HOME}/01-planning/overview.md", "MARK-OVERVIEW\n")
    made.write(f"{HOME}/01-planning/steps.md", "MARK-STEPS\n")
    made.write(f"{HOME}/03-working/code.py", "MARK-CODE = 1\n")
    made.write("02-projects/25-other/01-planning/_resume.md", HEAD.replace("MARK", "OTHER"))
    made.sim.start()
    return made


def note(box: SimulatedProject) -> dict[str, Any]:
    found = FileStore(str(box.state_folder)).noted((box.sim.session, "main"), "resume")
    assert found is not None
    return found


def work(box: SimulatedProject) -> None:
    box.sim.read(f"{HOME}/01-planning/steps.md")
    box.sim.batch(
        ("Edit", {"file_path": str(box.project / HOME / "03-working/code.py"), "old_string": "a", "new_string": "b"})
    )
    box.sim.batch(("Bash", {"command": "make"}))


def mode(box: SimulatedProject) -> dict[str, Any]:
    """What came of the resume gate; the agent is told once, and only if there is something to resume."""
    found: dict[str, Any] = box.state()["flags"]["resume_mode"]
    lines = [line for line in box.seen().splitlines() if line.startswith("resume_mode: ")]
    told = found["active"] or "error" in found
    assert [json.loads(line.partition(": ")[2]) for line in lines] == ([found] if told else []), lines
    return found
