"""Findings about the settings, the standards and the folders of the state."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from handbill.reports.findings import Finding, state
from simulated_project import SimulatedProject


@pytest.fixture
def box(make_project: Callable[..., SimulatedProject]) -> SimulatedProject:
    made = make_project()
    made.sim.start()
    return made


def kept(box: SimulatedProject) -> Finding:
    return Finding("state", "ok", f"kept in {box.state_folder}")


def test_a_state_without_faults(box: SimulatedProject) -> None:
    assert list(state.state(box.opened())) == [kept(box)]


def test_a_folder_that_does_not_exist_yet(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    assert list(state.state(box.opened())) == [kept(box)]


@pytest.mark.parametrize("name", [".windows", ".engine/errors.jsonl"])
def test_state_that_others_can_read(box: SimulatedProject, name: str) -> None:
    path = box.state_folder / name
    if path.suffix:
        path.write_text("")
    path.chmod(0o755)
    folder = path if path.is_dir() else path.parent
    (found,) = [one for one in state.state(box.opened()) if one.check == "permissions"]
    assert found == Finding("permissions", "bad", f"{folder} can be read by others", f"chmod -R go-rwx {folder}")


def test_files_that_were_put_aside_and_old_ledgers(box: SimulatedProject) -> None:
    windows = box.state_folder / ".windows"
    for name in ("x.jsonl.corrupt-1", "y.jsonl.corrupt-2", "old.jsonl"):
        (windows / name).write_text("?")
        (windows / name).chmod(0o600)
    os.utime(windows / "old.jsonl", (1, 1))
    _, aside, old = state.state(box.opened())
    assert aside.text == f"2 broken state files put aside in {windows} (newest y.jsonl.corrupt-2)" and aside.fix
    assert (old.state, old.text, old.fix) == ("note", "1 ledger older than 14 days", "engine prune")


def test_a_state_that_cannot_be_written(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.state_folder.parent.mkdir(parents=True)
    box.state_folder.write_text("a file")
    (found,) = state.state(box.opened())
    assert found.state == "bad" and f"({box.state_folder} is not a folder)" in found.text


def test_ledgers_that_had_to_move(box: SimulatedProject, tmp_path: Path) -> None:
    box.environ["XDG_RUNTIME_DIR"] = str(tmp_path / "run")
    project = box.opened()
    windows = Path(project.store.spare) / ".windows"
    windows.mkdir(parents=True, mode=0o700)
    assert list(state.state(project)) == [kept(box)]
    (windows / "s.jsonl").write_text("")
    (windows / "s.jsonl").chmod(0o600)
    found = [one for one in state.state(project) if one.state == "bad"]
    assert [one.text for one in found] == [
        f"{box.state_folder} could not be written; ledgers are in {project.store.spare} (1)"
    ]


def test_settings_that_cannot_be_used(box: SimulatedProject) -> None:
    assert list(state.settings(box.opened())) == []
    box.write(".handbill.toml", "[standards]\nfiles = 7\n")
    (found,) = state.settings(box.opened())
    assert found.state == "bad" and "must be a list" in found.text and found.fix == "correct that file"


def test_standards_that_cannot_be_delivered(box: SimulatedProject) -> None:
    assert list(state.unusable_standards(box.opened())) == []
    box.write(".directives/BINARY.md", "x\0y")
    box.write(".handbill.toml", '[standards]\nfiles = ["nope.md", "COMMANDS.md", ".directives/BINARY.md"]\n')
    texts = [one.text for one in state.unusable_standards(box.opened())]
    assert texts[0] == "nope.md was not found in any library" and len(texts) == 2
