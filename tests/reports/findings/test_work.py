"""Findings about skills, sessions and the defects of commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from handbill.reports.findings import work
from handbill.store import sessions
from simulated_project import SimulatedProject


@pytest.fixture
def box(make_project: Callable[..., SimulatedProject]) -> SimulatedProject:
    return make_project()


def test_skills_that_can_be_read(box: SimulatedProject) -> None:
    (found,) = work.skills(box.opened())
    assert found.state == "ok" and found.text.endswith(" skills, all can be read")


def test_skills_that_cannot_be_read(box: SimulatedProject) -> None:
    box.write(".claude/skills/bad/SKILL.md", "### Session Parameters\n```json\n{,}\n```\n")
    box.skill("odd", nextSkills=["nobody"])
    bad, note = work.skills(box.opened())
    assert bad.state == "bad" and "bad/SKILL.md, line 3: not JSON" in bad.text and bad.fix
    assert note.state == "note" and "nextSkills names nobody" in note.text


def test_sessions_that_are_broken(box: SimulatedProject) -> None:
    assert list(work.sessions(box.opened())) == []
    (box.project / "sessions/S").mkdir(parents=True)
    sessions.update(str(box.project / "sessions/S"), lambda _: ({"v": 1, "lifecycle": "idle"}, None))
    assert [(one.state, one.text) for one in work.sessions(box.opened())] == [("ok", "1 session")]
    box.write("sessions/B/.state.json", "{")
    (found,) = work.sessions(box.opened())
    assert found.state == "bad" and "B/.state.json is broken" in found.text and found.fix


def test_reports_of_defects(box: SimulatedProject) -> None:
    """Where the user of this project keeps state, whatever the environment of this process says."""
    folder = Path(box.environ["HOME"]) / ".local/state/handbill"
    folder.mkdir(parents=True)
    assert list(work.reports(box.opened())) == []
    (folder / "report-1.txt").write_text("x")
    (found,) = work.reports(box.opened())
    assert (found.state, found.text) == ("note", f"1 report of defects in commands, the newest {folder}/report-1.txt")
    box.environ["XDG_STATE_HOME"] = str(box.project.parent / "elsewhere")
    assert list(work.reports(box.opened())) == []
