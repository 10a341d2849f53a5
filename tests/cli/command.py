"""`engine` with an answer in JSON, and what it should answer."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from engine_server import run_engine
from handbill.settings import state_roots


def state_of(project: Path) -> Path:
    return Path(state_roots(str(project), os.environ)[0])


def run(*arguments: str, cwd: Path | None = None, **environ: str) -> subprocess.CompletedProcess[str]:
    return run_engine(arguments, cwd=cwd, environ={**os.environ, **environ})


def engine(*arguments: str, expect: int = 0, cwd: Path | None = None, **environ: str) -> dict[str, Any]:
    done = run(*arguments, "--json", cwd=cwd, **environ)
    assert done.returncode == expect, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    answer: dict[str, Any] = json.loads(done.stdout)
    assert answer["handbill"] == 1 and answer["verb"].split()[0] == arguments[0]
    assert answer["ok"] is (expect == 0)
    return answer
