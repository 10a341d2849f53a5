"""What the last compaction of a window removed, kept and gave back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

import pytest

from builders import window
from handbill.errors import HandbillError
from handbill.reports.compaction import (
    CompactionReport,
    FileBefore,
    compaction_report,
    holds_for_certain,
    restorable,
)
from simulated_project import OLD, SimulatedProject

Make = Callable[..., SimulatedProject]


def reported(box: SimulatedProject, agent: str = "main") -> CompactionReport:
    return compaction_report(box.opened(), (box.sim.session, agent))


def fates(box: SimulatedProject, report: CompactionReport) -> dict[str, tuple[str, str]]:
    return {os.path.relpath(one.file, box.project): (one.came, one.fate) for one in report.files}


def test_what_became_of_each_file(make_project: Make) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    with pytest.raises(HandbillError, match="never compacted"):
        reported(box)
    box.idle()
    box.sim.compact()
    report = reported(box)
    found = fates(box, report)
    assert found["one/.directives/AGENTS.md"] == ("delivered", "gone")
    assert found["one/f.py"] == ("read by the agent", "gone")
    assert report.counts == {"gone": 2, "delivered again": len(found) - 2} and report.new == []
    assert report.lost == restorable(report, ()) == [str(box.project / "one/.directives/AGENTS.md")]
    assert (report.window, report.project) == (f"{box.sim.session}.main", str(box.project))


def test_what_is_new_since_the_compaction(make_project: Make) -> None:
    box = make_project()
    box.sim.start()
    box.idle()
    box.sim.compact()
    box.sim.read("two/f.py")
    assert reported(box).new == [str(box.project / "two/.directives/AGENTS.md")]


def test_pages_that_a_gate_wrote_are_left_out(make_project: Make) -> None:
    box = make_project()
    box.write(".context/TASKS.md", "x\n")
    box.sim.start()
    box.idle()
    box.sim.compact()
    pages = box.opened().process.page_folders
    report = reported(box)
    assert any(path.startswith(pages[0]) for path in box.state()["files"]), "the gate wrote one"
    assert not [one.file for one in report.files if one.file.startswith(pages)] and report.new == []
    assert str(box.project / ".context/TASKS.md") in {one.file for one in report.files}


def test_a_subagent_of_a_client_that_records_no_injections(make_project: Make) -> None:
    """Handbill's own log says what it was given."""
    box = make_project(OLD)
    box.sim.start()
    box.sim.subagent("a1")
    box.sim.read("one/f.py", agent="a1")
    box.sim.compact(agent="a1")
    assert fates(box, reported(box, "a1"))["one/.directives/AGENTS.md"][0] == "delivered"


def test_a_transcript_that_is_gone(make_project: Make) -> None:
    box = make_project()
    box.sim.start()
    os.unlink(box.sim.transcript)
    with pytest.raises(HandbillError, match="is gone"):
        reported(box)
    with pytest.raises(HandbillError, match="not known"):
        reported(box, "nobody")


def report_of(rows: Iterable[tuple[str, str, str]]) -> CompactionReport:
    files = [FileBefore(*row) for row in rows]
    return CompactionReport("s.main", "/p", "", "auto", 0, 0, files, {}, [])


@pytest.mark.parametrize(
    "came, fate, by_itself, if_named",
    [
        ("delivered", "gone", True, True), ("delivered", "delivered again, then rewound", True, True),
        ("delivered", "named in the summary only", True, True), ("delivered", "kept by the client", False, False),
        ("delivered", "delivered again", False, False), ("read by the agent", "gone", False, True),
        ("skill", "put back by the client", False, False),
    ],
)  # fmt: skip
def test_what_can_be_restored(came: str, fate: str, by_itself: bool, if_named: bool) -> None:
    report = report_of([("/a", came, fate), ("/b", "delivered", "kept by the client")])
    assert restorable(report, ()) == (["/a"] if by_itself else [])
    assert restorable(report, ["/a", "/b"]) == (["/a"] if if_named else [])
    assert report.lost == (["/a"] if by_itself and "summary" not in fate else [])


@pytest.mark.parametrize("suspect, there", [(-1, True), (5, False)])
def test_a_window_that_may_have_been_compacted_has_nothing_for_certain(suspect: int, there: bool) -> None:
    assert holds_for_certain(window(files={"/a": {"parts": "k"}}, maybe_compacted_from=suspect), "/a") is there
    assert not holds_for_certain(None, "/a")
