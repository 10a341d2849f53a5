"""Many hook processes on one window at once: every file arrives, and none twice."""

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
SIZE = 2000  # eight such files are more than one hook may say, so some have to wait for another event
STARTED = 1.0  # seconds until all interpreters wait for their event
DRAINS = 10


def same_batch(project: Project) -> tuple[list[str], list[Event]]:
    """The same event for everybody (as if the hooks were registered many times), wanting 8 directives."""
    names = [f"part_{number}" for number in range(8)]
    paths = [project.directive(name, "AGENTS.md", SIZE) for name in names]
    event = project.reading(*(f"{name}/x.py" for name in names))
    return paths, [event] * PROCESSES


def different_batches(project: Project) -> tuple[list[str], list[Event]]:
    """One batch per process, each in a directory of its own."""
    names = [f"part_{number}" for number in range(PROCESSES)]
    paths = [project.directive(name, "AGENTS.md", SIZE) for name in names]
    return paths, [project.reading(f"{name}/x.py") for name in names]


def storm(project: Project, events: list[Event]) -> tuple[list[str], float]:
    """What each process answers, and the seconds until all have; they get their events within the same moment."""
    processes = [project.start(event) for event in events]
    time.sleep(STARTED)
    begin = time.monotonic()
    for process, event in zip(processes, events):
        assert process.stdin is not None
        process.stdin.write(json.dumps(event))  # less than a pipe holds: this never waits
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
    """What is delivered while the conversation goes on, until nothing waits and everything is proven.

    Every directory is touched again: what one process wrote over another's record would come a second time.
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
