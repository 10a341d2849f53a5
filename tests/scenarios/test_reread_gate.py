"""Re-reading after a compaction, on the host in a box: by role, once, and nothing for a regular session."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from handbill.store.files import FileStore
from simulated_project import OLD, SimulatedProject

Make = Callable[..., SimulatedProject]
DISPATCH = "# Login\nStatus: in-progress\n\n## Task\nMARK-TASK\n\n## Progress\n- MARK-PROGRESS\n"


@pytest.fixture
def box(make_project: Make) -> SimulatedProject:
    made = make_project()
    made.sim.held_tools = ""
    made.write("handler-state.md", "MARK-STATE\n")
    made.write("docs/handler-dispatches/login.md", DISPATCH)
    made.write(
        "docs/handler-dispatches/old.md",
        DISPATCH.replace("in-progress", "done").replace("MARK", "OLD") + "\n## Result\nx\n",
    )
    made.skill("handler", text="the handler")
    return made


def settings(box: SimulatedProject, text: str) -> None:
    box.write(".handbill.toml", text)


def counts(box: SimulatedProject, *marks: str) -> list[int]:
    return [box.seen().count(mark) for mark in marks]


def as_handler(box: SimulatedProject) -> None:
    box.sim.start()
    box.sim.skill("handler")
    box.idle()


def test_a_handler_has_its_files_again_and_nothing_is_held(box: SimulatedProject) -> None:
    as_handler(box)
    assert counts(box, "MARK-STATE", "MARK-TASK") == [0, 0]
    text = "\n".join(box.sim.compact().texts)
    assert counts(box, "MARK-STATE", "MARK-TASK", "MARK-PROGRESS", "OLD-TASK") == [1, 1, 1, 0]
    assert "role is handler" in text and "2 of 2 files for this role" in text
    for _ in range(2):
        after = box.sim.batch(("Bash", {"command": "make"}))
        assert after.denied == "" and after.texts == []
    assert box.sim.stop().denied == ""


def test_a_regular_session_hears_nothing(box: SimulatedProject) -> None:
    box.sim.start()
    box.idle()
    box.sim.compact()
    assert counts(box, "MARK-STATE", "MARK-TASK", "role is") == [0, 0, 0]
    assert box.sim.batch(("Bash", {"command": "make"})).denied == "" and box.sim.stop().denied == ""


def test_what_does_not_fit_holds_the_first_message_once(box: SimulatedProject) -> None:
    box.write("handler-state.md", "MARK-STATE\n" + "x" * 100_000)
    as_handler(box)
    box.sim.compact()
    assert counts(box, "MARK-STATE", "MARK-TASK") == [0, 1]
    held = box.sim.batch(("Bash", {"command": "make"}), ("Glob", {"pattern": "*"}))
    path = str(box.project / "handler-state.md")
    assert counts(box, f"- {path}") == [1], "several calls at once: one carries the list, all wait"
    assert held.denied.startswith("[Held by Handbill]") and held.texts == []
    for _ in range(3):
        assert box.sim.batch(("Bash", {"command": "make"})).denied == "", "whether it was read or not"
    assert box.sim.stop().denied == "" and counts(box, f"- {path}") == [1]


def test_reading_first_is_not_held(box: SimulatedProject) -> None:
    box.write("handler-state.md", "MARK-STATE\n" + "x" * 100_000)
    as_handler(box)
    box.sim.compact()
    assert box.sim.read("handler-state.md").denied == ""
    assert box.sim.batch(("Bash", {"command": "make"})).denied == ""


def test_a_turn_without_calls_is_kept_from_ending_once(box: SimulatedProject) -> None:
    settings(box, '[roles.handler]\nread = ["docs/handler-dispatches/login.md"]\n')
    as_handler(box)
    box.sim.compact()
    assert box.sim.stop(again=True).denied == "", "another hook keeps it going: not our turn"
    kept = box.sim.stop().denied
    assert "docs/handler-dispatches/login.md" in kept and "still needs 1 file:" in kept
    assert box.sim.stop(again=True).denied == "" and box.sim.stop().denied == ""
    assert box.sim.batch(("Bash", {"command": "make"})).denied == "", "then silent"


def test_where_calls_cannot_be_held_the_list_comes_with_the_results(box: SimulatedProject) -> None:
    box.write("handler-state.md", "MARK-STATE\n" + "x" * 100_000)
    box.sim.held_tools = "Write"
    as_handler(box)
    box.sim.compact()
    path = f"- {box.project / 'handler-state.md'}"
    assert path in "\n".join(box.sim.batch(("Bash", {"command": "make"})).texts)
    box.sim.batch(("Bash", {"command": "make"}))
    assert counts(box, path) == [1]


def test_two_compactions_in_a_row(box: SimulatedProject) -> None:
    as_handler(box)
    box.sim.compact()
    box.sim.compact()
    assert counts(box, "MARK-STATE", "MARK-TASK") == [1, 1]
    box.idle()
    box.sim.compact()
    assert counts(box, "MARK-STATE", "MARK-TASK") == [1, 1]


def test_a_compaction_while_the_gate_is_armed(box: SimulatedProject) -> None:
    box.write("handler-state.md", "x" * 100_000)
    as_handler(box)
    box.sim.compact()
    box.sim.compact()
    path = f"- {box.project / 'handler-state.md'}"
    assert box.sim.batch(("Bash", {"command": "make"})).denied
    assert box.sim.batch(("Bash", {"command": "make"})).denied == "" and counts(box, path) == [1]


def test_a_subagents_compaction_is_not_the_handlers(box: SimulatedProject) -> None:
    as_handler(box)
    box.sim.subagent("a1")
    box.sim.batch(("Bash", {"command": "true"}), agent="a1")
    box.sim.compact("a1")
    assert "MARK-STATE" not in box.seen("a1") and counts(box, "MARK-STATE") == [0]
    assert box.sim.batch(("Bash", {"command": "make"}), agent="a1").denied == ""


@pytest.mark.parametrize(
    "declared, environ, marker",
    [
        ('[roles.lead]\nenv = ["TEAM_ROLE=lead*"]\ntargets = ["lead.md"]\n', {"TEAM_ROLE": "leader"}, ""),
        ('[roles.lead]\nhome = "*/home"\ntargets = ["lead.md"]\n', {}, ""),
        ('[roles.lead]\nmarker = ".lead"\ntargets = ["l*.md"]\n', {}, ".lead"),
        ('[roles.lead]\ntargets = ["**/lead.md"]\n', {"HANDBILL_ROLE": "lead"}, ""),
    ],
    ids=["env", "home", "marker", "variable"],
)
def test_roles_of_ones_own(make_project: Make, declared: str, environ: dict[str, str], marker: str) -> None:
    box = make_project()
    box.environ.update(environ)
    box.own_settings(declared)
    box.write("lead.md", "MARK-LEAD\n")
    if marker:
        box.write(marker, "")
    box.sim.start()
    box.idle()
    box.sim.compact()
    assert counts(box, "MARK-LEAD", "role is lead") == [1, 1]


def test_a_role_that_is_no_longer_declared(box: SimulatedProject) -> None:
    box.sim.start()
    FileStore(str(box.state_folder)).note((box.sim.session, "main"), "role", {"role": "gone"})
    box.idle()
    box.sim.compact()
    assert counts(box, "role is") == [0] and any("'gone'" in line for line in box.errors())


def test_a_broken_role_note(box: SimulatedProject) -> None:
    box.sim.start()
    (box.state_folder / f".windows/{box.sim.session}.role").write_text("{no")
    box.idle()
    box.sim.compact()
    assert set(box.sim.copies().values()) == {1} and any("not JSON" in line for line in box.errors())


def test_a_worker_has_its_dispatch_from_outside_the_project(box: SimulatedProject, tmp_path: Path) -> None:
    dispatch = tmp_path / "tickets" / "login.md"
    dispatch.parent.mkdir()
    dispatch.write_text(DISPATCH)
    box.sim.start()
    note = {"role": "worker", "dispatch": str(dispatch)}
    FileStore(str(box.state_folder)).note((box.sim.session, "main"), "role", note)
    box.idle()
    box.drop_next()
    box.sim.compact()
    box.idle(3)
    assert counts(box, "MARK-TASK", "MARK-PROGRESS") == [1, 1], "also when it was lost on its way"


@pytest.mark.parametrize("lost", [False, True])
def test_a_long_dispatch_from_outside_the_project_comes_whole(
    box: SimulatedProject, tmp_path: Path, lost: bool
) -> None:
    lines = [f"line {number:03} of the task {'x' * 60}" for number in range(250)]
    dispatch = tmp_path / "login.md"
    dispatch.write_text(DISPATCH + "\n".join(lines))
    box.sim.start()
    note = {"role": "worker", "dispatch": str(dispatch)}
    FileStore(str(box.state_folder)).note((box.sim.session, "main"), "role", note)
    box.idle()
    box.sim.compact()
    if lost:
        box.drop_next()
    box.idle(6)
    assert counts(box, *lines) == [1] * len(lines)


def test_a_worker_known_by_its_home(make_project: Make, tmp_path: Path) -> None:
    box = make_project()
    home = tmp_path / "claude-worker-config"
    (home / ".claude").mkdir(parents=True)
    box.environ["HOME"] = str(home)
    box.write("task.md", DISPATCH)
    (home / ".claude" / "worker-dispatch-path").write_text(str(box.project / "task.md") + "\n")
    box.sim.start()
    box.idle()
    box.sim.compact()
    assert counts(box, "MARK-TASK") == [1]


def test_parallel_first_calls(box: SimulatedProject) -> None:
    """Real threads on one ledger: the list is handed out once."""
    box.write("handler-state.md", "x" * 100_000)
    as_handler(box)
    box.sim.compact()
    answers: list[str] = []

    def one(number: int) -> None:
        raw = {
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "x"}, "tool_use_id": f"p{number}",
            "session_id": box.sim.session, "transcript_path": box.sim.transcript, "cwd": str(box.project),
        }  # fmt: skip
        answers.append(box.hooks("PreToolUse", raw)[0])

    threads = [threading.Thread(target=one, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    reasons = [json.loads(answer)["hookSpecificOutput"]["permissionDecisionReason"] for answer in answers]
    assert len(reasons) == 8 and sum("handler-state.md" in reason for reason in reasons) == 1


def test_on_a_client_that_does_not_say_who_was_compacted(make_project: Make) -> None:
    box = make_project(OLD)
    box.sim.held_tools = ""
    box.write("handler-state.md", "MARK-STATE\n")
    box.skill("handler")
    as_handler(box)
    box.sim.compact()
    box.idle()
    box.idle()
    assert counts(box, "MARK-STATE") == [1]


@pytest.mark.parametrize("lost", ["a copied session", "a ledger"])
def test_a_compaction_is_the_first_event_of_a_window_that_is_not_known(box: SimulatedProject, lost: str) -> None:
    """`/branch` and `--fork-session` copy the record under a new id."""
    box.skill("handler", {"label": "1", "name": "Do", "steps": ["§CMD_ONE"]}, text="the handler")
    as_handler(box)
    if lost == "a ledger":
        box.lose_ledger()
    else:
        before = box.sim.transcript
        box.sim.session = "11111111-2222-3333-4444-555555555555"
        Path(box.sim.transcript).write_bytes(Path(before).read_bytes())
        box.sim._last[box.sim.transcript], box.sim._heads[box.sim.transcript] = (
            box.sim._last[before],
            box.sim._heads[before],
        )
        box.sim.views["main"].clear()
    box.sim.compact()
    box.idle(2)
    assert counts(box, "MARK-STATE", "MARK-TASK") == [1, 1]
    assert box.seen().count("Text of CMD_ONE.") == 1
    assert box.state()["work"] == {"skill": "handler", "phase": "1", "directives": []}
