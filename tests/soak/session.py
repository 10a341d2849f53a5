"""One random session on the real client, completely determined by its seed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

from faults import break_hooks
from sandbox import ALMOST_FULL, COMPACTION, OLD, STANDARDS, Sandbox
from talk import Talk
from terminal import RESTORE

from handbill.lab.live_client import Block, Reply, Request, Script, call, say
from soak.oracle import Oracle, Rule

FOLDERS = ("web", "web/ui", "web/ui/deep", "api", "api/v1", "lib", "docs")
TYPES = ("AGENTS.md", "INVARIANTS.md", "ARCHITECTURE.md")
LARGE = 14_000  # characters: more than one hook may print
QUIET = 8  # messages at the end, so that everything that waits is delivered
SKILL, PAGES = "BODY-ship", {"CMD_SHIP_ONE": "PAGE-CMD_SHIP_ONE.", "CMD_SHIP_TWO": "PAGE-CMD_SHIP_TWO."}
FAULTS = ("before-claim", "after-claim", "after-print", "hang-before-claim")


class Session:
    kinds: tuple[str, ...] = ("turn", "turn", "talk", "killed", "fault", "fork", "pair", "terminal")

    def __init__(self, root: Path, version: str, seed: int) -> None:
        self.random = random.Random(seed)
        self.seed = seed
        self.box = Sandbox(root, version)
        self.oracle = Oracle(str(self.box.project), STANDARDS)
        self.story: list[str] = []
        self.violations: list[str] = []
        self.session = ""
        self.count = 0
        self.faulty = False
        # A rewind at a terminal; the next resume may put the removed text back.
        self.rewound = False
        self.newest: Request | None = None  # the newest request of the judged window
        self.returned: dict[str, int] = {}  # marks that the client put back
        self.undone: set[str] = set()  # skills that a rewind removed
        self._project()

    # --- the project ---------------------------------------------------------------------------

    def _project(self) -> None:
        for folder in FOLDERS:
            self.box.write(f"{folder}/f.py", f"print({folder!r})\n")
            if self.random.random() < 0.8:
                self.rule(folder, self.random.choice(TYPES))
        if self.random.random() < 0.5:
            self.rule("", "INVARIANTS.md")
        self.box.skill("ship", ("0", tuple(PAGES)))
        self.oracle.skills[SKILL] = list(PAGES.values())

    def rule(self, folder: str, name: str) -> None:
        """Write a rule file, or its next state."""
        path = f"{folder}/.directives/{name}" if folder else f".directives/{name}"
        directory = str(self.box.project / folder) if folder else str(self.box.project)
        rule = self.oracle.rules.setdefault(path, Rule(directory))
        self.count += 1
        large = self.random.random() < 0.2
        marks = [f"<<{path}#{self.count}.{part}>>" for part in range(3 if large else 1)]
        filler = "Keep to what this page says about its folder.\n" * (LARGE // 46 // 3)
        self.box.write(path, "".join(f"{mark}\n{filler if large else ''}" for mark in marks))
        rule.states.append(marks)

    # --- what the model does -------------------------------------------------------------------

    def step(self, *, agent: bool = False) -> Any:
        """Return one message of the model with random calls."""
        kind = self.random.choices(
            ["read", "parallel", "write", "bash", "agent", "full", "skill"],
            [6, 3, 2, 2, *([0, 0, 0] if agent else [2, 1, 1])],
        )[0]
        folder = self.random.choice(FOLDERS)
        if kind == "parallel":
            folders = self.random.sample(FOLDERS, self.random.randint(2, 3))
            return [self.box.read(f"{name}/f.py") for name in folders]
        if kind == "write":
            self.count += 1
            return call("Write", file_path=self.box.path(f"{folder}/new{self.count}.py"), content="x\n")
        if kind == "bash":
            return self.box.bash(self.random.choice(["true", f"cat {folder}/f.py", f"ls {folder}"]))
        if kind == "agent":
            return self.box.agent(f"Look at {folder}/f.py.")
        if kind == "skill":
            return call("Skill", skill="ship", args="")
        if kind == "full":
            return Reply([self.box.bash("true")], input_tokens=ALMOST_FULL)
        return self.box.read(f"{folder}/f.py")

    def steps(self, number: int) -> list[Any]:
        found: list[Any] = []
        for _ in range(number):
            step = self.step()
            # At the third in a row, the client gives up.
            full = sum(isinstance(one, Reply) for one in found)
            found.append(step if full < 2 or not isinstance(step, Reply) else self.box.bash("true"))
        self.story += [f"  {_named(one)}" for one in found]
        return found

    def prompt(self) -> str:
        folder = self.random.choice(FOLDERS)
        chosen = self.random.choices(["go", f"go with @{folder}/f.py", "/ship it"], [5, 2, 1])[0]
        self.story.append(f"  {chosen}")
        return chosen

    def quiet(self) -> list[Block]:
        return [self.box.bash("true") for _ in range(QUIET)]

    # --- what a person does --------------------------------------------------------------------

    def play(self) -> list[str]:
        for number in range(self.random.randint(2, 4)):
            kind = "turn" if not number else self.random.choice(self.kinds)
            if number and self.random.random() < 0.4:
                self._change()
            arguments = ["--resume", self.session] if self.session else []
            if kind == "fork" and self.session:
                arguments.append("--fork-session")
            self.story.append(f"{kind} {' '.join(arguments)}")
            getattr(self, f"_{kind}")(arguments)
            if self.violations:
                break
        return self.violations

    def _change(self) -> None:
        path, rule = self.random.choice([*self.oracle.rules.items()]) if self.oracle.rules else ("", None)
        if rule is None or self.random.random() < 0.4:
            folder, name = self.random.choice(FOLDERS), self.random.choice(TYPES)
            self.story.append(f"rule {folder} {name}")
            self.rule(folder, name)
        else:
            folder = path.rpartition("/.directives/")[0] if "/" in path.partition(".directives/")[0] else ""
            self.story.append(f"change {path}")
            self.rule(folder, path.rpartition("/")[2])

    def _script(self, steps: list[Any], summary: str = "THE SUMMARY") -> Script:
        return Script(steps, [self.step(agent=True) for _ in range(3)] + self.quiet()[:4], summary)

    def _turn(self, arguments: list[str]) -> None:
        steps = self.steps(self.random.randint(1, 5))
        run = self.box.client.run(
            self.prompt(), self._script([*steps, *self.quiet(), "done"]), *arguments, env=COMPACTION
        )
        self.session = run.session or self.session
        self._judge(run.requests, run.exit_code)

    _fork = _turn

    def _pair(self, arguments: list[str]) -> None:
        """Run two clients at once. The second starts a session, or forks that of the first."""
        mark, model = "THE-OTHER", self.box.client.model
        scripts = [
            self._script([*self.steps(3), *self.quiet(), "done"], summary)
            for summary in ("THE SUMMARY", f"THE SUMMARY {mark}")
        ]
        model.script = lambda request: scripts[mark in request.text](request)
        before = len(model.requests)
        other = [*arguments, "--fork-session"] if arguments and self.random.random() < 0.5 else []
        self.story.append(f"  beside it: {' '.join(other) or 'a new session'}")
        both = [
            self.box.client.start(self.prompt(), *arguments, env=COMPACTION),
            self.box.client.start(f"go, {mark}", *other, env=COMPACTION),
        ]
        codes = [process.wait(timeout=120) for process in both]
        requests = model.requests[before:]
        self._judge([r for r in requests if mark not in r.text], codes[0])
        newest, returned = self.newest, self.returned
        if not other:
            self.newest, self.returned = None, {}  # another session
        self._judge([r for r in requests if mark in r.text], codes[1])
        self.newest, self.returned = newest, returned

    def _terminal(self, arguments: list[str]) -> None:
        from soak.at_the_terminal import at_the_terminal

        before, told = len(self.box.client.model.requests), len(self.story)
        self.session = at_the_terminal(self, arguments)
        rewinds = any(RESTORE in line for line in self.story[told:])
        self._judge(self.box.client.model.requests[before:], 0, rewinds=rewinds)
        self.rewound = rewinds

    def _talk(self, arguments: list[str]) -> None:
        """Send prompts to one process, with manual compactions or a fresh start between them."""
        turns = [[*self.steps(self.random.randint(1, 3)), "done"] for _ in range(3)]
        script = [step for turn in turns for step in turn]
        self.box.client.model.script = self._script([*script, *self.quiet(), "done"])
        before = len(self.box.client.model.requests)
        talk = Talk(self.box, *arguments, env=COMPACTION)
        for number in range(4):
            between = self.random.choice(["", "", "/compact", "/clear"]) if number else ""
            if between:
                self.story.append(f"  {between}")
                talk.say(between)
            self.session = str(talk.say(self.prompt()).get("session_id") or self.session)
        talk.close()
        self._judge(self.box.client.model.requests[before:], 0)

    def _killed(self, arguments: list[str]) -> None:
        """Kill the client at some moment, then continue with a new one."""
        if not self.session:
            return self._turn(arguments)
        steps = self.steps(4)
        model = self.box.client.model
        before = len(model.requests)
        model.script = _slowly(self._script([*steps, "done"]), 0.15)
        process = self.box.client.start("go", *arguments, env=COMPACTION)
        wait = self.random.uniform(0.8, 3.0)
        self.story.append(f"  killed after {wait:.2f} s")
        time.sleep(wait)
        how = self.random.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
        if process.poll() is None:
            os.killpg(process.pid, how)
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        self._judge(model.requests[before:], 0, last=False)
        return self._turn(["--resume", self.session])

    def _fault(self, arguments: list[str]) -> None:
        """Make a hook die or hang at one event. The next events must recover from it."""
        fault = self.random.choice(FAULTS)
        at = f"{self.random.choice(['PostToolBatch', 'PostToolBatch', 'SessionStart', 'UserPromptSubmit'])}:1"
        self.story.append(f"  {fault} at {at}")
        settings = self.box.settings().read_text()
        env = break_hooks(self.box, {at: fault})
        steps = [step for step in self.steps(3) if not _delegates(step)]
        run = self.box.client.run(
            "go", self._script([*steps, *self.quiet(), "done"]), *arguments, env={**COMPACTION, **env}
        )
        self.box.settings().write_text(settings)
        self.session = run.session or self.session
        self._judge(run.requests, run.exit_code)

    # --- judging -------------------------------------------------------------------------------

    def _judge(self, requests: list[Request], exit_code: int, *, last: bool = True, rewinds: bool = False) -> None:
        asked = [r for r in requests if r.body.get("tools") and not r.is_summary]
        if exit_code:
            self.violations.append(f"the client ended with {exit_code}")
        main = [r for r in asked if not r.agent]
        # See "Known limits" in docs/windows.md.
        if self.rewound and self.newest is not None and main:
            self.returned.update(self.oracle.returned(main[0], self.newest))
            self.rewound = False
        for number, request in enumerate(asked):
            if not request.agent:
                if self.newest is not None:
                    self.undone = self.oracle.undone(request, self.newest, self.undone)
                if rewinds and self.newest is not None:  # see "Known limits" in docs/windows.md
                    self.returned.update(self.oracle.brought_back(request, self.newest))
                self.newest = request
                # After a compaction or a fresh start removed them, a second copy is ours.
                self.returned = {mark: most for mark, most in self.returned.items() if request.text.count(mark) > 1}
            found = self.oracle.twice(request, self.returned if not request.agent else None)
            # Old clients do not record injections into subagents: see "Known limits" in
            # docs/windows.md.
            if found and not (request.agent and self.box.version == OLD):
                self.violations.append(f"request {number} of {request.agent or 'main'}: {'; '.join(found)}")
        if last and main:
            self.violations += [f"at the end: {one}" for one in self.oracle.missing(main[-1], self.undone)]


def _delegates(step: Any) -> bool:
    return isinstance(step, dict) and step.get("name") == "Agent"


def _slowly(script: Script, seconds: float) -> Any:
    lock = threading.Lock()

    def answer(request: Request) -> Reply:
        with lock:
            reply = script(request)
        reply.delay = seconds
        return reply

    return answer


def _named(step: Any) -> str:
    if isinstance(step, Reply):
        return "full: " + ", ".join(_named(block) for block in step.blocks)
    if isinstance(step, list):
        return " + ".join(_named(block) for block in step)
    if isinstance(step, dict) and step.get("type") == "tool_use":
        values = step["input"]
        return f"{step['name']} {values.get('file_path') or values.get('command') or values.get('prompt')}"
    return str(step if isinstance(step, str) else say(str(step)))
