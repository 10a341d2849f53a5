"""A project on the host in a box, for whole sessions with the hooks' own code and real files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from handbill.simulate import Hooks, Moment, Simulator, direct_hooks
from handbill.store.disk import make_private_directory

OLD, NEW = "2-1-197", "2-1-325"


class Box:
    def __init__(self, root: Path, version: str = NEW) -> None:
        self.project = root / "project"
        make_private_directory(str(self.project / "sessions" / ".windows"))
        self.environ = {
            "HOME": str(root / "home"), "CLAUDE_PROJECT_DIR": str(self.project), "CLAUDE_PID": "1",
            "AI_AGENT": f"claude-code_{version}_x",
        }  # fmt: skip
        self.hooks: Hooks = direct_hooks(self.environ)
        self.sim = Simulator(str(self.project), str(root / "transcripts"), lambda name, raw: self.hooks(name, raw))

    def write(self, name: str, text: str) -> None:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def drop_next(self) -> None:
        """The next answer never reaches the client, as when the hook is killed after its claim."""
        usual = self.hooks

        def dropping(name: str, raw: dict[str, Any]) -> list[str]:
            self.hooks = usual
            usual(name, raw)
            return []

        self.hooks = dropping

    def state(self, agent: str = "") -> dict[str, Any]:
        name = f"{self.sim.session}.{agent}" if agent else self.sim.session
        lines = (self.project / "sessions" / ".windows" / f"{name}.jsonl").read_text().splitlines()
        found: dict[str, Any] = json.loads(lines[0])
        found["files"] = {record["path"]: record for record in map(json.loads, lines[1 : lines.index("")])}
        return found

    def log(self, event: str) -> list[str]:
        path = self.project / "sessions" / ".engine" / "deliveries.jsonl"
        return [line["file"] for line in map(json.loads, path.read_text().splitlines()) if line["event"] == event]

    def errors(self) -> list[str]:
        path = self.project / "sessions" / ".engine" / "errors.jsonl"
        return [json.loads(line)["error"] for line in path.read_text().splitlines()] if path.exists() else []


def names(moment: Moment) -> list[str]:
    return [
        path.rsplit("/", 3)[1] if "/.directives/" in path else path.rsplit("/", 1)[1] for path, _, _, _ in moment.titles
    ]


def assert_once(box: Box, window: str, *directives: str) -> None:
    copies = box.sim.copies(window)
    assert set(copies.values()) <= {1}, copies
    there = {path.rsplit("/", 3)[1] for path, _, _, _ in copies if "/project/" in path}
    assert there == set(directives)
