"""The client's own screen: a person at a terminal, played in tmux against the scripted model.

The model obeys the prompt: `DO: read web/a.js + read api/b.py; write web/new.js` makes one message with two
calls, then one with a third. `;` separates messages, `+` calls of one message.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from typing import Any

import pytest
from sandbox import Sandbox

from handbill.lab.live_client import Block, Reply, Request, call, say, texts

RESTORE, FROM_HERE, UP_TO_HERE = "Restore conversation", "Summarize from here", "Summarize up to here"
PAUSE = 0.3  # no real model answers at once, and the client writes its record meanwhile


def require_tmux() -> None:
    if shutil.which("tmux") is None:
        message = "tmux is not installed: apt-get install tmux"
        pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)


class Obedient:
    """A scripted model: does what the newest prompt after `DO:` says, one step per message."""

    def __init__(self, box: Sandbox) -> None:
        self.box = box
        self.delay = PAUSE
        self.summary_delay = PAUSE
        self.more: dict[str, Callable[[str], Block]] = {}  # verbs of one test

    def __call__(self, request: Request) -> Reply:
        if _asks_for_summary(request):
            return Reply([say("<analysis>a</analysis><summary>THE SUMMARY</summary>")], delay=self.summary_delay)
        if not request.body.get("tools"):
            return Reply([say("ok")])
        found = [(i, steps) for i, message in enumerate(request.messages) if (steps := _steps(message)) is not None]
        if not found:
            return Reply([say("nothing to do")], delay=self.delay)
        at, steps = found[-1]
        done = sum(message["role"] == "assistant" for message in request.messages[at + 1 :])
        if done >= len(steps):
            return Reply([say(f"finished {len(steps)} steps")], delay=self.delay)
        return Reply([self._block(one.strip()) for one in steps[done].split("+")], delay=self.delay)

    def _block(self, step: str) -> dict[str, Any]:
        verb, _, rest = step.partition(" ")
        if verb in self.more:
            return self.more[verb](rest)
        if verb == "read":
            return self.box.read(rest)
        if verb == "write":
            return call("Write", file_path=self.box.path(rest), content="new\n")
        if verb == "bash":
            return self.box.bash(rest)
        if verb == "agent":
            return self.box.agent("DO: " + rest.replace(",", ";"))
        return say(step)


_RUNS = "esc to interrupt"
_POLL = 0.15  # seconds between two looks at the screen: each starts a process
_SUMMARY = ("Respond with TEXT ONLY", "Your task is to create a detailed summary")


def _asks_for_summary(request: Request) -> bool:
    return any(mark in text for message in request.messages[-3:] for text in texts(message) for mark in _SUMMARY)


def _steps(message: dict[str, Any]) -> list[str] | None:
    if message["role"] != "user":
        return None
    for text in texts(message):
        found = re.search(r"DO: (.*)", text) if not text.lstrip().startswith("<system-reminder>") else None
        if found:
            return [step for step in found.group(1).split(";") if step.strip()]
    return None


class Terminal:
    def __init__(self, box: Sandbox) -> None:
        require_tmux()
        self.box = box
        self.model = Obedient(box)
        box.client.model.script = self.model
        self.socket = f"handbill-{os.getpid()}-{id(self)}"
        answered = {
            "hasCompletedOnboarding": True, "theme": "dark", "bypassPermissionsModeAccepted": True,
            "customApiKeyResponses": {"approved": ["sk-ant-dummy"], "rejected": []},
            "projects": {str(box.project): {"hasTrustDialogAccepted": True, "allowedTools": []}},
        }  # fmt: skip
        (box.home / ".claude.json").write_text(json.dumps(answered))

    def tmux(self, *words: str) -> str:
        return subprocess.run(["tmux", "-L", self.socket, *words], capture_output=True, text=True, check=False).stdout

    def start(self, *arguments: str, skip_permissions: bool = True, size: tuple[int, int] = (120, 50)) -> Terminal:
        environ = [word for name, value in self.box.client.environment().items() for word in ("-e", f"{name}={value}")]
        words = [self.box.client.binary, *(["--dangerously-skip-permissions"] if skip_permissions else []), *arguments]
        self.tmux(
            "-f", "/dev/null", "new-session", "-d", "-s", "c", "-x", str(size[0]), "-y", str(size[1]),
            "-c", str(self.box.project), *environ, *words,
        )  # fmt: skip
        self.wait_for("❯", "> ", "for shortcuts")
        self.settle()
        return self

    def screen(self) -> str:
        shown = self.tmux("capture-pane", "-p", "-t", "c")
        return "\n".join(line for line in shown.splitlines() if line.strip())

    def wait_for(self, *words: str, most: float = 60) -> None:
        end = time.monotonic() + most
        while True:
            shown = self.screen()
            if any(word in shown for word in words):
                return
            assert time.monotonic() < end, f"none of {words} on the screen:\n{shown}"
            time.sleep(_POLL)

    def settle(self, quiet: float = 1.2, most: float = 90) -> None:
        """Until nothing runs, and neither the screen nor the recorded requests have changed for a while.

        On a busy machine, slow hooks leave the screen as it is in the middle of a turn.
        """
        end, seen, since = time.monotonic() + most, None, time.monotonic()
        while time.monotonic() < end:
            now = (self.screen(), len(self.box.client.model.requests))
            if now != seen or _RUNS in now[0]:
                seen, since = now, time.monotonic()
            if time.monotonic() - since > quiet:
                return
            time.sleep(_POLL)
        raise AssertionError(f"no rest after {most} s:\n{self.screen()}")

    def keys(self, *names: str, pause: float = 0.4) -> None:
        for name in names:
            self.tmux("send-keys", "-t", "c", name)
            time.sleep(pause)

    def type(self, text: str) -> None:
        """A busy client takes a while to show it; an Enter that comes earlier is lost."""
        self.tmux("send-keys", "-t", "c", "-l", text)
        end = time.monotonic() + 10
        time.sleep(0.5)
        while "".join(text.split())[-12:] not in "".join(self.screen().split()) and time.monotonic() < end:
            time.sleep(0.1)

    def say(self, line: str) -> Terminal:
        self.type(line)
        self.keys("Enter")
        self.settle()
        return self

    def compact(self) -> Terminal:
        requests = self.box.client.model.requests
        before = len(requests)
        self.say("/compact")
        assert any(map(_asks_for_summary, requests[before:])), f"no compaction:\n{self.screen()}"
        return self

    def rewind(self, up: int = 1, choice: str = RESTORE) -> Terminal:
        """`/rewind`, `up` prompts back; `choice` is what the menu calls it."""
        self.say("/rewind")
        self.keys(*["Up"] * up, "Enter")
        time.sleep(0.8)
        number = re.search(rf"(\d)\. {choice}", self.screen())
        self.keys(number.group(1) if number else "Escape")
        self.settle()
        if number is None:
            self.keys("Escape")  # the menu itself; there is nothing to rewind
        self.keys("C-u")  # the old prompt comes back into the input line
        return self

    @property
    def last(self) -> Request:
        found = [r for r in self.box.client.model.requests if r.body.get("tools") and not r.agent and not r.is_summary]
        return found[-1]

    def exit(self) -> None:
        """Until the client is gone: it goes on writing its record while it ends."""
        self.type("/exit")
        self.keys("Enter")
        end = time.monotonic() + 60
        while self.tmux("list-sessions"):
            assert time.monotonic() < end, f"the client does not end:\n{self.screen()}"
            time.sleep(0.1)
        self.close()

    def close(self) -> None:
        self.tmux("kill-server")
