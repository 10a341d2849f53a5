"""The session that `engine demo` plays on the simulator: its events, deliveries and totals."""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterator
from typing import Any

from handbill.lab import demo_project
from handbill.lab.simulator import Moment, ProcessHooks, Simulator
from handbill.settings import state_roots
from handbill.store.files import FileStore

AGENT = "a1b2c3"


class Demo:
    """The demo. `events` yields each event as it happens; `data` then also has the totals."""

    def __init__(self, folder: str) -> None:
        self.project = os.path.join(folder, "orchard")
        os.makedirs(self.project)
        self._environ = {"PATH": os.environ.get("PATH", ""), "HOME": folder, "CLAUDE_PROJECT_DIR": self.project,
                         "AI_AGENT": "claude-code_2-1-325_demo", "CLAUDE_PID": str(os.getpid())}  # fmt: skip
        settings = demo_project.install(self.project, self._environ)
        hooks = ProcessHooks(settings, self._environ)
        self._simulator = Simulator(self.project, os.path.join(folder, "transcripts"), hooks)
        self._rows: list[dict[str, Any]] = []

    def events(self) -> Iterator[dict[str, Any]]:
        for label, moment in _session(self._simulator, self._environ):
            self._rows.append(_row(label, moment, self._simulator, self._environ))
            yield self._rows[-1]

    @property
    def data(self) -> dict[str, Any]:
        return {"project": self.project, "events": self._rows, **_totals(self._simulator, self._rows)}


def _session(sim: Simulator, environ: dict[str, str]) -> Iterator[tuple[str, Moment]]:
    yield "the session starts", sim.start()
    yield "the user types /fix", sim.skill("fix", "the cart loses its last item")
    yield "engine session activate CART fix", _engine(sim, environ, "activate", "CART", "fix")
    proof = '{"contextRead": ["api/carts/merge.py"]}'
    yield 'engine session phase CART "1: Reproduction"', _engine(sim, environ, "phase", "CART", "1", stdin=proof)
    yield "reads api/orders.py", sim.read("api/orders.py")
    yield "reads api/carts/merge.py", sim.read("api/carts/merge.py")
    yield "writes worker/retry.py: held once, with the rules", sim.write("worker/retry.py")
    yield "writes worker/retry.py again", sim.write("worker/retry.py")
    yield "3 parallel reads", sim.read("worker/jobs.py", "api/orders.py", "api/carts/merge.py")
    yield "reads reports/year.py (35,000-character rules)", sim.read("reports/year.py")
    for number in range(2, 5):
        yield f"runs a command ({number} of 4 events)", sim.batch(("Bash", {"command": "make report"}))
    task = {"prompt": "Look at api/orders.py and report.", "subagent_type": "general-purpose"}
    sim.send({"hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": task, "tool_use_id": "toolu_task"})
    yield "starts with a task for api/orders.py", sim.subagent(AGENT)
    yield "reads api/orders.py", sim.read("api/orders.py", agent=AGENT)
    yield "runs a command", sim.batch(("Bash", {"command": "make test"}))
    yield "the client compacts the conversation", sim.compact()
    yield "reads worker/jobs.py again", sim.read("worker/jobs.py")
    yield "the session is resumed", sim.start("resume")
    yield "reads worker/jobs.py again", sim.read("worker/jobs.py")


def _engine(sim: Simulator, environ: dict[str, str], *words: str, stdin: str = "") -> Moment:
    """Run the real command, as the agent would in its shell."""
    shell = {**environ, "CLAUDE_CODE_SESSION_ID": sim.session}
    printed = demo_project.run_engine(["session", *words], shell, sim.project, stdin)
    return sim.batch(("Bash", {"command": f"engine session {' '.join(words)}"}, printed))


def _row(label: str, moment: Moment, simulator: Simulator, environ: dict[str, str]) -> dict[str, Any]:
    """Return one row of the demo. `environ` is the demo's environment, which has its own home."""
    window = FileStore(*state_roots(simulator.project, environ)).read((simulator.session, moment.window))
    files: dict[str, list[int]] = {}
    for path, _, part, parts in moment.titles:
        files.setdefault(path, []).append(part if parts > 1 else 0)
    records = dict(window.files.items()) if window is not None else {}
    delivered = [
        {
            "file": path, "parts": sorted(parts), "of": len(records[path]["parts"]) if path in records else 1,
            "reason": records[path]["reason"] if path in records else "",
        }
        for path, parts in files.items()
    ]  # fmt: skip
    letters = "".join(record["parts"] for record in records.values())
    return {
        "event": label, "window": moment.window, "delivered": delivered,
        "milliseconds": round(moment.seconds * 1000, 1), "characters": sum(map(len, moment.texts)),
        "sent": letters.count("s"), "confirmed": letters.count("k"),
    }  # fmt: skip


def _totals(simulator: Simulator, rows: list[dict[str, Any]]) -> dict[str, Any]:
    windows: list[dict[str, Any]] = []
    for name in simulator.views:
        copies = simulator.copies(name)
        files: dict[str, dict[str, Any]] = {}
        for (path, _, _, parts), count in copies.items():
            one = files.setdefault(path, {"file": path, "copies": 0, "parts": parts})
            one["copies"] = max(one["copies"], count)
        for one in files.values():
            one["characters"] = demo_project.size_of(one["file"])
        windows.append({"window": name, "files": list(files.values())})
    times = [row["milliseconds"] for row in rows]
    return {
        "windows": windows, "once": all(one["copies"] == 1 for window in windows for one in window["files"]),
        "median_milliseconds": statistics.median(times), "slowest_milliseconds": max(times),
    }  # fmt: skip
