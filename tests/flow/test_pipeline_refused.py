"""Files that cannot be delivered: the model is told once, and they are delivered as soon as they can be."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from handbill.lab.simulator import direct_hooks
from handbill.world import documents
from simulated_project import SimulatedProject, names

RULE = "one/.directives/INVARIANTS.md"


@pytest.fixture
def refused(make_project: Callable[..., SimulatedProject]) -> SimulatedProject:
    """A window that knows that one rule cannot be delivered."""
    box = make_project()
    box.write(RULE, "\0")
    box.sim.start()
    box.sim.prompt("go")
    box.sim.read("one/f.py")
    assert said(box) == 1
    return box


def said(box: SimulatedProject, name: str = RULE) -> int:
    return box.seen().count(f'{name}": it is binary')


def correct(box: SimulatedProject) -> None:
    """In place, as an editor does: the folder's own time stays."""
    box.write(RULE, "FIXED RULE\n")


def test_a_corrected_file_is_delivered_with_the_next_touch(refused: SimulatedProject) -> None:
    correct(refused)
    assert names(refused.sim.read("one/f.py")) == ["one"] and refused.seen().count("FIXED RULE") == 1
    assert names(refused.sim.read("one/f.py")) == []


def test_a_corrected_file_is_delivered_with_the_next_prompt(refused: SimulatedProject) -> None:
    correct(refused)
    assert names(refused.sim.prompt("it is fixed")) == ["one"]


def test_a_write_is_held_for_a_corrected_file(refused: SimulatedProject) -> None:
    correct(refused)
    assert "FIXED RULE" in refused.sim.write("one/new.py").denied


