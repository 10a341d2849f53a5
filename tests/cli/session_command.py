"""A project with a skill of three phases, and `engine session` as a process of its own."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from engine_server import run_engine

PHASES = [
    {"label": "0", "name": "Setup", "steps": ["§CMD_LOOK"], "commands": ["§CMD_LOG"], "proof": ["depth"]},
    {"label": "1", "name": "Work", "steps": ["§CMD_WORK", "§CMD_NOWHERE"], "gate": False, "invariants": ["§INV_X"]},
    {"label": "2", "name": "End", "proof": ["§CMD_LOOK"]},
]
LOOK = """# CMD_LOOK
## PROOF FOR §CMD_LOOK
```json
{"type": "object", "required": ["seen"], "properties": {"seen": {"type": "boolean", "description": "was it seen"}}}
```
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".claude/skills/work").mkdir(parents=True)
    block = json.dumps({"phases": PHASES, "nextSkills": ["rest", "do"]})
    (folder / ".claude/skills/work/SKILL.md").write_text(f"# W\n### Session Parameters\n```json\n{block}\n```\n")
    (folder / ".directives/commands").mkdir(parents=True)
    (folder / ".directives/commands/CMD_LOOK.md").write_text(LOOK)
    (folder / ".directives/commands/CMD_WORK.md").write_text("# CMD_WORK\n")
    return folder


def session(project: Path, *words: str, stdin: str | None = "", expect: int = 0, **environ: str) -> str:
    done = run_engine(("session", *words), cwd=project, environ={**os.environ, **environ}, stdin=stdin)
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stdout + done.stderr


def state(project: Path, name: str = "S") -> dict[str, object]:
    found: dict[str, object] = json.loads((project / f"sessions/{name}/.state.json").read_text())
    return found


PROOF = '{"depth": "deep", "seen": false}'
