"""Faults that once were: each of these held the wrong call, lost a page, said it twice or read what it must not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from regressions import lanes

from handbill.store.files import FileStore
from simulated_project import OLD, SimulatedProject

Make = Callable[..., SimulatedProject]
KEY_FILE = "SECRET-KEY"


def context(box: SimulatedProject, mode: str = "require", **more: object) -> None:
    lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in more.items())
    box.write(".handbill.toml", f'[load_gate]\nmode = "{mode}"\n{lines}')
    box.write(".context/TASKS.md", "MARK-TASKS\n")
    box.sim.held_tools = ""


def test_a_call_of_an_unknown_tool_does_not_open_the_gate(make_project: Make) -> None:
    box = make_project()
    context(box)
    box.sim.start()
    unknown = {
        "tool_name": "Nope",
        "tool_input": {},
        "tool_use_id": "u1",
        "tool_response": "<tool_use_error>No such tool</tool_use_error>",
    }
    box.sim.send({"hook_event_name": "PostToolBatch", "tool_calls": [unknown]})
    assert box.sim.batch(("Bash", {"command": "make"})).denied


def test_a_call_that_is_held_has_read_nothing(make_project: Make) -> None:
    box = make_project()
    context(box)
    box.sim.start()
    assert box.sim.batch(("Bash", {"command": "cat .context/TASKS.md; make deploy"})).denied
    assert box.state()["flags"]["context"]["read"] == []
    assert box.sim.batch(("Bash", {"command": "make deploy"})).denied


def test_rules_whose_reading_was_held_are_delivered(make_project: Make) -> None:
    box = make_project()
    context(box)
    box.sim.start()
    assert box.sim.batch(("Read", {"file_path": str(box.project / "one/.directives/AGENTS.md")})).denied
    box.sim.read(".context/TASKS.md")
    box.sim.read("one/f.py")
    assert box.seen().count("rules of one") == 1


def test_a_write_with_known_rules_is_held_all_the_same(make_project: Make) -> None:
    box = make_project()
    context(box)
    for name in ("one", "two"):
        box.write(f"{name}/.directives/AGENTS.md", "the same rules\n")
    box.sim.start()
    assert box.sim.write("one/new.py").denied and box.sim.write("two/new.py").denied


@pytest.mark.parametrize(
    "words",
    [
        "<tool_use_error>no</tool_use_error>",
        "File content (390.6KB) exceeds maximum allowed size (256KB). Use offset and limit",
        "File does not exist. Note: your current working directory is /p.",
    ],
)
def test_a_read_that_failed_is_not_on_record_as_read(make_project: Make, words: str) -> None:
    box = make_project()
    context(box)
    box.sim.start()
    box.sim.batch(("Read", {"file_path": str(box.project / ".context/TASKS.md")}, words))
    state = box.state()["flags"]["context"]
    assert state["read"] == [] and len(state["tried"]) == 1 and state["state"] == "done"


@pytest.mark.parametrize(
    "command", ["head -n 50 .context/TASKS.md", "sed -n 1,20p .context/TASKS.md", "cat '.context/TASKS.md'"]
)
def test_plain_reads_pass(make_project: Make, command: str) -> None:
    box = make_project()
    context(box)
    box.sim.start()
    assert box.sim.batch(("Bash", {"command": command})).denied == ""


@pytest.mark.parametrize(
    "command",
    [
        "sed -i s/a/b/ .context/TASKS.md",
        "sed -n -i 1,5p .context/TASKS.md",
        "sed -n --in-place 1p .context/TASKS.md",
        "sed -n -e1p .context/TASKS.md",
        "sed -n 1e .context/TASKS.md",
        "less -oX .context/TASKS.md",
        "cat .context/TASKS.md secret",
        "cat .context/TASKS.md > x",
        "cat *",
    ],
)
def test_what_is_more_than_a_read_is_held(make_project: Make, command: str) -> None:
    box = make_project()
    context(box)
    box.sim.start()
    assert box.sim.batch(("Bash", {"command": command})).denied


def test_a_read_past_a_link_to_the_project_passes(make_project: Make, tmp_path: Path) -> None:
    box = make_project()
    context(box)
    (tmp_path / "link").symlink_to(box.project)
    box.sim.start()
    assert box.sim.batch(("Read", {"file_path": str(tmp_path / "link/.context/TASKS.md")})).denied == ""


def test_two_context_files_with_the_same_text_are_both_there(make_project: Make) -> None:
    box = make_project()
    context(box, "deliver")
    box.write(".context/DECISIONS.md", "MARK-TASKS\n")
    box.sim.start()
    from handbill.handlers.load_gate import compliance

    window = FileStore(str(box.state_folder)).read((box.sim.session, "main"))
    assert window is not None and [how for _, how in compliance(window)] == ["in the window"] * 2


def test_a_lost_ledger_does_not_make_the_gate_speak_again(make_project: Make) -> None:
    box = make_project()
    context(box, "deliver", budget=2500)
    for name in ("TASKS", "DECISIONS", "LEARNINGS"):
        box.write(f".context/{name}.md", f"MARK-{name}\n" + "word " * 1500)
    lanes(box, 2)
    box.sim.start()
    before = box.seen().count("of 3 files")
    box.lose_ledger()
    box.idle(3)
    assert before == 1 == box.seen().count("of 3 files") and box.seen().count("MARK-DECISIONS") == 0


def test_a_subagent_that_is_continued_on_an_old_client_hears_it_again(make_project: Make) -> None:
    box = make_project(OLD)
    box.write(".context/TASKS.md", "x\n")
    box.sim.start()
    box.sim.subagent("a1")
    box.sim.read("one/f.py", agent="a1")
    assert "Before you continue, read" in box.seen("a1")
    box.sim.views["a1"] = []
    box.sim.subagent("a1")
    box.sim.batch(("Bash", {"command": "true"}), agent="a1")
    assert "Before you continue, read" in box.seen("a1")


# --- roles ---------------------------------------------------------------------------------------


def test_what_did_not_fit_into_the_start_comes_before_the_first_call(make_project: Make) -> None:
    box = make_project()
    box.own_settings('[roles.lead]\nenv = ["HOME"]\ntargets = ["big-*.md"]\n')
    for number in range(3):
        box.write(f"big-{number}.md", f"BEGIN-{number}\n" + "word " * 1700 + f"\nEND-{number}\n")
    box.sim.held_tools = ""
    box.sim.start()
    box.idle()
    box.sim.compact()
    late = [number for number in range(3) if f"END-{number}" not in box.seen()]
    assert late, "one lane is not enough for them"
    held = box.sim.batch(("Bash", {"command": "make deploy"}))
    assert held.denied and [box.seen().count(f"END-{number}") for number in range(3)] == [1, 1, 1]
    assert box.sim.batch(("Bash", {"command": "make deploy"})).denied == ""


def test_a_link_in_the_project_does_not_lead_a_dispatch_out(make_project: Make, tmp_path: Path) -> None:
    box = make_project()
    (tmp_path / "key").write_text(KEY_FILE)
    (box.project / "dispatch.md").symlink_to(tmp_path / "key")
    box.environ.update(HANDBILL_ROLE="worker", HANDBILL_DISPATCH="dispatch.md")
    box.sim.start()
    box.idle()
    box.sim.compact()
    assert KEY_FILE not in box.seen() and any("leads out" in line for line in box.errors())


def test_a_project_cannot_make_every_home_a_workers(make_project: Make, tmp_path: Path) -> None:
    box = make_project()
    (tmp_path / "key").write_text(KEY_FILE)
    note = tmp_path / "home" / ".claude" / "worker-dispatch-path"
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text(str(tmp_path / "key"))
    box.write(".handbill.toml", '[roles.worker]\nhome = "*"\n')
    box.sim.start()
    box.idle()
    box.sim.compact()
    assert KEY_FILE not in box.seen()
    assert any("roles.worker.home counts only in your own settings" in line for line in box.errors())


def test_a_role_that_was_cleared_is_forgotten(make_project: Make) -> None:
    box = make_project()
    box.write("lead.md", "MARK-LEAD\n")
    box.write(".handbill.toml", '[roles.lead]\ntargets = ["lead.md"]\n')
    store = FileStore(str(box.state_folder))
    box.sim.start()
    store.note((box.sim.session, "main"), "role", {"role": "lead"})
    box.idle()
    box.sim.compact()
    assert "MARK-LEAD" in box.seen()
    store.note((box.sim.session, "main"), "role", None)
    box.idle()
    box.sim.compact()
    assert "MARK-LEAD" not in box.seen()


def test_a_dispatch_counts_for_any_role(make_project: Make) -> None:
    box = make_project()
    box.write("task.md", "MARK-TASK\n")
    box.sim.start()
    note = {"role": "handler", "dispatch": str(box.project / "task.md")}
    FileStore(str(box.state_folder)).note((box.sim.session, "main"), "role", note)
    box.idle()
    box.sim.compact()
    assert box.seen().count("MARK-TASK") == 1


def test_links_in_circles_end(make_project: Make) -> None:
    box = make_project()
    for number in range(8):
        (box.project / f"circle-{number}").symlink_to(".")
    box.own_settings('[roles.lead]\nenv = ["HOME"]\ntargets = ["**/nothing.md"]\n')
    box.sim.start()
    box.idle()
    assert "# Invariants" in "\n".join(box.sim.compact().texts)
