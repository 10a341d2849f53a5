"""A project with real hooks, a throwaway home, and the real client against a scripted model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from engine_server import run_engine
from handbill.lab.live_client import Block, Client, Request, Run, Script, call
from handbill.settings import state_roots

ROOT = Path(__file__).resolve().parents[2]
CLIENTS = ROOT / ".cache" / "clients"
OLD, MIDDLE, NEW = "2.1.197", "2.1.260", "2.1.325"

# One line of each standard, to count copies by.
STANDARDS = ("# Commands\n", "# Invariants\n", "# Sigils\n", "# CMD_DEHYDRATE\n", "# CMD_RESUME_SESSION\n",
             "# CMD_PARSE_PARAMETERS\n")  # fmt: skip
COMPACTION = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"}
ALMOST_FULL = 99_000


def binary(version: str) -> Path:
    return CLIENTS / version / "node_modules" / ".bin" / "claude"


class Sandbox:
    def __init__(self, root: Path, version: str, install: bool = True) -> None:
        self.version = version
        self.more: dict[str, str] = {}
        self.project = root / "project"
        self.home = root / "home"
        self.project.mkdir(parents=True)
        self.home.mkdir(exist_ok=True)
        subprocess.run(["git", "init", "-q", str(self.project)], check=True, env=self.environment())
        self.write("a.py", "print('a')\n")
        # the agent's shell finds `engine` as it would after an installation
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        # another copy of the source may be tested
        shell = {"PATH": path, **{name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}}
        self.client = Client(str(binary(version)), str(self.project), str(self.home), extra=shell)
        if install:
            self.engine("install", "--project", str(self.project), "--python", sys.executable)

    @property
    def state_folder(self) -> Path:
        return Path(state_roots(str(self.project), self.environment())[0])

    def environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8", **self.more}

    def engine(self, *arguments: str, expect: int = 0) -> dict[str, Any]:
        """A real `engine` process, answering in JSON."""
        done = run_engine((*arguments, "--json"), cwd=self.project, environ=self.environment())
        assert done.returncode == expect, f"{arguments}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    def write(self, path: str, text: str | bytes) -> Path:
        target = self.project / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())
        return target

    def path(self, name: str) -> str:
        return str(self.project / name)

    def read(self, name: str) -> Block:
        return call("Read", file_path=self.path(name))

    def bash(self, command: str = "true") -> Block:
        return call("Bash", command=command, description="x")

    def agent(self, prompt: str = "do it") -> Block:
        return call("Agent", description="d", prompt=prompt, subagent_type="general-purpose", run_in_background=False)

    def run(self, *steps: Any, agent: tuple[Any, ...] = (), args: tuple[str, ...] = (), **more: Any) -> Run:
        run = self.client.run(more.pop("prompt", "go"), Script(steps, agent), *args, **more)
        assert run.exit_code == 0, f"exit {run.exit_code}\n{run.stdout}\n{run.stderr}"
        return run

    def skill(self, name: str, *phases: tuple[str, tuple[str, ...]], text: str = "", **parameters: Any) -> None:
        """A skill of the project: (label, page names) each; a page holds the mark `PAGE-<name>`."""
        made = [
            {"label": label, "name": f"Phase{label}", "steps": [f"§{page}" for page in pages]}
            for label, pages in phases
        ]
        block = json.dumps({"phases": made, **parameters})
        head = f"---\nname: {name}\ndescription: does {name}\n---\n# {name}\nBODY-{name} {text}\n"
        self.write(f".claude/skills/{name}/SKILL.md", f"{head}\n### Session Parameters\n```json\n{block}\n```\n")
        for page in {page for _, pages in phases for page in pages}:
            path = f".directives/commands/{page}.md"
            if not (self.project / path).exists():
                self.write(path, f"# {page}\nPAGE-{page}.\n\n## PROOF FOR §{page}\n")

    def session(self, words: str, before: str = "") -> Block:
        return self.bash(f"{before}engine session {words}")

    def settings(self) -> Path:
        return self.project / ".claude" / "settings.local.json"

    def windows(self) -> list[Path]:
        return sorted((self.state_folder / ".windows").glob("*.jsonl"))

    def log(self) -> list[dict[str, Any]]:
        path = self.state_folder / ".engine" / "deliveries.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def traces(self) -> list[str]:
        """What `engine doctor` shows a person about faults."""
        found = self.engine("doctor", "--project", str(self.project), expect=1)
        return [json.dumps(check) for check in found["data"]["checks"] if check["state"] != "ok"]


def copies(request: Request, *marks: str) -> dict[str, int]:
    return {mark: request.text.count(mark) for mark in marks}


def assert_once(request: Request, *marks: str) -> None:
    found = copies(request, *marks)
    assert found == dict.fromkeys(marks, 1), found


def assert_absent(request: Request, *marks: str) -> None:
    found = copies(request, *marks)
    assert found == dict.fromkeys(marks, 0), found


def normal(message: dict[str, Any]) -> Any:
    """A message without what changes from request to request by notation only."""

    def strip(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: strip(inner) for key, inner in value.items() if key != "cache_control"}
        return [strip(inner) for inner in value] if isinstance(value, list) else value

    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return {"role": message["role"], "content": strip(blocks)}


def assert_extends(before: Request, after: Request) -> None:
    """The prompt cache is kept: the newer request begins with all of the older one."""
    old, new = [normal(m) for m in before.messages], [normal(m) for m in after.messages]
    for index, message in enumerate(old):
        assert new[index] == message, f"message {index} changed"
