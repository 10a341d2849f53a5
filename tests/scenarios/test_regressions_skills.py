"""Faults that once were, each as it showed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from implement_session import SESSION, activate, move, phase, with_implement

from handlers.test_freshness import PAGE, change
from simulated_project import NEW, OLD, SimulatedProject


def files(box: SimulatedProject, window: str = "main") -> set[str]:
    return {path.removeprefix(str(box.project) + "/") for path, *_ in box.sim.copies(window)}


@pytest.mark.parametrize("how", ["read", "notice", "task"])
def test_a_path_that_leads_in_a_circle(make_project: Callable[..., SimulatedProject], how: str) -> None:
    box = with_implement(make_project())
    loop = box.project.parent / "loop"
    os.symlink(loop, loop)
    box.sim.start()
    if how == "read":
        box.sim.batch(("Read", {"file_path": f"{loop}/x.py"}))
    elif how == "notice":
        params = json.dumps({"taskSummary": "t", "directoriesOfInterest": [str(loop)]})
        box.shell(f"echo '{params}' | engine session activate S implement")
    else:
        box.sim.batch(("Agent", {"prompt": f"look at {loop}/x.py", "subagent_type": "x"}))
    box.sim.read("one/f.py")
    assert "one/.directives/AGENTS.md" in files(box)
    assert box.errors() == []


@pytest.mark.parametrize(
    "line", ["5", "null", "[]", '{"verb":"phase"}', '{"id":"a"}', '{"id":"a","verb":"phase","at":"x","by":"terminal","files":5,"dirs":{"a":1}}',
             "[" * 5000, '{"id":"a","verb":"activate","by":"terminal","skill":7,"phase":{},"session":[]}'],
)  # fmt: skip
def test_notices_of_another_shape(make_project: Callable[..., SimulatedProject], line: str) -> None:
    box = with_implement(make_project())
    box.sim.start()
    (box.state_folder / f".windows/{box.sim.session}.notices").write_text(line + "\n")
    box.sim.read("one/f.py")
    box.sim.read("two/f.py")
    assert {"one/.directives/AGENTS.md", "two/.directives/AGENTS.md"} <= files(box)


def test_a_ledger_with_odd_work(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    path = box.state_folder / f".windows/{box.sim.session}.jsonl"
    head, _, rest = path.read_text().partition("\n")
    path.write_text(json.dumps({**json.loads(head), "work": {"directives": 5, "skill": 3}}) + "\n" + rest)
    box.sim.read("one/f.py")
    assert "one/.directives/AGENTS.md" in files(box)


def test_a_change_that_once_equalled_another_file(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py", "two/f.py")
    change(box, PAGE, "rules of two\n")
    (line,) = box.sim.prompt("x").texts
    assert line.startswith("[Updated: ") and "The same rules as in" in line and "rules of two" not in line
    change(box, PAGE, "THIRD\n")
    assert "THIRD" in box.sim.prompt("x").texts[0]


def test_a_lost_delivery_that_changed_and_changed_back(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("two/f.py")
    box.drop_next()
    box.sim.read("one/f.py")
    change(box, PAGE, "a" * 9300)
    change(box, "two/.directives/AGENTS.md", "b" * 9300)
    box.sim.prompt("x")
    change(box, PAGE, "rules of one\n")
    for _ in range(3):
        box.sim.read("one/f.py")
        box.sim.prompt("x")
    assert "one/.directives/AGENTS.md" in files(box)


@pytest.mark.parametrize("version", [OLD, NEW])
def test_earlier_reads_do_not_hide_a_change(make_project: Callable[..., SimulatedProject], version: str) -> None:
    box = make_project(version)
    box.sim.start()
    box.sim.subagent("a1")
    box.sim.read("one/f.py", agent="a1")
    box.sim.read(PAGE, agent="a1")
    box.sim.read("two/f.py", agent="a1")
    change(box, PAGE, "NEWS\n")
    box.sim.read("one/f.py", agent="a1")
    assert "NEWS" in box.seen("a1")


@pytest.mark.parametrize(
    "call", [("Edit", {"file_path": PAGE}, "<tool_use_error>File has been modified since read</tool_use_error>"),
             ("Bash", {"command": f"git log {PAGE}"}, "commit 1")],
)  # fmt: skip
def test_calls_that_show_nothing_do_not_hide_a_change(
    make_project: Callable[..., SimulatedProject], call: tuple[str, dict[str, str], str]
) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    change(box, PAGE, "NEWS\n")
    box.sim.batch(call)
    box.sim.prompt("x")
    assert "NEWS" in box.seen()


def test_speaking_of_a_phase_takes_nobodys_notice(make_project: Callable[..., SimulatedProject]) -> None:
    box = with_implement(make_project())
    box.sim.start()
    box.sim.skill("implement")
    activate(box)
    box.sim.subagent("a1")
    command = f"engine session phase {SESSION} 1"
    printed = box.process(command).stdout
    box.sim.batch(("Bash", {"command": "grep -rn 'engine session phase ' docs"}, "docs/x"))
    box.sim.prompt("meanwhile")
    box.sim.batch(("Bash", {"command": command}, printed), agent="a1")
    assert ".directives/commands/CMD_INTERROGATE.md" in files(box, "a1")
    assert ".directives/commands/CMD_INTERROGATE.md" not in files(box)


@pytest.mark.parametrize("how", ["fork", "installed later"])
def test_a_skill_typed_into_a_window_that_is_not_known_yet(
    make_project: Callable[..., SimulatedProject], how: str
) -> None:
    box = with_implement(make_project())
    if how == "fork":
        box.sim.start("fork")
    box.sim.skill("implement")
    box.sim.read("one/f.py")
    box.sim.read("one/f.py")
    assert ".directives/commands/CMD_SELECT_MODE.md" in files(box)
    assert box.state()["work"]["skill"] == "implement"
    assert not any(path.endswith("SKILL.md") for path in files(box))


def test_a_rebuilt_ledger_knows_its_phase_and_what_changed(make_project: Callable[..., SimulatedProject]) -> None:
    box = with_implement(make_project())
    box.sim.start()
    box.sim.skill("implement")
    activate(box)
    move(box, "1")
    box.sim.read("one/f.py")
    box.sim.read("two/f.py")
    (box.state_folder / f".windows/{box.sim.session}.jsonl").write_text("garbage")
    change(box, PAGE, "NEWS\n")
    box.sim.read("two/f.py")
    box.sim.read("two/f.py")
    assert box.state()["work"]["phase"] == "1" and "NEWS" in box.seen()
    box.sim.compact()
    for _ in range(3):
        box.sim.read("two/f.py")
    assert ".directives/commands/CMD_INTERROGATE.md" in files(box)


def test_pages_that_a_kept_page_uses_come_back(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.page("CMD_A", "by §FMT_B\n")
    box.page("FMT_B", "a format\n")
    box.skill("x", phase("0", "S", "CMD_Z", commands=()), phase("1", "T", "CMD_A", commands=()), text="§FMT_B")
    box.sim.start()
    box.sim.skill("x")
    box.sim.read("one/f.py")
    activate(box, "x")
    move(box, "1")  # the last message: the client keeps it
    box.sim.compact()
    for _ in range(4):
        box.sim.read("two/f.py")
    assert {".directives/commands/CMD_A.md", ".directives/formats/FMT_B.md"} <= files(box)
    assert set(box.sim.copies().values()) == {1}


def test_a_directive_saved_by_rename(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    Path(box.project / "one/.directives/new").write_text("NEWS\n")
    os.replace(box.project / "one/.directives/new", box.project / PAGE)
    assert "NEWS" in box.sim.read("one/f.py").texts[0]
    assert box.sim.read("one/f.py").texts == []


@pytest.mark.parametrize("before", [True, False])
def test_types_of_the_skills_own(make_project: Callable[..., SimulatedProject], before: bool) -> None:
    box = make_project()
    box.write("one/.directives/SECURITY.md", "keep secrets\n")
    box.skill("x", {"label": "0"}, directives=["SECURITY.md"])
    box.sim.start()
    if before:
        box.sim.read("one/f.py")
    box.sim.skill("x")
    box.sim.read("one/f.py")
    assert "one/.directives/SECURITY.md" in files(box)
    assert set(box.sim.copies().values()) == {1}


def hand_out(box: SimulatedProject, turn: str, task: str = "one/f.py", call: str = "a1") -> None:
    values = {"prompt": task, "subagent_type": "general-purpose"}
    call_event = {"hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": values, "tool_use_id": call}
    box.sim.send({**call_event, "prompt_id": turn})


def begin(box: SimulatedProject, agent: str, turn: str) -> set[str]:
    box.sim.send(
        {"hook_event_name": "SubagentStart", "agent_id": agent, "agent_type": "general-purpose", "prompt_id": turn}
    )
    return {path for path in files(box, agent) if "/.directives/" in path}


def test_an_interrupted_task_is_forgotten(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    hand_out(box, "turn-1")
    box.sim.prompt("stop that")
    assert not any("one/" in path for path in begin(box, "x2", "turn-2"))


def test_a_task_that_is_approved_much_later_has_its_rules(
    make_project: Callable[..., SimulatedProject], monkeypatch: pytest.MonkeyPatch
) -> None:
    from handbill.world import World

    box = make_project()
    box.sim.start()
    hand_out(box, "turn-1")
    now = World(()).now()
    monkeypatch.setattr(World, "now", lambda self: now + 3600.0)
    assert any("one/" in path for path in begin(box, "x2", "turn-1"))


def test_a_task_is_dealt_with_by_the_agent_that_its_call_started(make_project: Callable[..., SimulatedProject]) -> None:
    """Two of one kind at once: each is known by what the client notes of it at its first tool event."""
    from handbill.store.files import FileStore

    box = make_project()
    box.sim.start()
    hand_out(box, "turn-1", "one/f.py", "a1")
    hand_out(box, "turn-1", "two/f.py", "a2")
    begin(box, "x1", "turn-1")
    meta = Path(box.sim.transcript.removesuffix(".jsonl")) / "subagents" / "agent-x1.meta.json"
    meta.parent.mkdir(parents=True, exist_ok=True)
    meta.write_text('{"toolUseId":"a1"}')
    box.sim.read("one/f.py", agent="x1")
    store = FileStore(str(box.state_folder))
    assert [task["call"] for task in store.notices(box.sim.session)] == ["a2"]


def test_what_an_update_may_not_do(make_project: Callable[..., SimulatedProject]) -> None:
    box = with_implement(make_project())
    box.sim.start()
    activate(box)
    box.shell(f"engine session update {SESSION} searchKeywords login", expect=1)
    assert "would break" in box.printed
    box.shell(f"engine session update {SESSION} deep '{'[' * 3000}'")
    box.shell(f"engine session status {SESSION}")
    box.skill("emp", {"label": "0", "proof": [""]}, nextSkills=[""])
    box.shell("engine session activate EMP emp")
    box.shell("engine session status EMP")


def test_two_activations_of_a_broken_session(make_project: Callable[..., SimulatedProject]) -> None:
    box = with_implement(make_project())
    box.sim.start()
    folder = box.project / "sessions" / SESSION
    folder.mkdir(parents=True)
    (folder / ".state.json").write_text("{broken")
    for _ in range(2):
        activate(box)
    assert [path.read_text() for path in folder.glob(".state.json.corrupt-*")] == ["{broken"]
