"""The sample project for the session of `engine demo`, on the simulator or the real client."""

from __future__ import annotations

import os
import subprocess
import sys

from handbill.paths import PACKAGE

SOURCES = os.path.dirname(PACKAGE)

BIG = 35_000  # characters: more than the host's cap, so it is delivered in parts

_FILES = {
    "README.md": "# Orchard\n\nA shop with an API and a worker.\n",
    ".context/CONSTITUTION.md": "# Constitution\n\nNever push to main. Never log a card number.\n",
    ".context/TASKS.md": "# Tasks\n\n- [ ] the cart loses its last item\n",
    ".directives/INVARIANTS.md": "# Invariants\n\n- Money is counted in cents.\n- Migrations can be undone.\n",
    "api/.directives/AGENTS.md": "# api\n\nHandlers are thin: parse, call the service, render. No SQL here.\n",
    "api/.directives/TESTING.md": "# Testing the api\n\nOne contract test per route.\n",
    "api/orders.py": "def create(order):\n    ...\n",
    "api/carts/.directives/AGENTS.md": "# carts\n\nA cart belongs to one session; merging two is in merge.py.\n",
    "api/carts/merge.py": "def merge(a, b):\n    ...\n",
    "worker/.directives/AGENTS.md": "# worker\n\nJobs are idempotent: each may run twice.\n",
    "worker/jobs.py": "def charge(order):\n    ...\n",
    "reports/year.py": "def year():\n    ...\n",
}


def make(project: str) -> None:
    lines: list[str] = []
    while sum(len(line) for line in lines) < BIG:
        lines.append(
            f"- Rule {len(lines) + 1}: the report counts what was paid, not what was ordered, in every column.\n"
        )
    files = {**_FILES, "reports/.directives/ARCHITECTURE.md": "# reports: architecture\n\n" + "".join(lines)}
    for name, text in files.items():
        path = os.path.join(project, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def install(project: str, environ: dict[str, str]) -> str:
    """Install the sample with a real `engine install` process. Return the settings file.

    The demo thus shows what a user gets.
    """
    make(project)
    for words in (["install"], ["skills", "fix", "--copy"]):
        run_engine([*words, "--project", project, "--json"], environ, "/")
    return os.path.join(project, ".claude", "settings.local.json")


def run_engine(words: list[str], environ: dict[str, str], folder: str, stdin: str = "") -> str:
    command = [sys.executable, "-P", "-m", "handbill.cli.main", *words]
    environ = {**environ, "PYTHONPATH": SOURCES}
    done = subprocess.run(command, env=environ, cwd=folder, input=stdin, capture_output=True, text=True, check=True)
    return done.stdout


def size_of(path: str) -> int:
    try:
        with open(path, encoding="utf-8") as file:
            return len(file.read())
    except OSError:
        return 0
