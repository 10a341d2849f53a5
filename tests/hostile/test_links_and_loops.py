"""Links, FIFOs and temporary files that a repository may bring along."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from box import Box
from handbill.config import Config
from handbill.core.sheet import Refusal
from handbill.store import disk
from handbill.world import World

Make = Callable[..., Box]


@pytest.mark.parametrize(
    "target, delivered",
    [
        ("plugins/x/skills/y/SKILL.md", True),
        ("plugins/x/config/token.txt", False),
        ("plugins/installed_plugins.json", False),
        ("settings.json", False),
        ("skills/z/SKILL.md", True),
    ],
)
def test_what_a_link_into_the_users_library_may_lead_to(tmp_path: Path, target: str, delivered: bool) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    path = home / ".claude" / target
    path.parent.mkdir(parents=True)
    path.write_text("text\n")
    project.mkdir()
    (project / "AGENTS.md").symlink_to(path)
    world = World(Config(str(project), str(home), {}).roots)
    assert isinstance(world.load(str(project / "AGENTS.md")), Refusal) is not delivered


@pytest.mark.once
def test_links_between_folders_do_not_keep_glob_busy(make_box: Make) -> None:
    box = make_box()
    folders = [box.project / f"d{number}" for number in range(9)]
    for folder in folders:
        folder.mkdir()
        for other in folders:
            (folder / f"to-{other.name}").symlink_to(other)
    done = box.process("engine glob '**/*.none'")
    assert done.returncode == 1 and "the search would visit more than" in done.stderr


def test_replay_does_not_wait_for_a_fifo(make_box: Make) -> None:
    box = make_box()
    os.mkfifo(box.project / "stream.jsonl")
    done = box.process("engine replay stream.jsonl")
    assert done.returncode == 1 and "not a regular file" in done.stderr


def test_a_temporary_file_that_is_there_already_is_not_written_into(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("precious")
    os.link(precious, tmp_path / f"state.json.{os.getpid()}.tmp")
    disk.replace(str(tmp_path / "state.json"), b"{}")
    assert precious.read_text() == "precious" and (tmp_path / "state.json").read_text() == "{}"


def test_a_head_with_a_number_of_many_digits(make_box: Make) -> None:
    box = make_box()
    box.write("02-projects/x/01-planning/_resume.md", f"---\nfiles_to_load: [a.md]\nprogress: {'9' * 6000}\n---\n")
    done = box.process("engine resume check")
    assert done.returncode == 1 and "Traceback" not in done.stderr and "digits" in done.stdout


def test_large_pages_of_a_skill_are_not_all_searched(make_box: Make) -> None:
    """After a compaction, every page of a skill is wanted again; what a page names is looked for in the first ones."""
    box = make_box()
    folder = box.project / ".directives" / "invariants"
    folder.mkdir(parents=True)
    names = [f"INV_X{number}" for number in range(6)]
    for name in names:
        (folder / f"{name}.md").write_text(f"§INV_OF_{name}\n" + "- a line of a long page\n" * 8_000)
        (folder / f"INV_OF_{name}.md").write_text("x\n")
    box.write(".claude/skills/evil/SKILL.md", "---\nname: evil\n---\n" + " ".join(f"§{name}" for name in names) + "\n")
    box.sim.start()
    box.sim.invoke("evil")
    box.sim.compact()
    box.idle()
    waiting = [path for path in box.state()["pendingPreloads"] if "INV_OF_" in path]
    assert 0 < len(waiting) < len(names)
