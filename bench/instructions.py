"""Instructions of one hook process, as a ratio to a bare start of the same interpreter."""

from __future__ import annotations

import json
import statistics
from pathlib import Path

import callgrind
import jq_hook
from project import Project
from report import Report
from stages import AGAIN, BEFORE, CALL, DELIVER, IDLE, LOAD, PROMPT, REST, SETTLE, SKILL, START, WRITE, counted, idle
from subject import Subject

# Counts differ by tenths of a percent, because string hashes are random in every process.
ROUNDS = 3


def measure(root: Path, subject: Subject) -> Report:
    report = Report(
        "Instructions per event",
        f"{' '.join(callgrind.COMMAND)} LAUNCHER claude-code < event.json",
        ("event", "M instructions|r", "x bare start|r", "limit"),
    )
    if not callgrind.available():
        report.notes.append(callgrind.MISSING)
        return report
    floor = bare(root / "bare", subject)
    report.add(f"{subject.python} -I -S -c pass", floor / 1e6, 1.0, "–")
    for number, stage in enumerate(
        (IDLE, CALL, REST, DELIVER, START, LOAD, BEFORE, AGAIN, SKILL, PROMPT, WRITE, SETTLE)
    ):
        counts = [counted(stage, Project(root / f"{number}-{turn}", subject)) for turn in range(ROUNDS)]
        count = statistics.median(counts)
        report.add(stage.name, count / 1e6, count / floor, report.hold(stage.name, count / floor, stage.limit))
    _compare(report, root / "jq", subject, floor)
    report.notes.append(f"median of {ROUNDS} runs, each in a project of its own")
    return report


def bare(folder: Path, subject: Subject) -> float:
    project = Project(folder, subject)
    command = [subject.python, "-I", "-S", "-c", "pass"]
    found = [callgrind.count(command, "", project.environment(), str(project.path)) for _ in range(ROUNDS)]
    return statistics.median(count for count, _ in found)


def _compare(report: Report, folder: Path, subject: Subject, floor: float) -> None:
    if not jq_hook.available():
        report.notes.append(jq_hook.MISSING)
        return
    project = Project(folder, subject)
    event = json.dumps(idle(project))
    script = jq_hook.written(folder)
    count, _ = callgrind.count(["bash", script], event, project.environment(), str(folder), children=True)
    report.add(f"e  {jq_hook.name()}, nothing to do", count / 1e6, count / floor, "–")
