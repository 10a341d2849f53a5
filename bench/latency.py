"""The time that hooks add between two requests of the real client, measured at the model.

This is wall time on a shared machine. The variants take turns, and only medians and ratios are
meaningful.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jq_hook
from handbill.lab.live_client import Client, Reply, Script, call
from report import Report
from subject import ROOT, Subject

VERSION = "2.1.325"
BINARY = ROOT / ".cache" / "clients" / VERSION / "node_modules" / ".bin" / "claude"
CALLS, ROUNDS = 30, 3
# Calls that are not counted: the client's first calls are slower, and our hooks deliver text then.
WARM_UP = 2


class SimulatedProject:
    """A project for each run of the client, with its own home folder."""

    def __init__(self, folder: Path, subject: Subject) -> None:
        self.folder = folder
        self.subject = subject
        self.project = folder / "project"
        self.home = folder / "home"
        (self.project / "pkg" / ".directives").mkdir(parents=True)
        self.temporary = folder / "tmp"
        self.home.mkdir()
        self.temporary.mkdir(mode=0o700)
        (self.project / "pkg" / ".directives" / "AGENTS.md").write_text("# Package\n\nKeep it small.\n")
        for number in range(CALLS + WARM_UP):
            self.file(number).write_text(f"number = {number}\n" * 20)
        subprocess.run(["git", "init", "-q", str(self.project)], check=True, env=self.environment())

    def environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8"}

    def file(self, number: int) -> Path:
        """Return a new file for each call: the client does not read the same text twice."""
        return self.project / "pkg" / f"module_{number:02d}.py"

    def register(self, command: str, *events: str) -> None:
        one = {"hooks": [{"type": "command", "command": command, "args": []}]}
        settings = self.project / ".claude" / "settings.json"
        settings.parent.mkdir()
        settings.write_text(json.dumps({"hooks": {event: [one] for event in events}}))

    def gaps(self) -> list[float]:
        """Return the milliseconds from each answer of the model to the request that follows it."""
        steps: list[Any] = [Reply([call("Read", file_path=str(self.file(n)))]) for n in range(CALLS + WARM_UP)]
        places = dict.fromkeys(("TMPDIR", "CLAUDE_CODE_TMPDIR", "XDG_RUNTIME_DIR"), str(self.temporary))
        client = Client(str(BINARY), str(self.project), str(self.home), extra=places)
        try:
            run = client.run("go", Script([*steps, "done"]))
        finally:
            client.model.close()
        requests = run.of()
        if run.exit_code or len(requests) != len(steps) + 1:
            raise RuntimeError(f"the client: exit {run.exit_code}, {len(requests)} requests\n{run.stdout}{run.stderr}")
        for number, step in enumerate(steps):
            if f"number = {number}\n" not in requests[number + 1].text:
                raise RuntimeError(f"the client did not read {step.blocks[0]['input']}")
        found = [(after.received - before.answered) * 1000 for before, after in zip(requests, requests[1:])]
        return found[WARM_UP:]


def no_hooks(box: SimulatedProject) -> None:
    """Measure the client alone, as the lower limit."""


def bin_true(box: SimulatedProject) -> None:
    box.register("/bin/true", "PostToolBatch")


def ours(box: SimulatedProject) -> None:
    # Name the interpreter: the choice of the fastest one is timed, and would vary on a busy
    # machine.
    arguments = ("install", "--project", str(box.project), "--python", box.subject.python)
    box.subject.engine(*arguments, env=box.environment(), cwd=str(box.project))


def gated(box: SimulatedProject) -> None:
    """Measure a project with a role, so that a hook also runs before every call."""
    (box.project / ".handbill.toml").write_text('[roles.lead]\ntargets = ["lead.md"]\n')
    ours(box)


def bash_jq(box: SimulatedProject) -> None:
    box.register(jq_hook.written(box.folder), "PreToolUse", "PostToolUse")


@dataclass
class Variant:
    name: str
    prepare: Callable[[SimulatedProject], None]
    trace: str = ""  # what its hooks leave behind if the client really runs them
    rounds: list[list[float]] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(gap for one in self.rounds for gap in one)


def measure(root: Path, subject: Subject) -> Report:
    report = Report(
        f"Milliseconds between two requests (Claude Code {VERSION}, one Read per request)",
        "claude -p go --output-format json --dangerously-skip-permissions (against handbill.lab.live_client.Model)",
        ("hooks", "median ms|r", "added ms|r", "x none|r", "medians of the rounds|r"),
    )
    if not BINARY.exists():
        report.notes.append(f"skipped: Claude Code {VERSION} is not installed (make clients)")
        return report
    variants = [
        Variant("none", no_hooks),
        Variant("/bin/true on PostToolBatch", bin_true),
        Variant("Handbill (engine install)", ours, "home/.local/state/handbill/*/.windows/*.jsonl"),
        Variant("Handbill, where gates may hold every call", gated, "home/.local/state/handbill/*/.windows/*.jsonl"),
    ]
    if jq_hook.available():
        variants.append(Variant(f"{jq_hook.name()}, on PreToolUse and PostToolUse", bash_jq, "*.json"))
    else:
        report.notes.append(jq_hook.MISSING)
    for turn in range(ROUNDS):
        for variant in variants[turn:] + variants[:turn]:
            variant.rounds.append(_one(root / "box", subject, variant))
    floor = variants[0].median
    for variant in variants:
        medians = ", ".join(f"{statistics.median(one):.0f}" for one in variant.rounds)
        report.add(variant.name, variant.median, variant.median - floor, variant.median / floor, medians)
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    report.notes.append(f"{ROUNDS} interleaved rounds of {CALLS} calls; Handbill on {subject.python}")
    report.notes.append(f"{os.cpu_count()} cores, load average {load} at the end")
    return report


def _one(folder: Path, subject: Subject, variant: Variant) -> list[float]:
    folder.mkdir()
    try:
        box = SimulatedProject(folder, subject)
        variant.prepare(box)
        gaps = box.gaps()
        if variant.trace and not list(folder.glob(variant.trace)):
            raise RuntimeError(f"{variant.name}: its hooks did not run")
        return gaps
    finally:
        shutil.rmtree(folder, ignore_errors=True)
