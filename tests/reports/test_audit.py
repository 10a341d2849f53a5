"""The ledger against the client's own record."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from handbill.ledger.window import Window
from handbill.project import Project
from handbill.reports.audit import Audit, Difference, audited, audited_windows, differences
from handbill.reports.receipts import content_of
from simulated_project import SimulatedProject

Make = Callable[..., SimulatedProject]


def audit(box: SimulatedProject) -> Audit:
    project = box.opened()
    window = main_window(box, project)
    content = content_of(window, project.world())
    assert content is not None
    return audited((box.sim.session, "main"), window, content)


def main_window(box: SimulatedProject, project: Project) -> Window:
    window = project.store.read((box.sim.session, "main"))
    assert window is not None
    return window


def used(box: SimulatedProject) -> SimulatedProject:
    box.sim.start()
    box.sim.read("one/f.py")
    box.idle()
    return box


def test_a_ledger_that_agrees(make_project: Make) -> None:
    box = used(make_project())
    found = audit(box)
    assert found.differences == [] and found.unsettled == []
    assert found.window == f"{box.sim.session}.main" and found.transcript == box.sim.transcript
    assert found.delivered == found.blocks == len(box.state()["files"])


def test_what_is_gone_and_what_is_not_known(make_project: Make) -> None:
    box = used(make_project())
    gone, there = str(box.project / "one/.directives/AGENTS.md"), str(box.project / "other/.directives/AGENTS.md")
    ledger = next((box.state_folder / ".windows").glob("*.jsonl"))
    ledger.write_text(ledger.read_text().replace(gone, there))
    assert audit(box).differences == [
        Difference(there, "in the window", "not there"),
        Difference(gone, "not known", "in the window"),
    ]


def test_a_name_that_is_shown_with_escapes(make_project: Make) -> None:
    box = make_project()
    box.write("back\\slash/.directives/AGENTS.md", "rules of an odd place\n")
    box.write("back\\slash/f.py", "x\n")
    box.sim.start()
    box.sim.read("back\\slash/f.py")
    box.idle()
    assert "rules of an odd place" in box.seen()
    assert audit(box).differences == []


def test_what_a_compaction_left_open_is_no_difference(make_project: Make) -> None:
    box = used(make_project())
    box.sim.send({"hook_event_name": "PreCompact", "trigger": "auto"})
    box.sim.send({"hook_event_name": "SessionStart", "source": "compact"})
    found = audit(box)
    assert found.differences == [] and str(box.project / "one/.directives/AGENTS.md") in found.unsettled


def test_every_window_that_can_still_change(make_project: Make) -> None:
    box = used(make_project())
    box.sim.clear()
    box.sim.read("two/f.py")
    project = box.opened()
    rows = audited_windows(project, lambda process: False)
    assert [(row.compared, row.differences) for row in rows] == [(True, []), (True, [])]
    assert {row.session for row in rows} == {key[0] for key in project.store.known()}
    Path(box.sim.transcript).unlink()
    assert [
        row.compared for row in audited_windows(project, lambda process: False) if row.session == box.sim.session
    ] == [False]


def test_an_ended_terminal_is_left_out(make_project: Make) -> None:
    box = used(make_project())
    folder = box.state_folder / ".windows"
    second = folder / f"{box.sim.session}~7.jsonl"
    head, _, rest = (folder / f"{box.sim.session}.jsonl").read_text().partition("\n")
    second.write_text(json.dumps({**json.loads(head), "pid": 7}) + "\n" + rest)
    second.chmod(0o600)
    assert len(audited_windows(box.opened(), lambda process: False)) == 1
    assert len(audited_windows(box.opened(), lambda process: process == 7)) == 2


def test_differences_are_found_in_the_window_that_is_given(make_project: Make) -> None:
    """Not in the store: a caller may have added the newest receipts."""
    box = used(make_project())
    project = box.opened()
    window = main_window(box, project)
    content = content_of(window, project.world())
    assert content is not None and differences(window, content) == []
    empty = Window(window.session, window.agent)
    assert {row.ledger for row in differences(empty, content)} == {"not known"}
