"""Chooses the interpreter for hooks: the cheapest suitable one that is not a shim or in a venv."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from dataclasses import dataclass

from handbill.cli.trust import environment, find_program, is_inside, search_path
from handbill.errors import HandbillError

_PROBE = (
    "import sys, os, posix, fcntl, _json, time\n"
    "assert os.path.isfile(os.__file__)\n"  # hooks cannot import a standard library from a zip file
    "print(sys.version_info[0], sys.version_info[1], getattr(sys, '_base_executable', '') or sys.executable)"
)
ROUNDS = 15


@dataclass
class Interpreter:
    path: str
    version: tuple[int, int]
    cost: float  # CPU seconds of a bare start


def candidates(project: str) -> list[str]:
    names = ["python3", *(f"python3.{minor}" for minor in range(11, 20))]
    found = [sys._base_executable or sys.executable]  # type: ignore[attr-defined]
    for folder in [*search_path(project), "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]:
        found += [path for name in names if (path := shutil.which(name, path=folder)) and not is_inside(path, project)]
    return list(dict.fromkeys(found))


def probe(path: str, project: str) -> Interpreter | None:
    """Return the interpreter behind a name (a pyenv shim, a venv's link); None if unsuitable."""
    try:
        done = subprocess.run(
            [path, "-I", "-c", _PROBE], capture_output=True, text=True, timeout=20, check=False, cwd="/",
            env=environment(project),
        )  # fmt: skip
        major, minor, base = done.stdout.strip().split(" ", 2)
        real = os.path.realpath(base)
        version = int(major), int(minor)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    if version < (3, 11) or not os.access(real, os.X_OK):
        return None
    return Interpreter(real, version, float("inf"))


def measure(path: str) -> float:
    """Return the CPU time of one bare start. Wall time would depend on how busy the machine is."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([path, "-I", "-S", "-c", "pass"], check=True, stdin=subprocess.DEVNULL, cwd="/")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def choose(wanted: str | None, used: str, project: str) -> Interpreter:
    """Choose an interpreter: the one that the person names, then `used`, then the cheapest.

    `used` is the one that an installation of this user chose.
    """
    if not wanted and used and (found := probe(used, project)) is not None and found.path == used:
        return found
    if wanted:
        found = probe(os.path.abspath(wanted) if os.sep in wanted else find_program(wanted, project) or wanted, project)
        if found is None:
            raise HandbillError(f"{wanted} is not Python 3.11 or newer", "name another one with --python")
        return found
    usable: dict[str, Interpreter] = {}
    for path in candidates(project):
        found = probe(path, project)
        if found is not None:
            usable.setdefault(found.path, found)
    if not usable:
        raise HandbillError("no Python 3.11 or newer was found", "install one, or name it with --python")
    for _ in range(ROUNDS):  # alternate, so that a busy moment affects all of them
        for one in usable.values():
            one.cost = min(one.cost, measure(one.path))
    return min(usable.values(), key=lambda one: one.cost)
