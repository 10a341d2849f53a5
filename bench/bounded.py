"""Events in a deliberately slow project: each must end within a second, and nothing may be lost."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from handbill.lab.simulator import Simulator, direct_hooks
from report import Report
from subject import Subject

LIMIT = 1.0  # seconds of CPU
SECONDS: list[float] = []  # one value for each event
REFERENCES, PATTERNS, DIRECTIVES = 1 << 20, 2_000, 10_000


def measure(folder: Path, measured: Subject) -> Report:
    report = Report(
        "bounded", "hooks in one process, files on disk", ("project", "events|r", "slowest|r", "delivered|r", "")
    )
    plays = {
        "a page of references, 1 MiB": _references,
        f"{PATTERNS:,} glob patterns in a role": _patterns,
        f"{DIRECTIVES:,} directories with rules, in one message": _directives,
        "a command of 4 MiB without a space": _command,
    }
    for number, (name, play) in enumerate(plays.items()):
        delivered, wanted = play(folder / str(number))
        slowest = max(SECONDS)
        report.add(
            name,
            len(SECONDS),
            f"{slowest:.2f} s",
            delivered,
            f"≤ {LIMIT:g} s {'ok' if slowest <= LIMIT else 'EXCEEDED'}",
        )
        if slowest > LIMIT:
            report.failures.append(f"{name}: {slowest:.2f} s, the limit is {LIMIT:g} s")
        if delivered < wanted:
            report.failures.append(f"{name}: {delivered} of {wanted} files delivered")
    return report


def _project(place: Path, settings: str = "") -> Simulator:
    project = place / "project"
    (project / ".claude").mkdir(parents=True)
    (project / ".handbill.toml").write_text(settings)
    environ = {
        "HOME": str(place / "home"), "CLAUDE_PROJECT_DIR": str(project), "CLAUDE_PID": "1",
        "AI_AGENT": "claude-code_2-1-325_x",
    }  # fmt: skip
    hooks = direct_hooks(environ)

    def timed(name: str, raw: dict[str, Any]) -> list[str]:
        started = time.process_time()
        answers = hooks(name, raw)
        SECONDS.append(time.process_time() - started)
        return answers

    SECONDS.clear()
    return Simulator(str(project), str(place / "transcripts"), timed)


def _write(sim: Simulator, name: str, text: str) -> None:
    path = Path(sim.project) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _delivered(sim: Simulator, part: str) -> int:
    return len({path for path, _, _, _ in sim.copies() if part in path})


def _references(place: Path) -> tuple[int, int]:
    sim = _project(place)
    text = " ".join(f"§CMD_X{number:05d}" for number in range(REFERENCES // 13 - 1))
    _write(sim, "a/.directives/AGENTS.md", text)
    for name in ("CMD_X00007", f"CMD_X{REFERENCES // 13 - 2:05d}"):
        _write(sim, f".directives/commands/{name}.md", f"# {name}\n")
    sim.start()
    for _ in range(150):  # this file itself is large
        sim.read("a/f.py")
    return _delivered(sim, "/commands/CMD_X"), 2


def _patterns(place: Path) -> tuple[int, int]:
    patterns = json.dumps([f"**/*{number}*/**/*.md" for number in range(PATTERNS)], indent=1)
    sim = _project(place, f'[roles.lead]\nmarker = ".lead"\ntargets = {patterns}\n')
    _write(sim, ".lead", "x")
    for number in range(300):
        _write(sim, f"d{number}/x/y/f.md", f"{number}\n")
    sim.start()
    sim.send({"hook_event_name": "PreCompact", "trigger": "auto"})
    sim.compact()
    for _ in range(5):
        sim.read("d1/x/y/f.md")
    return _delivered(sim, "/x/y/f.md"), 1


def _directives(place: Path) -> tuple[int, int]:
    sim = _project(place)
    names = [f"m{number % 100}/n{number}" for number in range(DIRECTIVES)]
    for name in names:
        _write(sim, f"{name}/.directives/AGENTS.md", f"rule of {name}\n")
    sim.start()
    calls = [("Read", {"file_path": f"{sim.project}/{name}/f.py"}) for name in names]
    sim.batch(*calls)
    for _ in range(30):
        sim.batch(("Bash", {"command": "true"}))
    return _delivered(sim, "/.directives/"), 1000


def _command(place: Path) -> tuple[int, int]:
    sim = _project(place)
    _write(sim, "a/.directives/AGENTS.md", "rule of a\n")
    _write(sim, "a/f.py", "1\n")
    sim.start()
    sim.batch(("Bash", {"command": "cat a/f.py " + "x" * (4 << 20)}))
    return _delivered(sim, "/.directives/"), 1
