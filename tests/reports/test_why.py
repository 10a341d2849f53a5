"""Where a file is, and why it is not anywhere."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from handbill.reports.why import Why, why
from simulated_project import SimulatedProject

Make = Callable[..., SimulatedProject]
RULES = "one/.directives/AGENTS.md"


@pytest.fixture
def box(make_project: Make) -> SimulatedProject:
    made = make_project()
    made.sim.start()
    return made


def asked(box: SimulatedProject, file: str, session: str = "") -> Why:
    return why(str(box.project / file), box.opened(), session)


def test_where_a_file_is(box: SimulatedProject) -> None:
    box.sim.read("one/f.py")
    box.sim.read("one/f.py")
    found = asked(box, RULES)
    (row,) = found.windows
    assert (row.window, row.session, row.agent) == (f"{box.sim.session}.main", box.sim.session, "main")
    assert row.state == "confirmed" and row.reason == f"directive of {box.project}/one" and row.at > 0
    assert [line["event"] for line in found.decisions] == ["confirmed", "claim-deliver"], "the newest first"
    assert found.why_not == [] and found.more_windows == 0


@pytest.mark.parametrize(
    "file, words",
    [
        ("two/.directives/AGENTS.md", "it is delivered when two, or a folder below it, is touched"),
        ("we[b]/.directives/AGENTS.md", "it is delivered when we[b], or a folder below it, is touched"),
        ("one/.directives/TESTING.md", "TESTING.md is delivered when the active skill requests it, or `directives.always` names it"),
        ("node_modules/.directives/AGENTS.md", "node_modules is outside the project, or below an excluded folder"),
        ("plain.txt", "it is not a standard, directive, page, skill or template, and no gate lists it: nothing requests it"),
        ("none.md", "it does not exist"), ("bin.md", "it is binary"), ("skills/x/SKILL.md", "its skill was not invoked or activated in a known window"),
        (".directives/commands/CMD_X.md", "a page is delivered when a phase or a delivered page names it; neither happened in a known window"),
        (".context/DECISIONS.md", "the context gate listed it for the agent to read: not read"),
    ],
)  # fmt: skip
def test_why_a_file_is_nowhere(make_project: Make, file: str, words: str) -> None:
    box = make_project()
    box.write(".context/DECISIONS.md", "y " * 40_000)
    if file != "none.md":
        box.write(file, {"bin.md": "x\0y", ".context/DECISIONS.md": "y " * 40_000}.get(file, "x\n"))
    box.sim.start()
    found = asked(box, file)
    assert found.windows == [] and found.why_not == [words]


def test_a_directive_that_is_new_in_a_folder_the_agent_was_in(box: SimulatedProject) -> None:
    box.sim.read("one/f.py")
    box.write("one/.directives/INVARIANTS.md", "new\n")
    assert asked(box, "one/.directives/INVARIANTS.md").why_not == ["it is delivered when one is touched again"]


def test_a_file_that_a_role_has_to_read_again(box: SimulatedProject) -> None:
    box.write(".handbill.toml", '[roles.lead]\nskills = ["lead"]\nread = ["board.md"]\n')
    box.write("board.md", "x\n")
    box.skill("lead")
    box.sim.skill("lead")
    box.idle()
    box.sim.compact()
    words = "after a compaction, the agent in the role lead had to read it itself: not read"
    assert asked(box, "board.md").why_not == [words]


def test_what_a_compaction_removed(box: SimulatedProject) -> None:
    box.sim.read("one/f.py")
    box.idle()
    box.sim.compact()
    assert asked(box, RULES).windows[0].state == "in doubt"
    box.idle()
    gone = asked(box, RULES)
    assert (
        gone.windows == [] and len(gone.why_not) == 2 and gone.why_not[1] == "it is delivered again when it is needed"
    )
    assert "a compaction or a rewind removed it" in gone.why_not[0]
    (box.project / RULES).unlink()
    assert asked(box, RULES).why_not[1] == "it does not exist any more"


def test_windows_the_newest_first_and_those_of_one_session(box: SimulatedProject) -> None:
    box.sim.read("one/f.py")
    box.sim.subagent("a1b2c3")
    box.sim.read("one/f.py", agent="a1b2c3")
    found = asked(box, RULES)
    assert [row.agent for row in found.windows] == ["a1b2c3", "main"]
    times = [line["ts"] for line in found.decisions]
    assert times == sorted(times, reverse=True) and times
    assert len(asked(box, RULES, box.sim.session[:8]).windows) == 2
    other = asked(box, RULES, "nobody")
    assert other.windows == [] and other.decisions == [] and other.session == "nobody"


def test_the_reason_of_a_file_that_was_found_again(box: SimulatedProject) -> None:
    box.sim.read("one/f.py")
    box.idle()
    box.lose_ledger()
    box.idle()
    reason = asked(box, RULES).windows[0].reason
    assert reason.startswith("directive of ") and reason.endswith(", found in the transcript")


def test_a_file_that_waits(box: SimulatedProject) -> None:
    for name in ("one", "two", "three"):
        box.write(f"{name}/.directives/AGENTS.md", f"rules of {name}\n" * 500)
    box.sim.read("one/f.py", "two/f.py", "three/f.py")
    (row,) = asked(box, "three/.directives/AGENTS.md").windows
    assert (row.state, row.at) == ("pending", 0.0) and row.reason.startswith("directive of ")
