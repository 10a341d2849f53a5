"""Counts user-space instructions of a process, which do not depend on how busy the machine is."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence

COMMAND = ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null")
MISSING = "skipped: valgrind is not installed"


def available() -> bool:
    return shutil.which("valgrind") is not None


def count(
    command: Sequence[str], stdin: str, env: Mapping[str, str], cwd: str, *, children: bool = False
) -> tuple[int, str]:
    """Return (instructions, stdout). `children` includes every program that the process starts."""
    extra = ["--trace-children=yes"] if children else []
    done = subprocess.run(
        [*COMMAND, *extra, *command], input=stdin, env=dict(env), cwd=cwd, capture_output=True, text=True, check=False
    )
    counts = [int(line.rpartition(":")[2]) for line in done.stderr.splitlines() if "Collected :" in line]
    if done.returncode or not counts:
        raise RuntimeError(f"{command[0]} under valgrind: exit {done.returncode}\n{done.stderr[-2000:]}")
    return sum(counts), done.stdout
