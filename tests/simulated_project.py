"""A project on the simulated host, for whole sessions with the hooks' own code and real files."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from delivery_log import Deliveries
from engine_server import run_engine
from handbill.lab.simulator import Hooks, Moment, Simulator, direct_hooks
from handbill.project import CheckedStore, Project
from handbill.settings import load, process_context, state_roots

OLD, NEW = "2-1-197", "2-1-325"


class SimulatedProject:
    def __init__(self, root: Path, version: str = NEW) -> None:
        self.project = root / "project"
        (self.project / ".claude").mkdir(parents=True)
        self.environ = {
            "HOME": str(root / "home"), "CLAUDE_PROJECT_DIR": str(self.project), "CLAUDE_PID": "4194301",
            "AI_AGENT": f"claude-code_{version}_x",
        }  # fmt: skip
        self.state_folder = Path(state_roots(str(self.project), self.environ)[0])
        self.hooks: Hooks = direct_hooks(self.environ)
        self.printed = ""
        self.sim = Simulator(str(self.project), str(root / "transcripts"), lambda name, raw: self.hooks(name, raw))

    def opened(self) -> Project:
        """Return the project as a report sees it now."""
        process = process_context(str(self.project), self.environ)
        return Project(process, CheckedStore(process.state, process.spare), load(process))

    def write(self, name: str, text: str) -> None:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def own_settings(self, text: str) -> None:
        """Write the user's own settings, which may do more than a project's."""
        path = Path(self.environ["HOME"]) / ".config" / "handbill" / "config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def page(self, name: str, text: str = "", under: str = "") -> str:
        folder = {"CMD": "commands", "FMT": "formats", "INV": "invariants"}[name[:3]]
        path = f"{under}.directives/{folder}/{name}.md"
        self.write(path, text or f"# {name}\n\nText of {name}.\n\n## PROOF FOR §{name}\n")
        return path

    def skill(self, name: str, *phases: dict[str, Any], text: str = "", **parameters: Any) -> None:
        """Write a skill of the project. Missing pages that it names are created."""
        values = {"phases": list(phases), **parameters}
        block = f"### Session Parameters\n```json\n{json.dumps(values)}\n```\n" if phases or parameters else ""
        self.write(f".claude/skills/{name}/SKILL.md", f"---\nname: {name}\n---\n# {name}\n{text}\n{block}")
        for phase in phases:
            for step in (*phase.get("steps", ()), *phase.get("commands", ())):
                if step.startswith("§CMD_") and not (self.project / f".directives/commands/{step[1:]}.md").exists():
                    self.page(step.removeprefix("§"))

    def shell(self, command: str, agent: str = "", *, expect: int = 0, told: str | None = None) -> Moment:
        """Run a command as the agent: a real process, then the batch event with its output."""
        done = self.process(command)
        assert done.returncode == expect, done.stdout + done.stderr
        self.printed = done.stdout + done.stderr
        answer = self.printed if told is None else told
        return self.sim.batch(("Bash", {"command": command}, answer), agent=agent)

    def process(self, command: str, **environ: str) -> subprocess.CompletedProcess[str]:
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        env = {"PATH": path, "HOME": self.environ["HOME"], "CLAUDE_CODE_SESSION_ID": self.sim.session, **environ}
        if "PYTHONPATH" in os.environ:  # another copy of the source is being tested
            env["PYTHONPATH"] = os.environ["PYTHONPATH"]
        if command.startswith("engine ") and not set(command) & set("|&;<>()$`*?~\n"):
            return run_engine(tuple(shlex.split(command)[1:]), cwd=self.project, environ=env)
        return subprocess.run(
            ["sh", "-c", command], cwd=self.project, env=env, capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL, timeout=60,
        )  # fmt: skip

    def idle(self, times: int = 1) -> Moment:
        """Do something that needs no rule. Return the last answer."""
        return [self.sim.batch(("Bash", {"command": "true"})) for _ in range(times)][-1]

    def seen(self, window: str = "main") -> str:
        """Return everything that hooks added to a window and that is still in it."""
        return "\n".join(text for _, text in self.sim.views.get(window, []))

    def lose_ledger(self) -> None:
        (self.state_folder / ".windows" / f"{self.sim.session}.jsonl").unlink()

    @property
    def deliveries(self) -> Deliveries:
        return Deliveries(self.state_folder / ".engine" / "deliveries.jsonl")

    def session_state(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.project / "sessions" / name / ".state.json").read_text())
        return found

    def drop_next(self) -> None:
        """Drop the next answer, as if the hook were killed after its claim."""
        usual = self.hooks

        def dropping(name: str, raw: dict[str, Any]) -> list[str]:
            self.hooks = usual
            usual(name, raw)
            return []

        self.hooks = dropping

    def attach(self, name: str) -> None:
        """Show a whole file, as the client does for a mention in a prompt or after a compaction."""
        attachment = {"type": "file", "filename": str(self.project / name), "content": self.shown(name)}
        self.sim._write(self.sim.transcript, {"type": "attachment", "attachment": attachment})

    def shown(self, name: str) -> dict[str, Any]:
        """Return the record of a file that the client shows whole."""
        path, text = str(self.project / name), (self.project / name).read_text()
        lines = text.count("\n") + 1
        file = {"filePath": path, "content": text, "numLines": lines, "startLine": 1, "totalLines": lines}
        return {"type": "text", "file": file}

    def state(self, agent: str = "") -> dict[str, Any]:
        name = f"{self.sim.session}.{agent}" if agent else self.sim.session
        lines = (self.state_folder / ".windows" / f"{name}.jsonl").read_text().splitlines()
        found: dict[str, Any] = json.loads(lines[0])
        found["files"] = {record["path"]: record for record in map(json.loads, lines[1 : lines.index("")])}
        return found

    def log(self, event: str) -> list[str]:
        path = self.state_folder / ".engine" / "deliveries.jsonl"
        return [line["file"] for line in map(json.loads, path.read_text().splitlines()) if line["event"] == event]

    def errors(self) -> list[str]:
        path = self.state_folder / ".engine" / "errors.jsonl"
        return [json.loads(line)["error"] for line in path.read_text().splitlines()] if path.exists() else []


def names(moment: Moment) -> list[str]:
    return [
        path.rsplit("/", 3)[1] if "/.directives/" in path else path.rsplit("/", 1)[1] for path, _, _, _ in moment.titles
    ]


def assert_once(box: SimulatedProject, window: str, *directives: str) -> None:
    copies = box.sim.copies(window)
    assert set(copies.values()) <= {1}, copies
    there = {path.rsplit("/", 3)[1] for path, _, _, _ in copies if "/project/" in path}
    assert there == set(directives)


def nothing(name: str, raw: dict[str, object]) -> list[str]:
    """Do nothing, as if all hooks were killed."""
    return []
