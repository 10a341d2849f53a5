"""If the new text of a delivered rule cannot be delivered, the model knows that its text is out of date."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from handbill.world import World, documents
from simulated_project import SimulatedProject

RULE, OUTDATED = "one/.directives/INVARIANTS.md", "The text in this window is out of date"


@pytest.fixture
def box(make_project: Callable[..., SimulatedProject]) -> SimulatedProject:
    found = make_project()
    found.sim.start()
    found.sim.prompt("go")
    found.write(RULE, "RULE 1")
    found.sim.read("one/f.py")
    found.idle(2)
    return found


def look(box: SimulatedProject, times: int = 2) -> None:
    for _ in range(times):
        box.sim.read("one/f.py")
        box.sim.prompt("go on")


def counts(box: SimulatedProject, *words: str) -> list[int]:
    return [box.seen().count(word) for word in words]


def test_a_report_that_was_lost_is_not_sent_after_the_correction(box: SimulatedProject) -> None:
    box.write(RULE, "\0")
    box.drop_next()
    box.sim.prompt("go")
    box.write(RULE, "RULE 2\n")
    box.sim.prompt("fixed")
    box.idle(3)
    assert counts(box, "RULE 2", OUTDATED) == [1, 0]


def test_a_rewind_takes_the_report_along_and_it_returns(box: SimulatedProject) -> None:
    box.write(RULE, "\0")
    prompt = box.sim.prompt("go")
    box.idle(2)
    assert counts(box, OUTDATED) == [1]
    box.sim.rewind(prompt)
    box.sim.prompt("again")
    box.idle(2)
    look(box)
    assert counts(box, OUTDATED, "RULE 1") == [1, 1]


def test_one_report_of_a_text_that_was_on_its_way(box: SimulatedProject) -> None:
    box.write("one/.directives/AGENTS.md", "y" * 9000)
    box.write(RULE, "RULE 2\n" + "z z\n" * 2200)
    box.sim.read("one/f.py")
    box.write(RULE, "\0")
    box.sim.read("two/f.py")
    look(box)
    assert counts(box, OUTDATED) == [1]


@pytest.mark.parametrize("times", [1, 2])
def test_a_file_that_has_its_former_text_again(
    box: SimulatedProject, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    moments = count()
    monkeypatch.setattr(World, "clock", lambda *_: f"time {next(moments)}")  # this test is faster than a clock
    for number in range(times):
        box.write(RULE, "\0" * (number + 1))
        os.utime(box.project / RULE, (number * 1e6, number * 1e6))
        look(box)
        box.write(RULE, "RULE 1")
        look(box)
    assert counts(box, "RULE 1", OUTDATED, "had its earlier text again") == [1, times, times]
    assert box.seen().rindex("had its earlier text again") > box.seen().rindex(OUTDATED)


def test_a_file_that_was_moved_away_and_back(box: SimulatedProject) -> None:
    """It has its former time again, too."""
    path = box.project / RULE
    path.rename(f"{path}.bak")
    path.write_text("\0")
    look(box)
    assert counts(box, OUTDATED) == [1]
    Path(f"{path}.bak").rename(path)
    look(box, 3)
    assert counts(box, OUTDATED, "had its earlier text again") == [1, 1]


@pytest.mark.parametrize("how", ["a link out of the project", "no permission"])
def test_other_reasons_why_a_text_cannot_be_delivered(
    box: SimulatedProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    if how == "no permission":

        def refuse(*_: Any) -> None:
            raise PermissionError(13, "Permission denied")

        box.write(RULE, "RULE 2, longer")
        monkeypatch.setattr(documents, "read_page", refuse)
    else:
        (tmp_path / "out.md").write_text("OUTSIDE")
        (box.project / RULE).unlink()
        (box.project / RULE).symlink_to(tmp_path / "out.md")
    look(box)
    assert counts(box, OUTDATED, "OUTSIDE") == [1, 0]


@pytest.mark.parametrize("broken", ["\0", None], ids=["binary", "deleted"])
def test_a_file_that_is_broken_while_the_ledger_is_lost(box: SimulatedProject, broken: str | None) -> None:
    """Another branch is checked out for a moment, say."""
    box.lose_ledger()
    if broken is None:
        (box.project / RULE).unlink()
    else:
        box.write(RULE, broken)
    box.idle(2)
    box.write(RULE, "RULE 2\n")
    look(box, 3)
    assert counts(box, "RULE 2") == [1]


def test_a_file_that_stays_broken_after_the_ledger_was_lost(box: SimulatedProject) -> None:
    box.lose_ledger()
    box.write(RULE, "\0")
    look(box)
    assert counts(box, OUTDATED) == [1]


def test_a_write_is_not_held_if_only_reports_could_be_given(box: SimulatedProject) -> None:
    box.write(".directives/INVARIANTS.md", "ROOT 1")
    look(box, 1)
    box.write(".directives/INVARIANTS.md", "\0")
    box.write("three/.directives/INVARIANTS.md", "\0")
    assert box.sim.write("three/new.py").denied == ""
    assert counts(box, OUTDATED, "it is binary") == [1, 2]


def test_a_time_that_no_calendar_has(box: SimulatedProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some file systems keep any number. The rules of other directories must arrive all the same."""
    monkeypatch.setattr(World, "changed", lambda *_: 2.0**61)
    box.write(RULE, "\0")
    box.sim.read("one/f.py", "two/f.py")
    assert counts(box, OUTDATED, "rules of two", "changed at an unknown time") == [1, 1, 1]


@pytest.mark.parametrize("agent", ["", "a1"])
def test_a_corrected_agents_md_waits_for_the_client(box: SimulatedProject, agent: str) -> None:
    """The client brings it with the next read there."""
    (box.project / "one/.directives/AGENTS.md").unlink()
    box.write("three/AGENTS.md", "\0")
    box.write("three/f.py", "x")
    if agent:
        box.sim.subagent(agent)
    box.sim.batch(("Edit", {"file_path": str(box.project / "three/f.py")}), agent=agent)
    assert "it is binary" in box.seen(agent or "main")
    box.write("three/AGENTS.md", "bare rules")
    box.sim.batch(("Bash", {"command": "ls two"}), agent=agent)
    if not agent:
        box.sim.prompt("it is fixed")
    assert "bare rules" not in box.seen(agent or "main")
    box.sim.batch(("Edit", {"file_path": str(box.project / "three/f.py")}), agent=agent)
    assert box.seen(agent or "main").count("bare rules") == 1


def test_the_users_own_rule_does_not_wait_behind_those_of_a_project(
    make_project: Callable[..., SimulatedProject],
) -> None:
    """Neither a corrected one nor a changed one, whatever the clock says."""
    box = make_project()
    own = Path(box.environ["HOME"]) / ".claude/.directives"
    own.mkdir(parents=True)
    (own / "INVARIANTS.md").write_bytes(b"\xff\xfe")
    (own / "AGENTS.md").write_text("OWN 1")
    for number in range(150):
        box.write(f"d{number}/.directives/AGENTS.md", "\0")
        box.write(f"d{number}/.directives/INVARIANTS.md", f"rule {number}")
    box.sim.start()
    for first in range(0, 150, 50):
        box.sim.read(*(f"d{number}/f.py" for number in range(first, first + 50)))
    box.idle(4)
    (own / "INVARIANTS.md").write_text("OWN CORRECTED")
    (own / "AGENTS.md").write_text("OWN 2\n")
    box.sim.prompt("go on")
    assert counts(box, "OWN CORRECTED", "OWN 2") == [1, 1]