def test_a_corrected_standard(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.write(".handbill.toml", '[standards]\nfiles = ["./STANDARD.md"]\n')
    box.write("STANDARD.md", "\0")
    assert "it is binary" in box.sim.start().texts[0]
    box.write("STANDARD.md", "CORRECT")
    box.sim.prompt("go")
    assert box.seen().count("CORRECT") == 1


def test_a_file_that_was_allowed_later(make_project: Callable[..., SimulatedProject], tmp_path: Path) -> None:
    box = make_project()
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared/INVARIANTS.md").write_text("SHARED RULE")
    (box.project / RULE).symlink_to(tmp_path / "shared/INVARIANTS.md")
    box.sim.start()
    box.sim.read("one/f.py")
    assert "leads out of the project" in box.seen()
    box.own_settings(f'[files]\nallow = ["{tmp_path}/shared"]\n')
    assert names(box.sim.read("one/f.py")) == ["one"]


def test_an_error_of_the_disk_that_passes(
    make_project: Callable[..., SimulatedProject], monkeypatch: pytest.MonkeyPatch
) -> None:
    box = make_project()
    box.sim.start()
    usual = documents.read_page

    def fail(path: str, real: str, read_all: Callable[[int, int], bytes]) -> object:
        if path.endswith("one/.directives/AGENTS.md"):
            raise OSError(116, "Stale file handle")
        return usual(path, real, read_all)

    monkeypatch.setattr(documents, "read_page", fail)
    box.sim.read("one/f.py")
    assert "cannot be read (stale file handle)" in box.seen()
    assert names(box.sim.read("one/f.py")) == [] and len(box.errors()) == 1
    monkeypatch.setattr(documents, "read_page", usual)
    assert names(box.sim.read("one/f.py")) == ["one"]


def test_a_report_that_still_waits_is_dropped_when_the_file_is_corrected(
    make_project: Callable[..., SimulatedProject],
) -> None:
    box = make_project()
    box.write(RULE, "\0")
    box.sim.start()
    box.drop_next()
    box.sim.read("one/f.py")
    correct(box)
    box.sim.read("one/f.py", "two/f.py")
    box.idle(2)
    assert box.seen().count("FIXED RULE") == 1 and said(box) == 0


def test_a_report_is_not_repeated_beside_an_empty_rule(make_project: Callable[..., SimulatedProject]) -> None:
    """The root is looked at again with each new directory, as long as one of its rules is empty."""
    box = make_project()
    box.write(".directives/INVARIANTS.md", "\0")
    box.write(".directives/AGENTS.md", "")
    for name in "abcd":
        box.write(f"{name}/.directives/INVARIANTS.md", "\0")
        box.write(f"{name}/f.py", "x")
    box.sim.start()
    for name in "abcdaa":
        box.sim.read(f"{name}/f.py")
    assert said(box, "project/.directives/INVARIANTS.md") == 1 and len(box.errors()) == 5


@pytest.mark.parametrize("happens", ["the ledger is lost", "no state can be written", "a rewind", "a compaction"])
def test_one_report_for_each_file(make_project: Callable[..., SimulatedProject], happens: str) -> None:
    box = make_project()
    rules = (RULE, "two/.directives/INVARIANTS.md")
    for rule in rules:
        box.write(rule, "\0")
    if happens == "no state can be written":
        box.state_folder.parent.parent.mkdir(parents=True)
        box.state_folder.parent.write_text("not a folder")
    box.sim.start()
    box.sim.prompt("a")
    box.sim.read("one/f.py")
    box.sim.prompt("b")
    box.sim.read("two/f.py")
    third = box.sim.prompt("c")
    box.idle()
    if happens == "the ledger is lost":
        box.lose_ledger()
    elif happens == "a rewind":
        box.sim.rewind(third)
        box.sim.prompt("d")
    elif happens == "a compaction":
        box.sim.compact()
    box.sim.read("one/f.py", "two/f.py")
    box.idle(2)
    assert [said(box, rule) for rule in rules] == [1, 1]


def test_many_files_are_not_all_named(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    (Path(box.environ["HOME"]) / ".claude/.directives").mkdir(parents=True)
    (Path(box.environ["HOME"]) / ".claude/.directives/INVARIANTS.md").write_bytes(b"\0")
    for number in range(60):
        box.write(f"d{number}/.directives/AGENTS.md", "\0")
    box.sim.start()
    for part in (range(30), range(30, 60)):
        box.sim.read(*(f"d{number}/f.py" for number in part))
        box.idle(2)
    assert box.seen().count('AGENTS.md": it is binary') == 20
    assert box.seen().count("more files that Handbill could not deliver") == 1
    assert box.seen().count('.claude/.directives/INVARIANTS.md": it is binary') == 1, "the user's own is always named"


@pytest.mark.parametrize("end", ["deleted", "emptied", "binary"])
def test_the_rest_of_a_file_that_is_lost_is_named(make_project: Callable[..., SimulatedProject], end: str) -> None:
    box = make_project()
    box.write(RULE, "\n".join(f"rule {number} of a large file" for number in range(1500)))
    box.sim.start()
    box.sim.read("one/f.py")
    if end == "deleted":
        (box.project / RULE).unlink()
    else:
        box.write(RULE, "" if end == "emptied" else "\0")
    box.idle(3)
    assert box.seen().count("Ask the user to fix it") == 1


def test_a_path_that_is_too_long_for_a_title(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    long = "/".join(["\x01" * 200] * 8)
    os.makedirs(box.project / long / ".directives")
    box.write(f"{long}/.directives/AGENTS.md", "rules")
    box.sim.start()
    box.sim.read(f"{long}/f.py")
    assert 'AGENTS.md": it has a path that is too long for a title' in box.seen()


def test_a_delivered_rule_that_changes_to_something_that_cannot_be_delivered(
    make_project: Callable[..., SimulatedProject],
) -> None:
    box = make_project()
    box.write(RULE, "RULE 1")
    box.sim.start()
    box.sim.read("one/f.py")
    box.write(RULE, "\0")
    box.sim.prompt("go")
    box.sim.read("one/f.py")
    box.sim.prompt("go on")
    assert box.seen().count("The text in this window is out of date") == 1 and len(box.errors()) == 1
    box.write(RULE, "RULE 2\n")
    box.sim.prompt("it is fixed")
    assert box.seen().count("RULE 2") == 1


def test_pages_in_the_spare_folder_are_delivered_later(
    make_project: Callable[..., SimulatedProject], tmp_path: Path
) -> None:
    """A report that waits behind a held call is kept as a file; here the usual place for it cannot be written."""
    box = make_project()
    box.environ["XDG_RUNTIME_DIR"] = str(tmp_path / "run")
    os.makedirs(tmp_path / "run", mode=0o700)
    box.state_folder.parent.parent.mkdir(parents=True)
    box.state_folder.parent.write_text("not a folder")
    box.hooks = direct_hooks(box.environ)
    box.write(RULE, "\0")
    box.sim.start()
    assert box.sim.write("one/new.py").denied
    box.sim.write("one/new.py")
    assert said(box) == 1


def test_a_rule_that_is_deleted_before_any_of_it_arrived(make_project: Callable[..., SimulatedProject]) -> None:
    """Nothing is wrong: there is no rule any more."""
    box = make_project()
    box.sim.start()
    box.drop_next()
    box.sim.read("one/f.py")
    (box.project / "one/.directives/AGENTS.md").unlink()
    box.idle(3)
    assert "could not deliver" not in box.seen() and box.errors() == []


def test_a_changed_rule_and_an_error_of_the_disk_that_passes(
    make_project: Callable[..., SimulatedProject], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody knows whether the text is out of date, so nothing is said, and the next event looks again."""
    box = make_project()
    box.write(RULE, "RULE 1")
    box.sim.start()
    box.sim.read("one/f.py")
    box.write(RULE, "RULE 2\n")

    def fail(path: str, *_: object) -> object:
        raise OSError(116, "Stale file handle")

    with monkeypatch.context() as patch:
        patch.setattr(documents, "read_page", fail)
        box.sim.prompt("go")
    assert "out of date" not in box.seen()
    box.sim.prompt("go on")
    assert box.seen().count("RULE 2") == 1


def test_a_delivered_rule_that_is_saved_in_another_encoding(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.write(RULE, "Größe")
    box.sim.start()
    box.sim.read("one/f.py")
    (box.project / RULE).write_bytes("Größe 2".encode("latin-1"))
    for _ in range(2):
        box.sim.prompt("go on")
    assert box.seen().count("it is not UTF-8 text. The text in this window is out of date") == 1
