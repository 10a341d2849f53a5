"""Whatever a session goes through: no page stands twice in a window, and in the end none is missing."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from implement_session import PHASES, with_implement
from test_pipeline_undone import drop_prompt

from handbill.digest import digest_of
from handbill.flow import findings
from handbill.lab.simulator import Moment, direct_hooks
from handbill.store.files import FileStore
from handlers.test_freshness import change
from simulated_project import NEW, OLD, SimulatedProject

FOLDERS = ("one", "two", "big")
ASKS, EDITS = ("prompt", "blocked", "dropped", "mention"), ("change", "rename")
LABELS = ("0", "1", "2", "3.A", "4")

folder = st.sampled_from(FOLDERS)
step = st.one_of(
    st.tuples(
        st.sampled_from(
            [
                "skill",
                "invoke",
                "activate",
                "continue",
                "prompt",
                "prompt",
                "blocked",
                "rewind",
                "compact",
                "killed",
                "resume",
                "drop",
                "subagent",
                "sub-compact",
            ]
        )
    ),
    st.tuples(st.just("phase"), st.sampled_from(LABELS)),
    st.tuples(
        st.sampled_from(
            ["read", "read", "read", "write", "change", "rename", "mention", "sub-read", "sub-write", "dropped"]
        ),
        folder,
    ),
)


def shown(path: Path) -> str:
    """Stands for the text of a file that the client itself shows."""
    return f"{path} {digest_of(path.read_text())}"


class Run:
    def __init__(self, root: Path, version: str) -> None:
        self.box = with_implement(SimulatedProject(root, version))
        self.box.page("CMD_BUILD", "build by §FMT_B\n")
        self.box.page("FMT_B", "b by §FMT_C\n")
        self.box.page("FMT_C", "c " * 3000)
        self.box.page("CMD_GENERATE_PLAN", "plan " * 2500)
        for name in FOLDERS:
            self.box.write(
                f"{name}/.directives/AGENTS.md", f"rules of {name} " + ("y" * 12000 if name == "big" else "") + "\n"
            )
            self.box.write(f"{name}/f.py", "x")
        self.box.write("one/.directives/TESTING.md", "testing\n")
        self.sim = self.box.sim
        self.store = FileStore(str(self.box.state_folder))
        self.phase = ""
        self.count = 0
        self.undoable: Moment | None = None  # a prompt since which no phase began
        self.worked = False  # a tool ran since the last start: compactions and resumes come after work
        self.sim.start()

    def told(self, verb: str, label: str) -> None:
        """As the command does it; that it does is shown by the tests that run it."""
        self.count += 1
        line = f"{verb} {self.count}"
        self.store.post(self.sim.session, {
            "verb": verb, "session": str(self.box.project / "sessions/X"), "skill": "implement", "phase": label,
            "line": line, "at": time.time(), "by": "agent",
        })  # fmt: skip
        self.sim.batch(("Bash", {"command": "x"}, line))
        self.phase, self.worked = label, True

    def do(self, what: str, where: str = "") -> None:
        self.count += 1
        if what not in (*ASKS, *EDITS, "rewind", "read", "write", "drop"):
            self.undoable = None
        agent = "a1" if what.startswith("sub-") else ""
        if agent and "a1" not in self.sim.views:
            return
        if what in ASKS:
            self.ask(what, where)
        elif what in EDITS:
            self.edit(what, f"{where}/.directives/AGENTS.md")
        elif what == "skill":
            self.sim.skill("implement")
            self.phase = self.phase or "0"
        elif what == "invoke":
            self.sim.invoke("implement")
            self.phase, self.worked = self.phase or "0", True
        elif what in ("activate", "continue"):
            self.told(what, self.phase or "0")
        elif what == "phase":
            self.told("phase", where)
        elif what in ("read", "sub-read"):
            self.sim.read(f"{where}/f.py", agent=agent)
            self.worked = self.worked or not agent
        elif what in ("write", "sub-write"):
            self.sim.write(f"{where}/new{self.count}.py", agent=agent)
            self.worked = self.worked or not agent
        elif what == "rewind" and self.undoable is not None:
            self.sim.rewind(self.undoable)
            self.undoable, self.worked = None, False
            self.sim.prompt("x")
        elif what == "killed" and self.worked:
            usual, self.box.hooks = self.box.hooks, lambda name, raw: []
            self.sim.compact()
            self.box.hooks, self.worked = usual, False
        elif what in ("compact", "resume") and self.worked:
            self.sim.compact() if what == "compact" else self.sim.start("resume")
            self.worked = False
        elif what == "sub-compact" and self.sim._batches.get("a1"):
            self.sim.compact("a1")
        elif what == "drop":
            self.box.drop_next()
        elif what == "subagent":
            self.sim.subagent("a1")

    def ask(self, what: str, where: str) -> None:
        rule = f"{where}/.directives/AGENTS.md"
        if what == "prompt":
            self.undoable = self.sim.prompt(f"x @{self.random_folder()}/f.py" if self.count % 2 else "x")
        elif what == "blocked":
            drop_prompt(self.box, "@one/f.py", f"b{self.count}")
        elif what == "dropped":
            drop_prompt(self.box, f"@{rule}", f"b{self.count}")
        else:
            self.undoable = self.sim.prompt(f"@{rule}")
            self.box.attach(rule)
            self.sim.views["main"].append(("mention", shown(self.box.project / rule)))

    def edit(self, what: str, rule: str) -> None:
        if what == "change":
            change(self.box, rule, f"new {self.count}\n" * (900 if self.count % 3 == 0 else 1))
        else:
            self.box.write("t", f"new {self.count}\n")
            os.replace(self.box.project / "t", self.box.project / rule)

    def random_folder(self) -> str:
        return FOLDERS[self.count % len(FOLDERS)]

    def twice(self) -> list[str]:
        return [
            f"{window}: {title}"
            for window in self.sim.views
            for title, count in self.sim.copies(window).items()
            if count > 1
        ]

    def unsound(self) -> list[str]:
        """Parts that count as sent and belong to no claim; missing parts that nobody waits for."""
        window = self.store.read((self.sim.session, "main"))
        if window is None:
            return []
        claimed = {tuple(item) for claim in window.claims for item in claim["items"]}
        found = []
        for path, record in window.files.items():
            parts = record["parts"]
            sent = [number for number, letter in enumerate(parts, 1) if letter == "s"]
            found += [path for part in sent if (path, part, record["hash"], len(parts)) not in claimed]
            found += [path] if "." in parts and path not in window.pending else []
        return found

    def in_the_end(self) -> None:
        self.box.hooks = direct_hooks(self.box.environ)  # nothing is dropped any more
        for _ in range(12):
            self.sim.read(*(f"{name}/f.py" for name in FOLDERS))
            self.sim.prompt("x")
            assert self.twice() == []
        wanted = [self.box.project / name / ".directives/AGENTS.md" for name in FOLDERS]
        for phase in PHASES:
            names = [*phase["steps"], *phase["commands"]] if phase["label"] == self.phase else []
            wanted += [self.box.project / f".directives/commands/{name[1:].removesuffix('_file')}.md" for name in names]
        there, seen = self.sim.copies(), self.box.seen()
        for path in wanted:
            if shown(path) in seen:
                continue  # by the client
            digest = digest_of(path.read_text().strip("\n"))
            parts = [title for title in there if title[:2] == (str(path), digest)]
            assert parts and len(parts) == parts[0][3], (path, self.box.state()["files"].get(str(path)))
        assert self.box.state()["work"].get("phase", "") == self.phase
        assert self.box.errors() == []


@pytest.mark.once
@example([("read", "big"), ("dropped", "big"), ("compact",), ("skill",)], NEW)  # its first part was kept
@settings(max_examples=settings.default.max_examples * 6 // 10)
@given(st.lists(step, max_size=30), st.sampled_from([NEW, NEW, OLD]))
def test_once_and_never_missing(steps: list[tuple[str, ...]], version: str) -> None:
    # as if seconds lay between two events
    with tempfile.TemporaryDirectory() as root, patch.object(findings, "PATIENCE", -1.0):
        run = Run(Path(root), version)
        for one in steps:
            if version == OLD and (one[0].startswith("sub") or one[0] == "resume"):
                continue  # the box plays the records of the newer client there
            run.do(*one)
            assert run.twice() == [] and run.unsound() == [], one
        run.in_the_end()
