"""Category 4: directives of touched directories, with and without a skill."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from implement_session import activate, with_implement

from simulated_project import SimulatedProject

TYPES = ("AGENTS", "INVARIANTS", "TESTING", "PITFALLS", "CONTRIBUTING")


def with_package(box: SimulatedProject) -> SimulatedProject:
    with_implement(box)
    box.write(".directives/INVARIANTS.md", "project invariants\n")
    for kind in TYPES:
        box.write(f"packages/estimate/.directives/{kind}.md", f"{kind} of estimate\n")
    for name in ("src/parser.py", "src/other.py", "tests/test_parser.py"):
        box.write(f"packages/estimate/{name}", "x\n")
    return box


def names(box: SimulatedProject) -> list[str]:
    return sorted(line["file"].removeprefix(str(box.project) + "/") for line in box.deliveries.of("claim-deliver")
                  if line["source"].startswith("directive"))  # fmt: skip


def test_walk_up_over_levels(make_project: Callable[..., SimulatedProject]) -> None:
    box = with_package(make_project())
    box.sim.start()
    box.sim.read("packages/estimate/src/parser.py")
    assert names(box) == [
        ".directives/INVARIANTS.md", "packages/estimate/.directives/AGENTS.md", "packages/estimate/.directives/INVARIANTS.md",
    ]  # fmt: skip
    box.deliveries.assert_no_duplicates()


@pytest.mark.parametrize("first", ["read", "edit"])
def test_types_that_the_skill_declares_whatever_touched_first(
    make_project: Callable[..., SimulatedProject], first: str
) -> None:
    """Reading before editing is the usual order, and must not hide what the edit needs."""
    box = with_package(make_project())
    box.sim.start()
    box.sim.skill("implement")
    tools = {"read": "Read", "edit": "Edit"}
    path = str(box.project / "packages/estimate/src/parser.py")
    box.sim.batch((tools[first], {"file_path": path}))
    box.sim.batch(("Edit", {"file_path": path}))
    found = names(box)
    assert "packages/estimate/.directives/TESTING.md" in found and "packages/estimate/.directives/PITFALLS.md" in found
    assert "packages/estimate/.directives/CONTRIBUTING.md" not in found, "the skill does not declare it"
    box.deliveries.assert_no_duplicates()


def test_a_directory_touched_before_the_skill_began(make_project: Callable[..., SimulatedProject]) -> None:
    box = with_package(make_project())
    box.sim.start()
    box.sim.read("packages/estimate/src/parser.py")
    assert "packages/estimate/.directives/TESTING.md" not in names(box)
    box.sim.skill("implement")
    assert "packages/estimate/.directives/TESTING.md" in names(box)
    box.deliveries.assert_no_duplicates()


def test_same_directory_and_siblings_are_looked_at_once(make_project: Callable[..., SimulatedProject]) -> None:
    box = with_package(make_project())
    box.sim.start()
    for path in ("src/parser.py", "src/other.py", "tests/test_parser.py"):
        box.sim.read(f"packages/estimate/{path}")
    box.deliveries.assert_no_duplicates()
    assert box.deliveries.skips(".md") == 0, "nothing was even asked for twice"


def test_directives_of_declared_directories(make_project: Callable[..., SimulatedProject]) -> None:
    """`directoriesOfInterest` of an activation brings their directives."""
    box = with_package(make_project())
    box.sim.start()
    box.sim.skill("implement")
    params = '{"taskSummary": "x", "directoriesOfInterest": ["packages/estimate"]}'
    box.shell(f"echo '{params}' | engine session activate S implement")
    assert "packages/estimate/.directives/PITFALLS.md" in names(box)
    box.sim.read("packages/estimate/src/parser.py")
    box.deliveries.assert_no_duplicates()


def test_the_walk_in_the_users_library_ends_there(make_project: Callable[..., SimulatedProject]) -> None:
    box = with_implement(make_project())
    from pathlib import Path

    home = Path(box.environ["HOME"])
    (home / ".claude/skills/x").mkdir(parents=True)
    (home / ".claude/.directives").mkdir()
    (home / ".claude/.directives/AGENTS.md").write_text("library\n")
    (home / ".directives").mkdir()
    (home / ".directives/AGENTS.md").write_text("above the library\n")
    (home / ".claude/skills/x/f.md").write_text("x\n")
    box.sim.start()
    box.sim.batch(("Read", {"file_path": str(home / ".claude/skills/x/f.md")}))
    found = [line["file"] for line in box.deliveries.of("claim-deliver", "direct-deliver")]
    assert found.count(str(home / ".claude/.directives/AGENTS.md")) == 1, "it came with the start, for every project"
    assert str(home / ".directives/AGENTS.md") not in found


def test_a_later_skill_asks_for_more(make_project: Callable[..., SimulatedProject]) -> None:
    box = with_package(make_project())
    box.skill("document", {"label": "0", "steps": ["§CMD_REPORT_INTENT"]}, directives=["CONTRIBUTING"])
    box.sim.start()
    box.sim.skill("implement")
    activate(box)
    box.sim.read("packages/estimate/src/parser.py")
    box.shell("echo done | engine session idle --user-approved 'enough'")
    activate(box, "document")
    assert "packages/estimate/.directives/CONTRIBUTING.md" in names(box)
    box.deliveries.assert_no_duplicates()
