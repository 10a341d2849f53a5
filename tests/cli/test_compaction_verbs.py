"""`engine compaction report` and `restore`, as processes of their own."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from command import engine, run

from simulated_project import SimulatedProject

Make = Callable[..., SimulatedProject]


@pytest.fixture
def box(make_project: Make) -> SimulatedProject:
    return make_project()


def test_compaction_report_and_restore(box: SimulatedProject) -> None:
    box.sim.start()
    box.sim.read("one/f.py")
    assert "never compacted" in engine("compaction", "report", cwd=box.project, expect=1)["error"]["message"]
    box.idle()
    box.sim.compact()
    data = engine("compaction", "report", cwd=box.project)["data"]
    fates = {os.path.relpath(row["file"], box.project): row["fate"] for row in data["files"]}
    assert fates["one/.directives/AGENTS.md"] == "gone" and "delivered again" in fates.values()
    assert fates["one/f.py"] == "gone"
    text = run("compaction", "report", cwd=box.project).stdout
    assert "gone" in text and "next: engine compaction restore" in text
    engine("compaction", "restore", "none.md", cwd=box.project, expect=1)
    assert len(engine("compaction", "restore", cwd=box.project)["data"]["files"]) == 1
    box.idle()
    assert sum("/one/" in path for path, *_ in box.sim.copies()) == 1
    assert engine("compaction", "restore", cwd=box.project)["data"]["files"] == []


def test_a_rewind_is_not_blamed_on_the_compaction(box: SimulatedProject) -> None:
    def fate_of_rules() -> str:
        rows = engine("compaction", "report", cwd=box.project)["data"]["files"]
        return next(row["fate"] for row in rows if row["file"].endswith("one/.directives/AGENTS.md"))

    box.sim.start()
    first = box.sim.prompt("one")
    box.sim.read("one/f.py")
    box.idle()
    box.sim.compact()
    undone = box.sim.prompt("two")
    box.sim.read("one/f.py")
    assert fate_of_rules() == "delivered again"
    box.sim.rewind(undone)
    box.sim.prompt("three")
    box.idle()  # the rewind is known
    assert fate_of_rules() == "delivered again, then rewound"
    assert len(engine("compaction", "restore", cwd=box.project)["data"]["files"]) == 1
    box.sim.rewind(first)
    box.sim.prompt("four")
    assert (
        "a rewind undid the compaction" in engine("compaction", "report", cwd=box.project, expect=1)["error"]["message"]
    )
