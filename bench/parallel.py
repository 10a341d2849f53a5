"""Runs many hook processes on one window at once: every file must arrive exactly once."""

from __future__ import annotations

import json
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from project import TITLE, Event, Project, context
from report import Report
from stages import ready
from subject import Subject

PROCESSES, REPEATS = 32, 5
SIZE = 2000  # eight such files are too large for one hook, so some wait for another event
STARTED = 1.0  # seconds until all interpreters wait for their event
DRAINS = 10


def same_batch(project: Project) -> tuple[list[str], list[Event]]:
    """Return the same event for every process, each of which wants 8 directives.

    This corresponds to hooks that are registered many times.
    """
    names = [f"part_{number}" for number in range(8)]
    paths = [project.directive(name, "AGENTS.md", SIZE) for name in names]
    event = project.reading(*(f"{name}/x.py" for name in names))
    return paths, [event] * PROCESSES


def different_batches(project: Project) -> tuple[list[str], list[Event]]:
    """Return one batch for each process, each in its own directory."""
    names = [f"part_{number}" for number in range(PROCESSES)]
    paths = [project.directive(name, "AGENTS.md", SIZE) for name in names]
    return paths, [project.reading(f"{name}/x.py") for name in names]


def storm(project: Project, events: list[Event]) -> tuple[list[str], float]:
    """Return the answer of each process, and the seconds until all have answered.

    All processes get their events at nearly the same moment.
    """
    processes = [project.start(event) for event in events]
    time.sleep(STARTED)
    begin = time.monotonic()
    for process, event in zip(processes, events):
        assert process.stdin is not None
        process.stdin.write(json.dumps(event))  # less than a pipe holds, so this never blocks
        process.stdin.close()
        process.stdin = None
    answers = [context(_ended(process)) for process in processes]
    return answers, time.monotonic() - begin


def _ended(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=60)
    if process.returncode or err:
        raise RuntimeError(f"a hook ended with {process.returncode}: {err}")
    return out


def drain(project: Project, answers: list[str], events: list[Event]) -> list[str]:
    """Return the deliveries until nothing waits and everything is proven.

    Every directory is touched again: if one process overwrote another's record, a file would be
    delivered a second time.
    """
    for event, text in zip(events, answers):
        project.arrive(event, text)
    names = {call["tool_input"]["file_path"]: None for event in events for call in event["tool_calls"]}
    later: list[str] = []
    for _ in range(DRAINS):
        later.append(project.deliver(project.reading(*names)))
        ledger = project.ledger
        if not ledger["pendingPreloads"] and not ledger["openClaims"]:
            break
    return later


def measure(root: Path, subject: Subject) -> Report:
    report = Report(
        f"{PROCESSES} hook processes at once on one window",
        f"LAUNCHER claude-code < event.json ({PROCESSES} of them)",
        ("events", "repeats|r", "files|r", "once|r", "lost|r", "twice|r", "errors|r", "by later events|r", "seconds|r"),
    )
    rounds = {
        "the same batch for all, wants 8 directives": same_batch,
        "32 batches in 32 directories": different_batches,
    }
    for number, (name, make) in enumerate(rounds.items()):
        total: Counter[str] = Counter()
        slowest = 0.0
        for turn in range(REPEATS):
            found, seconds = _one(Project(root / f"{number}-{turn}", subject), make)
            total += found
            slowest = max(slowest, seconds)
        for fault in ("lost", "twice", "errors"):
            if total[fault]:
                report.failures.append(f"{name}: {total[fault]} {fault}")
        counts = [total[key] for key in ("files", "once", "lost", "twice", "errors", "later")]
        report.add(name, REPEATS, *counts, slowest)
    report.notes.append(
        "copies are counted in what the processes print; seconds: from the event to the last answer, slowest"
    )
    return report


def _one(project: Project, make: Callable[[Project], tuple[list[str], list[Event]]]) -> tuple[Counter[str], float]:
    ready(project)
    paths, events = make(project)
    answers, seconds = storm(project, events)
    later = drain(project, answers, events)
    copies = [_copies(path, answers + later) for path in paths]
    found = Counter(
        files=len(paths),
        once=copies.count(1),
        lost=copies.count(0),
        twice=sum(count > 1 for count in copies),
        errors=len(project.errors()),
        later=sum(_copies(path, later) for path in paths),
    )
    return found, seconds


def _copies(path: str, texts: list[str]) -> int:
    return sum(text.count(f"{TITLE}{path} ") for text in texts)
