"""Plays the demo with the real client and a scripted model, and shows what the model received."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from handbill.errors import HandbillError
from handbill.lab import demo_project
from handbill.lab.live_client import Client, Reply, Request, Run, Script, call
from handbill.text.blocks import read_title

Title = tuple[str, str, int, int]


@dataclass
class Step:
    """One request to the model: the new content, and the model's answer.

    `about` describes a step in which something else happens.
    """

    run: str
    number: int = 0
    window: str = "main"
    new: list[Title] = field(default_factory=list)
    gone: int = 0
    answer: str = ""
    about: str = ""


class LiveDemo:
    """The live demo. It calls `tell` with each step while the client runs."""

    def __init__(self, binary: str, folder: str, tell: Callable[[Step], None]) -> None:
        self.project, home = os.path.join(folder, "orchard"), os.path.join(folder, "home")
        os.makedirs(self.project)
        os.makedirs(home)
        demo_project.install(self.project, {"PATH": os.environ.get("PATH", ""), "HOME": home})
        self._client = Client(binary, self.project, home)
        self._tell = tell
        self._steps: list[Step] = []
        self._seen: dict[str, list[Title]] = {}  # agent -> titles in its last request
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return self._client.model.url

    def play(self) -> dict[str, Any]:
        compacts_soon = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"}
        first = self._run("the user asks: fix the cart", "fix the cart", _story(self.project), env=compacts_soon)
        script = Script([_read(self.project, "worker/jobs.py"), "done"])
        again = self._run("the user resumes the session in a new process", "go on", script, "--resume", first.session)
        self._client.model.close()
        windows = [_window("main", again.of()[-1]), *(_window("subagent", one) for one in first.of(None)[-1:])]
        return {
            "project": self.project, "client": self._client.binary, "steps": [vars(step) for step in self._steps],
            "windows": windows, "once": all(one["copies"] == 1 for window in windows for one in window["files"]),
        }  # fmt: skip

    def _run(self, about: str, prompt: str, script: Script, *arguments: str, **more: Any) -> Run:
        self._note(Step(about, about=about))

        def told(request: Request) -> Reply:
            reply = script(request)
            with self._lock:
                self._watch(about, request, reply)
            return reply

        done = self._client.run(prompt, told, *arguments, **more)
        if done.exit_code:
            raise HandbillError(f"the client ended with {done.exit_code}: {done.stderr.strip()[-300:]}")
        return done

    def _watch(self, run: str, request: Request, reply: Reply) -> None:
        if request.is_summary:
            about = "the window is full: the client asks the model for a summary and compacts it"
            self._note(Step(run, window="compaction", about=about))
        elif request.body.get("tools"):
            compacted = bool(self._steps) and self._steps[-1].window == "compaction"
            now, before = titles(request), self._seen.get(request.agent, [])
            new = [title for title in now if compacted or title not in before]
            gone = len([title for title in before if title not in now])
            self._seen[request.agent] = now
            number = 1 + sum(not step.about for step in self._steps)
            window = "subagent" if request.agent else "main"
            self._note(Step(run, number, window, new, gone, answer=described(reply)))

    def _note(self, step: Step) -> None:
        self._steps.append(step)
        self._tell(step)


def described(reply: Reply) -> str:
    """Return the reply in words: `reads api/orders.py`, `runs echo report` or `says: done`."""
    words = []
    for block in reply.blocks:
        values = block.get("input", {})
        if block["type"] == "text":
            words.append(f"says: {block['text']}")
        elif block["name"] == "Agent":
            words.append(f"starts a subagent: {values['prompt']}")
        else:
            verb = {"Read": "reads", "Bash": "runs"}.get(block["name"], f"calls {block['name']}:")
            words.append(f"{verb} {values.get('file_path') or values.get('command', '')}")
    return ", ".join(words)


def titles(request: Request) -> list[Title]:
    """Return the titles of our blocks in a request. The host's own text precedes the first one."""
    found = []
    for line in request.text.split("\n"):
        start = max(line.find("[Preloaded: "), line.find("[Updated: "))
        title = read_title(line[start:]) if start >= 0 else None
        if title is not None:
            found.append(title)
    return found


def _window(name: str, request: Request) -> dict[str, Any]:
    counted: dict[Title, int] = {}
    for title in titles(request):
        counted[title] = counted.get(title, 0) + 1
    files: dict[str, dict[str, Any]] = {}
    for (path, _, _, parts), copies in counted.items():
        size = demo_project.size_of(path)
        one = files.setdefault(path, {"file": path, "copies": 0, "parts": parts, "characters": size})
        one["copies"] = max(one["copies"], copies)
    return {"window": name, "files": list(files.values())}


def _read(project: str, *names: str) -> list[dict[str, Any]]:
    return [call("Read", file_path=os.path.join(project, name)) for name in names]


def _story(project: str) -> Script:
    agent = call("Agent", description="look", prompt="look at the api", subagent_type="general-purpose",
                 run_in_background=False)  # fmt: skip
    command = [call("Bash", command="echo report", description="x")]
    main: list[Any] = [
        _read(project, "api/orders.py"), _read(project, "api/carts/merge.py"),
        _read(project, "worker/jobs.py", "api/orders.py", "api/carts/merge.py"), _read(project, "reports/year.py"),
        command, command, command, [agent], Reply(command, input_tokens=99_000), _read(project, "worker/jobs.py"),
        command, command, command, command, "done",
    ]  # fmt: skip
    return Script([_copy(step) for step in main], [_read(project, "api/orders.py"), "seen"])


def _copy(step: Any) -> Any:
    """Copy a step. Steps are completed in place (ids), so each may be used only once."""
    if isinstance(step, Reply):
        return Reply([dict(block) for block in step.blocks], step.input_tokens)
    return [dict(block) for block in step] if isinstance(step, list) else step
