"""A project with six folders of rules, and people, clients and hooks that stop in the middle of something."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sandbox import ALMOST_FULL, STANDARDS, Sandbox
from terminal import Obedient, Terminal

from handbill.lab.live_client import Reply, Request, Run, Script, say
from soak.oracle import Oracle, Rule

FOLDERS = ("web", "api", "lib", "doc", "ops")
WEB, API, LIB, DOC, OPS = RULES = [f"RULES-OF-{folder.upper()}" for folder in FOLDERS]
BIG = [f"BIG-{number:02d}:" for number in range(14)]  # 35,000 characters: four parts
SLOW = "SLOW words"  # an answer of which the client gets the beginning only


def project(box: Sandbox) -> tuple[Sandbox, Oracle]:
    oracle = Oracle(str(box.project), STANDARDS)
    for folder, marks in [*zip(FOLDERS, ([rule] for rule in RULES)), ("big", BIG)]:
        box.write(f"{folder}/f.py", "x\n")
        filler = "\nKeep to what this page says about its folder." * (54 if folder == "big" else 0)
        path = box.write(f"{folder}/.directives/AGENTS.md", "".join(f"{mark}{filler}\n" for mark in marks))
        oracle.rules[str(path)] = Rule(box.path(folder), [marks])
    return box, oracle


def transcript(box: Sandbox) -> Path:
    return max(box.home.glob(".claude/projects/*/*.jsonl"), key=lambda path: path.stat().st_mtime)


def asked(box: Sandbox) -> list[Request]:
    return [r for r in box.client.model.requests if r.body.get("tools") and not r.agent and not r.is_summary]


def judge(box: Sandbox, oracle: Oracle, requests: list[Request]) -> None:
    """Nothing twice at any time; at the end nothing is missing, and our receipts say what the request says."""
    assert {number: twice for number, request in enumerate(requests) if (twice := oracle.twice(request))} == {}
    assert oracle.missing(requests[-1]) == []
    shown = box.engine("window", transcript(box).stem, "--project", str(box.project))["data"]["files"]
    ours = {one["file"] for one in shown if one["parts"] and one["delivered"] == one["parts"]}
    for path, rule in oracle.rules.items():
        assert (path in ours) == all(mark in requests[-1].text for mark in rule.marks), (path, shown)


def resumed(box: Sandbox, oracle: Oracle, *steps: Any) -> Run:
    run = box.run(*steps, "done", args=("--resume", transcript(box).stem))
    judge(box, oracle, asked(box))
    return run


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def killed(box: Sandbox, steps: list[Any], when: Callable[[], bool]) -> None:
    box.client.model.script = Script(steps)
    process = box.client.start("go")
    until(when)
    time.sleep(0.4)  # what the client has so far, it writes
    process.kill()  # its hooks do not die with it
    process.wait(timeout=20)


class Moody(Obedient):
    def __call__(self, request: Request) -> Reply:
        reply = super().__call__(request)
        said = json.dumps(reply.blocks)
        if "THE SUMMARY" in said:
            reply.blocks = [say("<summary>THE SUMMARY\nDO: kept; bash true; read web/f.py; bash true</summary>")]
        reply.input_tokens = ALMOST_FULL if "echo full" in said else reply.input_tokens
        reply.delay = 30 if "wait" in said else reply.delay
        reply.stops_for = 30 if SLOW in said else 0
        return reply


class Person(Terminal):
    def begin(self, line: str, mark: str = "", when: Callable[[], bool] | None = None) -> None:
        """A prompt, and no further than to the moment when the model is asked and has `mark`."""
        before = len(asked(self.box))
        self.type(line)
        self.keys("Enter")
        until(when or (lambda: any(mark in request.text for request in asked(self.box)[before:])))
        time.sleep(1)

    def escape(self) -> None:
        self.keys("Escape")
        self.settle()
        self.keys("C-u")  # a prompt that was taken back is in the input line
