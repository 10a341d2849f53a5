"""Whatever a session with all gates goes through: nothing stands twice, nothing is missing, nothing is held for ever."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from handbill.lab.simulator import direct_hooks
from handbill.store.disk import make_private_directory
from simulated_project import NEW, OLD, SimulatedProject

PROJECT = "02-projects/p"
CONTEXT = {"CONSTITUTION.md": 100, "TASKS.md": 12_000, "DECISIONS.md": 400}
TARGETS = {"lead-a.md": 9_000, "lead-b.md": 9_000, "lead-huge.md": 200_000}
RESUMED = {"a.md": 5_000, "b.md": 8_000}

step = st.sampled_from([
    "bash", "bash", "two", "read", "work", "work", "context", "target", "prompt", "stop", "stop-again", "compact", "compact", "resume",
    "drop", "subagent", "sub-bash", "sub-compact",
])  # fmt: skip


def filled(name: str, size: int) -> str:
    return f"BEGIN-{name}\n" + "word " * (size // 5) + f"\nEND-{name}\n"


class Run:
    def __init__(self, root: Path, version: str, mode: str) -> None:
        self.box = SimulatedProject(root, version)
        make_private_directory(str(root / "home"))
        self.box.environ["TEAM_ROLE"] = "lead"
        settings = f'[load_gate]\nmode = "{mode}"\ndenials = 2\n[roles.lead]\nenv = ["TEAM_ROLE=lead"]\ntargets = ["lead-*.md"]\n'
        self.box.own_settings(settings)
        for name, size in CONTEXT.items():
            self.box.write(f".context/{name}", filled(name, size))
        for name, size in TARGETS.items():
            self.box.write(name, filled(name, size))
        for name, size in RESUMED.items():
            self.box.write(f"{PROJECT}/{name}", filled(name, size))
        self.box.write(
            f"{PROJECT}/01-planning/_resume.md", f"---\nfiles_to_load: [{', '.join(RESUMED)}]\n---\nBEGIN-resume\n"
        )
        self.mode = mode
        self.sim = self.box.sim
        self.sim.held_tools = ""
        self.worked = self.agent_worked = False  # since the last compaction: a client has nothing to compact before
        self.epoch = 0
        self.held: dict[int, int] = {}  # epoch -> messages of the role's gate
        self.stops = 0
        self.sim.start()

    def batch(self, *calls: tuple[str, dict[str, str]], agent: str = "") -> None:
        moment = self.sim.batch(*calls, agent=agent)
        if "the role lead" in moment.denied:
            self.held[self.epoch] = self.held.get(self.epoch, 0) + 1
        self.worked = self.worked or not agent
        self.agent_worked = self.agent_worked or bool(agent)

    def read(self, *paths: str) -> None:
        self.batch(*(("Read", {"file_path": str(self.box.project / path)}) for path in paths))

    def do(self, what: str) -> None:
        agent = "a1" if what.startswith("sub-") else ""
        if agent and "a1" not in self.sim.views:
            return
        bash = ("Bash", {"command": "make"})
        if what in ("bash", "sub-bash"):
            self.batch(bash, agent=agent)
        elif what == "two":
            self.batch(bash, ("Glob", {"pattern": "*"}))
        elif what == "read":
            self.read("one/f.py")
        elif what == "work":
            self.read(f"{PROJECT}/a.md", f"{PROJECT}/b.md")
        elif what == "context":
            self.read(*(f".context/{name}" for name in CONTEXT))
        elif what == "target":
            self.read("lead-huge.md")
        elif what == "prompt":
            self.sim.prompt("x")
        elif what in ("stop", "stop-again"):
            self.stops += bool(self.sim.stop(again=what == "stop-again").denied)
        elif what == "compact" and self.worked:
            self.sim.compact()
            self.epoch, self.worked, self.stops = self.epoch + 1, False, 0
        elif what == "resume" and self.worked:
            self.sim.start("resume")
            self.worked = False
        elif what == "drop":
            self.box.drop_next()
        elif what == "subagent":
            self.sim.subagent("a1")
        elif what == "sub-compact" and self.agent_worked:
            self.sim.compact("a1")
            self.agent_worked = False

    def check(self) -> None:
        for window in self.sim.views:
            assert [title for title, count in self.sim.copies(window).items() if count > 1] == [], window
            for mark in ("Before the compaction you worked", "This conversation was compacted"):
                assert self.seen(window).count(mark) <= 1, (window, mark)
            lists = re.findall(r"^.* still needs [^:]*:\n(?:- .*\n)*", self.seen(window), re.MULTILINE)
            assert len(lists) == len(set(lists)), (window, lists)  # a turn's end has words of its own
        assert all(count <= 1 for count in self.held.values()) and self.stops + self.held.get(self.epoch, 0) <= 1

    def seen(self, window: str = "main") -> str:
        return "\n".join(text for _, text in self.sim.views.get(window, []))

    def in_the_end(self) -> None:
        self.box.hooks = direct_hooks(self.box.environ)  # nothing is dropped any more
        for _ in range(6):
            self.do("work")
            self.do("bash")
            self.check()
        self.do("compact")
        for _ in range(12):
            self.do("work")
            self.do("bash")
            self.check()
        text = self.seen()
        given = [*(CONTEXT if self.mode == "deliver" else ()), "lead-a.md", "lead-b.md", *RESUMED]
        for name in given:
            assert [text.count(f"{mark}-{name}") for mark in ("BEGIN", "END")] == [1, 1], name
        assert "BEGIN-lead-huge.md" not in text and str(self.box.project / "lead-huge.md") in text
        assert '"active":true' in text
        if self.mode != "deliver":
            assert all(str(self.box.project / ".context" / name) in text for name in CONTEXT)
        assert self.sim.batch(("Bash", {"command": "make"})).denied == "" and not self.sim.stop().denied


@pytest.mark.once
@settings(max_examples=settings.default.max_examples * 4 // 10)
@example(steps=["bash", "compact", "drop", "bash", "compact"], version=NEW, mode="require")  # its list is kept
@example(steps=["bash", "compact", "target", "stop", "compact"], version=NEW, mode="deliver")  # so is a stop's
@example(steps=["bash", "compact", "stop", "bash"], version=NEW, mode="deliver")  # one list for both
@given(st.lists(step, max_size=25), st.sampled_from([NEW, NEW, OLD]), st.sampled_from(["deliver", "direct", "require"]))
def test_once_never_missing_never_stuck(steps: list[str], version: str, mode: str) -> None:
    with tempfile.TemporaryDirectory() as root:
        run = Run(Path(root), version, mode)
        for one in steps:
            if version == OLD and (one.startswith("sub") or one == "resume"):
                continue  # the box plays the records of the newer client there
            run.do(one)
            run.check()
        run.in_the_end()
