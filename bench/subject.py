"""What is measured: a compiled copy of the package, on the interpreter that `engine install` would register.

A copy, because nothing outside temporary folders may be written, and because one run must measure one version
even while somebody edits the source.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handbill.cli.interpreter import choose
from handbill.hosts.claude_code.registration import handlers

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
LANES = 2


@dataclass(frozen=True)
class Subject:
    python: str
    folder: str  # the one that holds the package

    def command(self, event: str) -> list[str]:
        """The command line that the client starts for this event."""
        registered: Mapping[str, Any] = handlers(self.python, self.folder, LANES, every=True)[event][0]
        # under valgrind everything takes fifty times as long: without the limit, nothing is left out
        unlimited = "import handbill.flow.event_context;handbill.flow.event_context.MOST_SECONDS=0\nmain()"
        return [registered["command"], *(word.replace("main()", unlimited) for word in registered["args"])]

    def engine(self, *arguments: str, env: Mapping[str, str], cwd: str) -> None:
        """The copy's own `engine`, so that it registers and compiles the copy."""
        command: Sequence[str] = [str(ROOT / ".venv" / "bin" / "python"), "-m", "handbill.cli.main", *arguments]
        done = subprocess.run(
            command, env={**env, "PYTHONPATH": self.folder}, cwd=cwd, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"engine {' '.join(arguments)}: exit {done.returncode}\n{done.stdout}{done.stderr}")


def prepared(root: Path, source: Path = SOURCE) -> Subject:
    folder = root / "package"
    shutil.copytree(source / "handbill", folder / "handbill", ignore=shutil.ignore_patterns("__pycache__"))
    python = choose(None, "", "/nonexistent").path
    subprocess.run(
        [python, "-I", "-m", "compileall", "-q", str(folder / "handbill")],
        check=True, env={"PATH": os.environ["PATH"], "HOME": str(root)},
    )  # fmt: skip
    return Subject(python, str(folder))
