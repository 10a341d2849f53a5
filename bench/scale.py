"""Measures the same events in a large project: they may cost little more than in a small one."""

from __future__ import annotations

import json
import os
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path

import callgrind
import records
from project import Project
from report import Report
from stages import DELIVER, IDLE, PROMPT, Stage, counted
from subject import Subject

LIMIT = 1.2
ROUNDS = 3
SESSIONS, FILES = 10_000, 500
TRANSCRIPT, LOG = 50_000_000, 100_000_000


def many_sessions(project: Project) -> None:
    """Add a folder and a window for each of many earlier sessions."""
    sessions, windows = project.path / "sessions", project.window.parent
    sessions.mkdir()
    text = project.window.read_text(encoding="utf-8")
    for number in range(SESSIONS):
        (sessions / f"2026_01_01_SESSION_{number:05d}").mkdir()
        (windows / f"earlier-{number:05d}.jsonl").write_text(text, encoding="utf-8")


def many_files(project: Project) -> None:
    """Add a delivered directive in each of many folders to this window."""
    ledger = project.ledger
    record = ledger["files"][-1]
    for number in range(FILES):
        folder = f"{project.path}/packages/package_{number:03d}"
        path = project.directive(f"packages/package_{number:03d}", "AGENTS.md")
        status = os.stat(path)
        ledger["touched"].append({"dir": folder, "found": ["AGENTS.md"]})
        ledger["files"].append({
            **record, "path": path, "inode": f"{status.st_dev}:{status.st_ino}", "hash": f"{number:08x}",
            "reason": f"directive of {folder}", "stamp": f"{status.st_mtime_ns}:{status.st_size}",
        })  # fmt: skip
    project.ledger = ledger


def long_transcript(project: Project) -> None:
    """Make the transcript long, and let one event read the new part.

    Reading it is a one-time cost, whatever its size.
    """
    records.fill(project.transcript, project.session, TRANSCRIPT)
    project.hook(project.reading("README.md"))


def long_log(project: Project) -> None:
    line = {
        "ts": 1794777606.171, "host": "claude-code", "window": f"{project.session}.main",
        "handler": "tool_batch_finished", "event": "claim-deliver", "file": f"{project.path}/pkg/.directives/AGENTS.md",
        "source": f"directive of {project.path}/pkg", "chars": 1000,
    }  # fmt: skip
    block = (json.dumps(line) + "\n") * 1000
    path = project.state_folder / ".engine" / "deliveries.jsonl"
    with path.open("a", encoding="utf-8") as file:
        for _ in range(LOG // len(block) + 1):
            file.write(block)


def all_of_it(project: Project) -> None:
    for grow in (many_sessions, many_files, long_transcript, long_log):
        grow(project)


CASES: dict[str, Callable[[Project], None] | None] = {
    "small": None,
    f"{SESSIONS:,} session folders and {SESSIONS:,} windows": many_sessions,
    f"a window with {FILES} delivered files": many_files,
    f"a transcript of {TRANSCRIPT // 1_000_000} MB": long_transcript,
    f"a delivery log of {LOG // 1_000_000} MB": long_log,
    "all of it": all_of_it,
}


def measure(root: Path, subject: Subject) -> Report:
    report = Report(
        "Instructions per event in a large project",
        f"{' '.join(callgrind.COMMAND)} LAUNCHER claude-code < event.json",
        ("project", "event", "M instructions|r", "x small|r", "limit"),
    )
    if not callgrind.available():
        report.notes.append(callgrind.MISSING)
        return report
    for stage in (IDLE, DELIVER, PROMPT):
        small = 0.0
        for name, grow in CASES.items():
            count = _median(stage, root, subject, grow)
            small = small or count
            held = report.hold(f"{name}, {stage.name}", count / small, LIMIT if grow else None)
            report.add(name, stage.name, count / 1e6, count / small, held)
    report.notes.append(f"median of {ROUNDS} runs, each in a project of its own")
    return report


def _median(stage: Stage, root: Path, subject: Subject, grow: Callable[[Project], None] | None) -> float:
    counts = []
    for _ in range(ROUNDS):
        # Each project is removed at once, because together they would take gigabytes.
        with tempfile.TemporaryDirectory(dir=root) as folder:
            counts.append(counted(stage, Project(Path(folder), subject), grow))
    return statistics.median(counts)
