"""One event does a limited amount of work, however large a page or setting is.

The next events do the rest. bench/ measures the time; tests never do.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from handbill.flow import delivery
from handbill.library import directive_search, pages
from handbill.text import globs
from handbill.world import World, documents
from simulated_project import SimulatedProject, names


def with_rules(make_project: Callable[..., SimulatedProject], directories: int) -> SimulatedProject:
    box = make_project()
    for number in range(directories):
        box.write(f"d{number}/.directives/AGENTS.md", f"rule {number}\n")
    box.sim.start()
    return box


def test_known_directories_in_one_message(
    make_project: Callable[..., SimulatedProject], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With many files, changes are found at the next touch, but new files are delivered at once."""
    monkeypatch.setattr(directive_search, "MOST_COMPARED", 3)
    box = with_rules(make_project, 6)
    box.sim.read(*(f"d{number}/f.py" for number in range(5)))
    box.write("d4/.directives/AGENTS.md", "rule 4, changed\n")
    after = box.sim.read(*(f"d{number}/f.py" for number in range(6)))
    assert names(after) == ["d5"]
    assert names(box.sim.read("d4/f.py")) == ["d4"]


def test_many_directories_in_one_message(
    make_project: Callable[..., SimulatedProject], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directive_search, "MOST_LEVELS", 5)
    box = with_rules(make_project, 23)
    calls = [("Read", {"file_path": str(box.project / f"d{number}/f.py")}) for number in range(23)]
    first = box.sim.batch(*calls)
    assert len(first.titles) < 10
    box.idle(8)
    there = {path for path, _, _, _ in box.sim.copies() if "/project/d" in path}
    assert len(there) == 23 and set(box.sim.copies().values()) == {1}


def test_many_files_wait(make_project: Callable[..., SimulatedProject], monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that cannot fit are not even read."""
    monkeypatch.setattr(delivery, "_MOST_READ", 5)
    read: list[str] = []
    usual = documents.read_page
    monkeypatch.setattr(documents, "read_page", lambda path, *more: read.append(path) or usual(path, *more))
    box = make_project()
    for number in range(23):
        box.write(f"d{number}/.directives/AGENTS.md", f"rule {number}\n")
    box.sim.start()
    read.clear()
    box.sim.batch(*[("Read", {"file_path": str(box.project / f"d{number}/f.py")}) for number in range(23)])
    assert len(read) <= 5
    box.idle(8)
    assert len([path for path, _, _, _ in box.sim.copies() if "/project/d" in path]) == 23


def test_a_page_with_many_references(
    make_project: Callable[..., SimulatedProject], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folders are listed once, instead of checking every name."""
    asked: list[str] = []
    usual = World.is_file
    monkeypatch.setattr(World, "is_file", lambda self, path: asked.append(path) or usual(self, path))
    box = make_project()
    names = [f"CMD_X{number:04}" for number in range(3000)]
    box.page(names[7])
    box.page(names[2900])
    box.write("one/.directives/AGENTS.md", " ".join(f"§{name}" for name in names) + "\n")
    box.sim.start()
    asked.clear()
    box.sim.read("one/f.py")
    assert len(asked) < 100
    box.idle(8)
    assert {Path(path).stem for path, _, _, _ in box.sim.copies() if "/CMD_X" in path} == {names[7], names[2900]}


@pytest.mark.parametrize("count", [pages.MANY, pages.MANY + 1])
def test_few_and_many_names_mean_the_same_files(make_project: Callable[..., SimulatedProject], count: int) -> None:
    box = make_project()
    names = [f"CMD_{'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[number]}" for number in range(count)]
    box.page(names[0])
    box.page(names[1], under="one/")
    box.page(names[2], under="two/")
    box.write("one/.directives/AGENTS.md", " ".join(f"§{name}" for name in [*names[1:], names[0]]) + "\n")
    box.sim.start()
    for _ in range(3):
        box.sim.read("one/f.py")
    found = [path for path, _, _, _ in box.sim.copies() if "/CMD_" in path and "/project/" in path]
    assert found == [str(box.project / f"one/.directives/commands/{names[1]}.md"),
                     str(box.project / f".directives/commands/{names[0]}.md")]  # fmt: skip


def test_patterns_that_lead_to_too_much_are_told(
    make_project: Callable[..., SimulatedProject], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(globs, "MOST_STEPS", 40)
    box = make_project()
    box.write("deep/a/state.md", "STATE\n")
    patterns = ", ".join(f'"**/*{number}*/*.md"' for number in range(50))
    box.write(".handbill.toml", f'[roles.lead]\nskills = ["lead"]\ntargets = ["deep/*/state.md", {patterns}]\n')
    box.skill("lead", text="x")
    box.sim.start()
    box.sim.skill("lead")
    box.sim.read("one/f.py")
    box.sim.compact()
    assert any("lead to too many folders" in error for error in box.errors())
    assert any("state.md" in path for path, _, _, _ in box.sim.copies()), "what was found before that is delivered"
