"""Links, FIFOs and temporary files that a repository may bring along."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from handbill.hosts import claude_code
from handbill.reports.sessions import SessionRow, day_of
from handbill.settings import ProcessContext
from handbill.store import disk
from handbill.text.document import Refusal
from handbill.world import World, deliverable_roots
from simulated_project import SimulatedProject

Make = Callable[..., SimulatedProject]


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
    process = ProcessContext(str(project), str(home))
    world = World(deliverable_roots(process, claude_code, ()), claude_code, process)
    assert isinstance(world.load(str(project / "AGENTS.md")), Refusal) is not delivered


@pytest.mark.once
def test_links_between_folders_do_not_keep_glob_busy(make_project: Make) -> None:
    box = make_project()
    folders = [box.project / f"d{number}" for number in range(9)]
    for folder in folders:
        folder.mkdir()
        for other in folders:
            (folder / f"to-{other.name}").symlink_to(other)
    done = box.process("engine glob '**/*.none'")
    assert done.returncode == 1 and "the search would visit more than" in done.stderr


def test_replay_does_not_wait_for_a_fifo(make_project: Make) -> None:
    box = make_project()
    os.mkfifo(box.project / "stream.jsonl")
    done = box.process("engine replay stream.jsonl")
    assert done.returncode == 1 and "not a regular file" in done.stderr


def test_a_temporary_file_that_is_there_already_is_not_written_into(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("precious")
    os.link(precious, tmp_path / f"state.json.{os.getpid()}.tmp")
    disk.replace(str(tmp_path / "state.json"), b"{}")
    assert precious.read_text() == "precious" and (tmp_path / "state.json").read_text() == "{}"


@pytest.mark.parametrize("field", ["current_task", "own_field"])
def test_a_hexadecimal_number_of_many_digits(make_project: Make, field: str) -> None:
    """Python reads it, and refuses to write it."""
    box = make_project()
    box.write("02-projects/x/01-planning/_resume.md", f"---\nfiles_to_load: [a.md]\n{field}: 0x{'F' * 9000}\n---\n")
    box.write("02-projects/x/a.md", "a\n")
    done = box.process("engine resume check")
    assert "Traceback" not in done.stderr and (done.returncode, "hundreds of digits" in done.stdout) == (
        (1, True) if field == "current_task" else (0, False)
    )
    done = box.process("engine resume write x --load a.md")
    assert done.returncode in (0, 1) and "bug" not in done.stderr


def test_a_time_as_the_name_of_a_project(make_project: Make) -> None:
    box = make_project()
    head = "files_to_load: [a.md]\nproject_id: 20251118211809123456\n"
    box.write("02-projects/x/01-planning/_resume.md", f"---\n{head}---\n")
    box.write("02-projects/x/a.md", "a\n")
    assert box.process("engine resume check").returncode == 0


@pytest.mark.parametrize("changed", [1e14, 1e30, -1e30])
def test_a_session_from_the_far_future(changed: float) -> None:
    assert day_of(SessionRow("S", "", "", "", "", "", "", "", "", changed, "")) == ""


@pytest.mark.parametrize("inside", [False, True])
def test_a_project_that_is_too_deep(make_project: Make, inside: bool) -> None:
    """It costs the project's rules, not the user's. Nothing is taken to be inside of it."""
    box = make_project()
    own = Path(box.environ["HOME"]) / ".claude/.directives/INVARIANTS.md"
    own.parent.mkdir(parents=True)
    own.write_text("MARK-OWN\n")
    private = Path(box.environ["HOME"]) / "Private"
    private.mkdir()
    (private / "lawyer.md").write_text("x\n")
    if inside:
        deep = box.project / "/".join(["a"] * 250)
        (deep / ".claude").mkdir(parents=True)
        roles = f'[roles.handler]\nmarker = ".claude"\ntargets = ["{private}/*.md", "h/*.md"]\n'
        (deep / ".handbill.toml").write_text(roles)
        (deep / "h").symlink_to(private)
        box.environ["CLAUDE_PROJECT_DIR"] = box.sim.project = str(deep)
    box.sim.start()
    box.sim.prompt("go")
    box.idle(2)
    box.sim.compact()
    box.idle(2)
    assert box.seen().count("MARK-OWN") == 1 and "lawyer" not in box.seen()
    assert "# Commands" in box.seen(), "the standards"


def test_a_head_with_a_number_of_many_digits(make_project: Make) -> None:
    box = make_project()
    box.write("02-projects/x/01-planning/_resume.md", f"---\nfiles_to_load: [a.md]\nprogress: {'9' * 6000}\n---\n")
    done = box.process("engine resume check")
    assert done.returncode == 1 and "Traceback" not in done.stderr and "cannot be read" in done.stdout


def test_large_pages_of_a_skill_are_not_all_searched(make_project: Make) -> None:
    """After a compaction, every page of a skill is wanted again; what a page names is looked for in the first ones."""
    box = make_project()
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
