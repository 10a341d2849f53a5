"""After a compaction: what was delivered before it, what is there under another name, and who the session is by then."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from regressions import lanes

from handbill.handlers import reread_gate
from handbill.store.files import FileStore
from simulated_project import SimulatedProject

Make = Callable[..., SimulatedProject]


def lead(box: SimulatedProject, targets: str, more: str = "") -> None:
    box.own_settings(f'[roles.lead]\nenv = ["HOME"]\ntargets = [{targets}]\n{more}')
    box.sim.held_tools = ""


def three_big_targets(box: SimulatedProject) -> None:
    """More than one handler can say at a start."""
    lead(box, '"big-*.md"')
    for number in range(3):
        box.write(f"big-{number}.md", f"BEGIN-{number}\n" + "word " * 1700 + f"\nEND-{number}\n")


def bash(box: SimulatedProject) -> str:
    return box.sim.batch(("Bash", {"command": "make"})).denied


def test_a_target_that_was_delivered_before_is_given_at_once(make_project: Make) -> None:
    box = make_project()
    lead(box, '"one/.directives/AGENTS.md"')
    box.sim.start()
    box.sim.read("one/f.py")
    bash(box)
    bash(box)
    box.sim.compact()
    assert box.seen().count("rules of one") == 1, "with the very next request"
    assert bash(box) == "" and box.seen().count("rules of one") == 1


def test_a_target_in_the_kept_messages_is_neither_given_again_nor_waited_for(make_project: Make) -> None:
    box = make_project()
    lead(box, '"one/.directives/AGENTS.md"')
    box.sim.start()
    box.sim.read("one/f.py")
    box.sim.compact()
    for _ in range(3):
        assert bash(box) == "" and box.seen().count("rules of one") == 1


def test_large_targets_over_two_compactions(make_project: Make) -> None:
    box = make_project()
    three_big_targets(box)
    box.sim.start()
    bash(box)
    for _ in range(2):
        box.sim.compact()
        assert bash(box), "what did not fit comes with the held message"
        assert [box.seen().count(f"END-{number}") for number in range(3)] == [1, 1, 1]
        assert bash(box) == "" and bash(box) == ""


def test_a_text_that_is_there_under_another_name_is_not_waited_for(make_project: Make) -> None:
    box = make_project()
    lead(box, '"lead.md"')
    box.write("lead.md", "the same text\n")
    box.write(".context/TASKS.md", "the same text\n")
    box.sim.start()
    bash(box)
    box.sim.compact()
    assert bash(box) == "" and box.sim.stop().denied == ""
    assert box.seen().count("the same text") == 1


def test_a_file_that_went_away_meanwhile_holds_nothing(make_project: Make) -> None:
    box = make_project()
    three_big_targets(box)
    box.sim.start()
    bash(box)
    box.sim.compact()
    for number in range(3):
        (box.project / f"big-{number}.md").unlink()
    assert bash(box) == ""


def test_a_session_that_became_regular_hears_no_more(make_project: Make) -> None:
    box = make_project()
    lead(box, '"lead.md"', 'read = ["board.md"]\n')
    box.write("lead.md", "MARK-LEAD\n")
    box.write("board.md", "board\n")
    box.sim.start()
    bash(box)
    box.sim.compact()
    assert box.seen().count("MARK-LEAD") == 1
    FileStore(str(box.state_folder)).note((box.sim.session, "main"), "role", {"role": "regular"})
    box.sim.batch(("Glob", {"pattern": "*"}))
    box.sim.batch(("Glob", {"pattern": "*"}))
    box.sim.compact()
    box.sim.read("board.md")
    assert bash(box) == "" and bash(box) == "" and "MARK-LEAD" not in box.seen()


def test_what_is_to_be_read_at_the_end_of_a_turn_is_not_given_as_well(make_project: Make) -> None:
    box = make_project()
    three_big_targets(box)
    box.sim.start()
    bash(box)
    box.sim.compact()
    late = [number for number in range(3) if f"END-{number}" not in box.seen()]
    assert late and box.sim.stop().denied
    for _ in range(4):
        assert bash(box) == ""
    assert [box.seen().count(f"END-{number}") for number in late] == [0] * len(late)


def test_the_held_message_ends_in_time(make_project: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where the hook that sees a message end never runs."""
    box = make_project()
    lead(box, '"none"', 'read = ["board.md"]\n')
    box.write("board.md", "board\n")
    box.sim.start()
    bash(box)
    box.sim.compact()
    call = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "x"}, "tool_use_id": "t"}
    assert box.sim.send(dict(call)).denied and box.sim.send(dict(call)).denied
    monkeypatch.setattr(reread_gate, "_ONE_MESSAGE", -1.0)
    assert box.sim.send(dict(call)).denied == ""


def test_a_role_known_by_a_skill_outlives_it(make_project: Make) -> None:
    """A long skill is cut by the compaction, so that it counts as gone; the role stays."""
    box = make_project()
    box.skill("handler", text="x" * 30_000)
    box.write("handler-state.md", "MARK-STATE\n")
    box.sim.start()
    box.sim.skill("handler")
    for _ in range(3):
        bash(box)
        box.sim.compact()
        assert box.seen().count("MARK-STATE") == 1


@pytest.mark.parametrize("first", [1, 2])
def test_what_is_wrong_is_logged_whichever_lane_wins(make_project: Make, first: int) -> None:
    box = make_project()
    lanes(box, 2, first=first)
    (box.project / ".context").mkdir()
    (box.project / ".context/TASKS.md").write_bytes(b"\0")
    box.sim.start()
    assert any("TASKS.md is binary" in line for line in box.errors())


def test_a_read_that_failed_is_shown_as_such(make_project: Make) -> None:
    box = make_project()
    lead(box, '"none"', 'read = ["board.md"]\n')
    box.write("board.md", "board\n")
    box.sim.start()
    bash(box)
    box.sim.compact()
    box.sim.batch(("Read", {"file_path": str(box.project / "board.md")}, "<tool_use_error>no</tool_use_error>"))
    state = box.state()["flags"]["reread"]
    assert state["tried"] == [str(box.project / "board.md")] and state["left"] == [] == state["read"]
