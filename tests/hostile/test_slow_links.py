"""Links through tens of thousands of folders: the system takes milliseconds for each look at such a file."""

from __future__ import annotations

import os
import posix
from collections.abc import Callable
from pathlib import Path

import pytest

from handbill.world import World
from handbill.world.documents import real_path
from simulated_project import SimulatedProject, names


def make_slow(folder: Path) -> Path:
    """A link to a folder, through 38 links, each with hundreds of detours."""
    (folder / "d").mkdir(parents=True)
    (folder / "end").mkdir()
    (folder / "end/AGENTS.md").write_text("slow rules\n")
    before = "end"
    for number in range(38):
        (folder / f"l{number}").symlink_to("d/../" * 780 + before)
        before = f"l{number}"
    return folder / before


@pytest.fixture
def slow(make_project: Callable[..., SimulatedProject]) -> tuple[SimulatedProject, Path]:
    box = make_project()
    return box, make_slow(box.project / "chain")


def test_such_a_link_is_not_followed_to_its_end(
    slow: tuple[SimulatedProject, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    box, link = slow
    assert (link / "AGENTS.md").read_text() == "slow rules\n", "the system follows it"
    usual, looks = posix.readlink, list[str]()
    monkeypatch.setattr(posix, "readlink", lambda path: looks.append(path) or usual(path))
    with pytest.raises(OSError, match="more than 400 folders"):
        real_path(str(link))
    assert len(looks) <= 400
    monkeypatch.setattr(posix, "stat", lambda path: pytest.fail("the system would follow all of it"))
    world = World((str(box.project),))
    assert (world.stamp(str(link)), world.is_dir(str(link)), world.size(str(link)), world.inode(str(link))) == (
        "", False, -1, "",
    )  # fmt: skip


def test_a_usual_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "gone").symlink_to("nowhere")
    world = World((str(tmp_path),))
    assert world.inode(str(tmp_path / "link")) == world.inode(str(tmp_path / "file"))
    assert world.is_file(str(tmp_path / "link")) and not world.is_file(str(tmp_path / "gone"))


def test_the_users_rules_come_before_a_slow_project(slow: tuple[SimulatedProject, Path], tmp_path: Path) -> None:
    box, link = slow
    level = box.project / "deep"
    for number in range(60):
        level = level / f"n{number}"
        level.mkdir(parents=True)
        (level / ".directives").symlink_to(link)
    own = tmp_path / "own"
    (own / ".directives").mkdir(parents=True)
    (own / ".directives/AGENTS.md").write_text("MY RULES\n")
    box.own_settings(f'[files]\nallow = ["{own}"]\n')
    box.sim.start()
    assert "own" in names(box.sim.read(str(level / "f.py"), str(own / "f.py")))
    assert box.seen().count("MY RULES") == 1 and "slow rules" not in box.seen()
    assert os.listdir(own) == [".directives"]
