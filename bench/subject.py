"""The measured program: a compiled copy of the package, on the interpreter for its hooks.

`engine install` would register this interpreter. Only temporary folders may be written, so the
package is copied. This also keeps the version fixed while somebody edits the source.
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
from handbill.cli.launcher import Launcher
from handbill.cli.needed_hooks import yaml_folder
from handbill.hosts.claude_code.registration import handlers

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
LANES = 2


@dataclass(frozen=True)
class Subject:
    python: str
    folder: str  # contains the package
    launcher: str

    def command(self, event: str) -> list[str]:
        """Return the command line that the client starts for this event."""
        registered: Mapping[str, Any] = handlers([self.launcher], LANES, every=True)[event][0]
        return [registered["command"], *registered["args"]]

    def engine(self, *arguments: str, env: Mapping[str, str], cwd: str) -> None:
        """Run the copy's own `engine`, so that it registers and compiles the copy."""
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
    return Subject(python, str(folder), _launcher(root, python, str(folder)))


def _launcher(root: Path, python: str, folder: str) -> str:
    """Write the launcher as installed, but without the time limit.

    Under valgrind, everything takes fifty times as long.
    """
    unlimited = "import handbill.flow.event_context;handbill.flow.event_context.MOST_SECONDS=0\nmain()"
    made = root / "handbill.hook-bench"
    made.write_text(Launcher(python, folder, yaml_folder()).text.replace("main()", unlimited))
    made.chmod(0o700)
    return str(made)
