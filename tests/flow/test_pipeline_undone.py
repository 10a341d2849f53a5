"""What the host itself brought, or the agent read, leaves the window with the messages that showed it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from handbill.lab.simulator import Moment
from simulated_project import SimulatedProject

pytestmark = pytest.mark.usefixtures("no_patience")
Make = Callable[..., SimulatedProject]
RULE = "one/.directives/AGENTS.md"
LINES = [f"line {n:03} of the rules of one {'x' * 60}" for n in range(300)]


def begin(box: SimulatedProject, *prompts: str) -> Moment:
    """A session with these prompts; the last one."""
    last = box.sim.start()
    for prompt in prompts:
        last = box.sim.prompt(prompt)
        box.idle()
    return last


@pytest.mark.parametrize("besides", ["one/f.py", ""])
@pytest.mark.parametrize("after", ["read", "write", "resume"])
def test_a_nested_agents_md_that_came_with_an_undone_read(make_project: Make, besides: str, after: str) -> None:
    box = make_project()
    box.write("sub/AGENTS.md", "bare rules\n")
    box.write("sub/f.py", "x\n")
    undone = begin(box, "one", "two")
    box.sim.read("sub/f.py")
    if besides:
        box.sim.read(besides)
    box.idle()
    box.sim.rewind(undone)
    box.sim.prompt("three")
    if after == "resume":
        box.sim.answer("yes")
        box.environ["CLAUDE_PID"] = "4194299"
        box.sim.start("resume")
        box.sim.prompt("four")
    if after == "write":
        assert "bare rules" in box.sim.write("sub/new.py").denied
    elif after == "resume":
        box.sim.batch(("Bash", {"command": "sed -i s/x/y/ sub/f.py"}))
    else:
        box.sim.read("sub/f.py")
    box.idle(3)
    assert box.seen().count("bare rules") == 1


def test_a_nested_agents_md_stays_if_a_later_prompt_is_undone(make_project: Make) -> None:
    box = make_project()
    box.write("sub/AGENTS.md", "bare rules\n")
    box.write("sub/f.py", "x\n")
    begin(box, "one")
    box.sim.read("sub/f.py")
    box.idle()
    undone = box.sim.prompt("two")
    box.sim.read("one/f.py")
    box.idle()
    box.sim.rewind(undone)
    box.sim.prompt("three")
    box.sim.batch(("Bash", {"command": "sed -i s/x/y/ sub/f.py"}))
    box.idle(3)
    assert "bare rules" not in box.seen()  # the host's own copy is there


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("version", ["2-1-260", "2-1-325"])
@pytest.mark.parametrize("how", ["compaction", "rewind"])
def test_a_rule_that_a_nested_claude_md_imports(make_project: Make, how: str, version: str, told: bool) -> None:
    box = make_project(version)
    box.write("one/CLAUDE.md", "@.directives/AGENTS.md\n")
    begin(box, "one")
    undone = box.sim.prompt("two")
    box.sim.read("one/f.py")
    if told:
        claude_md = str(box.project / "one/CLAUDE.md")
        loaded = {"hook_event_name": "InstructionsLoaded", "prompt_id": undone.event["prompt_id"]}
        box.sim.send({**loaded, "file_path": claude_md, "load_reason": "nested_traversal"})
        rule = str(box.project / RULE)
        box.sim.send({**loaded, "file_path": rule, "load_reason": "include", "parent_file_path": claude_md})
    box.idle(2)
    if how == "compaction":
        box.sim.compact()
    else:
        box.sim.rewind(undone)
        box.sim.prompt("three")
    box.idle()
    box.sim.batch(("Bash", {"command": "sed -i s/x/y/ one/f.py"}))
    box.idle(3)
    assert box.seen().count("rules of one") == 1


def test_a_rule_that_the_root_imports_stays(make_project: Make) -> None:
    box = make_project("2-1-260")
    box.write("CLAUDE.md", "@.directives/AGENTS.md\n")
    box.write(".directives/AGENTS.md", "rules of the root\n")
    begin(box, "one")
    box.sim.compact()
    box.sim.read("one/f.py")
    box.idle(2)
    assert "rules of the root" not in box.seen()


@pytest.mark.parametrize("undo", ["rewind", "dropped mention"])
def test_parts_that_came_before_the_host_showed_the_whole_file(make_project: Make, undo: str) -> None:
    box = make_project()
    box.write(RULE, "\n".join(LINES))
    box.sim.start()
    box.sim.prompt("go")
    box.sim.read("one/f.py")
    assert 0 < sum(line in box.seen() for line in LINES) < len(LINES)
    if undo == "rewind":
        undone = box.sim.prompt("two")
        box.sim.read(RULE)
        box.attach(RULE)
        box.idle(2)
        box.sim.rewind(undone)
    else:
        drop_prompt(box, f"see @{RULE}")
    box.sim.prompt("go on")
    box.sim.answer("ok")
    box.idle(2)
    box.sim.read("one/f.py")
    box.idle(8)
    assert [box.seen().count(line) for line in LINES] == [1] * len(LINES)


def drop_prompt(box: SimulatedProject, text: str, id: str = "blocked") -> None:
    """Another hook blocks it after ours has answered."""
    sim = box.sim
    usual = {"session_id": sim.session, "transcript_path": sim.transcript, "cwd": sim.project}
    sim.hooks("UserPromptSubmit", {**usual, "hook_event_name": "UserPromptSubmit", "prompt": text, "prompt_id": id})


def test_the_rest_of_a_rule_that_the_host_loads_is_not_sent(make_project: Make) -> None:
    box = make_project()
    box.write(RULE, "\n".join(LINES))
    box.sim.start()
    box.sim.prompt("go")
    box.sim.read("one/f.py")
    before = sum(line in box.seen() for line in LINES)
    loaded = {"hook_event_name": "InstructionsLoaded", "file_path": str(box.project / RULE), "load_reason": "include"}
    box.sim.send(loaded)
    box.idle(5)
    assert 0 < before == sum(line in box.seen() for line in LINES) < len(LINES)


@pytest.mark.parametrize("who", ["agent", "person"])
@pytest.mark.parametrize("after", ["read", "resume"])
def test_the_agent_saw_a_newer_state_in_a_turn_that_is_undone(make_project: Make, who: str, after: str) -> None:
    """The old text is still in the window, and must not pass for the rule."""
    box = make_project()
    begin(box, "one")
    box.sim.read("one/f.py")
    box.idle()
    undone = box.sim.prompt("two")
    box.write(RULE, "newer rules\n")
    path = str(box.project / RULE)
    box.sim.batch(("Edit", {"file_path": path}) if who == "agent" else ("Read", {"file_path": path}))
    box.idle()
    assert "newer rules" not in box.seen()
    box.sim.rewind(undone)
    box.sim.prompt("three")
    if after == "resume":
        box.sim.answer("yes")
        box.environ["CLAUDE_PID"] = "4194299"
        box.sim.start("resume")
        box.sim.prompt("four")
    box.sim.read("one/f.py")
    box.idle(3)
    assert box.seen().count("newer rules") == 1


def test_a_newer_state_that_the_agent_saw_is_not_sent_while_that_call_is_there(make_project: Make) -> None:
    box = make_project()
    begin(box, "one")
    box.sim.read("one/f.py")
    box.idle()
    box.write(RULE, "newer rules\n")
    box.sim.read(RULE)
    undone = box.sim.prompt("two")
    box.sim.read("two/f.py")
    box.idle()
    box.sim.rewind(undone)
    box.sim.prompt("three")
    box.sim.read("one/f.py")
    box.idle(3)
    assert "newer rules" not in box.seen()


def test_a_new_state_of_a_rule_that_the_agent_had_read_is_undone(make_project: Make) -> None:
    """We delivered that state; that the agent had read an older one proves nothing about it."""
    box = make_project()
    begin(box, "one")
    box.sim.read(RULE)
    box.attach(RULE)
    box.idle()
    box.write(RULE, "newer rules\n")
    undone = box.sim.prompt("two")
    assert box.seen().count("newer rules") == 1
    box.idle()
    box.sim.rewind(undone)
    box.sim.prompt("three")
    box.sim.read("one/f.py")
    box.idle(2)
    assert box.seen().count("newer rules") == 1


def test_the_first_prompt_is_undone_and_nothing_was_before_it(make_project: Make) -> None:
    box = make_project()
    box.own_settings("[standards]\nfiles = []\n")
    box.sim.start()
    undone = box.sim.prompt("one")
    box.sim.read("one/f.py")
    box.idle()
    box.sim.rewind(undone)
    box.sim.prompt("two")
    box.sim.read("one/f.py")
    box.idle(3)
    assert box.seen().count("rules of one") == 1


@pytest.mark.parametrize("event", ["InstructionsLoaded", "UserPromptExpansion"])
def test_a_mention_is_not_dropped_because_another_event_tells_of_its_prompt(make_project: Make, event: str) -> None:
    box = make_project()
    begin(box, "go")
    text = f"/implement @{RULE}"
    box.skill("implement")
    sim = box.sim
    usual: dict[str, Any] = {"session_id": sim.session, "transcript_path": sim.transcript, "cwd": sim.project}
    usual |= {"prompt_id": "p2", "prompt": text}
    sim.hooks("UserPromptSubmit", {**usual, "hook_event_name": "UserPromptSubmit"})
    more = {
        "InstructionsLoaded": {"file_path": str(box.project / "one/CLAUDE.md"), "load_reason": "nested_traversal"},
        "UserPromptExpansion": {"expansion_type": "slash_command", "command_name": "implement", "command_args": ""},
    }
    sim.hooks(event, {**usual, **more[event], "hook_event_name": event})
    sim._write(sim.transcript, {"type": "user", "promptId": "p2", "message": {"role": "user", "content": text}})
    box.attach(RULE)
    sim.read("one/f.py")
    box.idle(2)
    assert "rules of one" not in box.seen()
