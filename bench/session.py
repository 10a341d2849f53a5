"""`engine session phase` with proof: the cost of moving to a phase in the agent's shell."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import time
from pathlib import Path

from project import Project
from report import Report
from subject import ROOT, Subject

ROUNDS = 15
# Recorded for the same command on the bash engine that the source documents describe.
REFERENCE_WALL, REFERENCE_CPU = 533.0, 562.0
LIMIT = 1 / 5
PROOF = '{"contextRead": ["a.py"]}'


def measure(root: Path, subject: Subject) -> Report:
    report = Report(
        "A phase with proof", "engine session phase NAME 1 < proof.json",
        ("command", "wall ms|r", "CPU ms|r", "of the reference|r", "limit"),
    )  # fmt: skip
    project = Project(root / "phase", subject)
    found = [_once(project, subject, f"S{number}") for number in range(ROUNDS)]
    wall, cpu = (statistics.median(values) for values in zip(*found))
    bare = [
        _timed([str(ROOT / ".venv" / "bin" / "python"), "-c", "import argparse"], project, subject, "")
        for _ in range(ROUNDS)
    ]
    report.add("bash engine (recorded figures)", REFERENCE_WALL, REFERENCE_CPU, 1.0, "–")
    ratio = cpu / REFERENCE_CPU
    report.add("engine session phase", wall, cpu, ratio, report.hold("engine session phase", ratio, LIMIT))
    report.add("python3 -c 'import argparse'", *(statistics.median(values) for values in zip(*bare)), None, "–")
    report.notes.append(f"median of {ROUNDS} runs; CPU of user and system; load {os.getloadavg()[0]:.1f}")
    return report


def _once(project: Project, subject: Subject, name: str) -> tuple[float, float]:
    engine = [str(ROOT / ".venv" / "bin" / "python"), "-m", "handbill.cli.main", "session"]
    _timed([*engine, "activate", name, "implement"], project, subject, "")
    return _timed([*engine, "phase", name, "1: Interrogation"], project, subject, PROOF)


def _timed(command: list[str], project: Project, subject: Subject, stdin: str) -> tuple[float, float]:
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        command, input=stdin, env={**project.environment(), "PYTHONPATH": subject.folder}, cwd=project.path,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall * 1000, cpu * 1000
