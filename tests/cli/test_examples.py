"""The examples of the help texts work: all of them, in a shell, in one project."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import run

from handbill.cli.commands import commands_of
from handbill.cli.verb_table import VERBS
from handbill.lab import demo_project
from handbill.lab.simulator import Simulator, direct_hooks

# in this order; before and after all others
FIRST = ("engine install", "engine record", "engine session")
LAST = (
    "engine worker", "engine session dehydrate", "engine session idle", "engine session deactivate",
    "engine prune --days", "engine uninstall",
)  # fmt: skip
# what an example answers when it has found something, or when there is nothing
MAY_FAIL = {
    "engine session check 2026_01_31_LOGIN": "open  ",
    "engine check --strict --quiet": "is delivered in 4 parts",
}
NOT_HERE = ("engine demo",)  # a test of its own plays it; --live needs a client


def place(example: str) -> tuple[int, int]:
    """Examples of one verb stay in their order."""
    command = example.rpartition("| ")[2]
    first = next((number for number, start in enumerate(FIRST) if command.startswith(start)), len(FIRST))
    last = next((number for number, start in enumerate(LAST, 1) if command.startswith(start)), 0)
    return (len(FIRST) + last, 0) if last else (first, 0)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "orchard"
    demo_project.make(str(folder))
    (folder / ".git").mkdir()
    (folder / "02-projects/shop/01-planning").mkdir(parents=True)
    (folder / "02-projects/shop/overview.md").write_text("# Shop\n")
    environ = {"HOME": os.environ["HOME"], "CLAUDE_PROJECT_DIR": str(folder), "CLAUDE_PID": "1",
               "AI_AGENT": "claude-code_2-1-325_x"}  # fmt: skip
    sim = Simulator(str(folder), str(tmp_path / "transcripts"), direct_hooks(environ), session="example-session")
    sim.start()
    sim.prompt("go")
    sim.read("api/orders.py")
    sim.compact()
    sim.read("worker/jobs.py")
    return folder


@pytest.mark.once
def test_every_example_works(project: Path, tmp_path: Path) -> None:
    bin = tmp_path / "bin"
    bin.mkdir()
    (bin / "engine").write_text(f'#!/bin/sh\nexec {sys.executable} -m handbill.cli.main "$@"\n')
    (bin / "engine").chmod(0o755)
    environ = {**os.environ, "PATH": f"{bin}:{os.environ['PATH']}", "CLAUDE_CODE_SESSION_ID": "example-session"}
    examples = [one for verb in VERBS for command in commands_of(verb).values() for one in command.examples]
    examples = [one for one in sorted(examples, key=place) if not one.startswith(NOT_HERE)]
    assert len(examples) > 60
    for example in examples:
        done = subprocess.run(
            ["sh", "-c", example], cwd=project, env=environ, capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.stderr == "", (example, done.stderr)
        assert done.returncode == 0 or MAY_FAIL.get(example, "\0") in done.stdout, (example, done.stdout)


def test_examples_in_the_reference_are_those_of_the_help() -> None:
    reference = (Path(__file__).parents[2] / "docs/cli.md").read_text()
    for verb in VERBS:
        for command in commands_of(verb).values():
            assert "\n".join(command.examples) in reference
            assert f"example: {command.examples[0]}" in run(*command.name.split(), "--help").stdout
