"""Rules that the host itself shows: the prompt mentions them, the agent reads them, a fork has them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simulated_project import SimulatedProject, assert_once


@pytest.mark.parametrize(
    "text, ours", [("@one/.directives/AGENTS.md", 0), ("@one/.directives/AGENTS.md#L1-2", 1), ("@one/f.py", 1)]
)
def test_a_prompt_that_names_a_rule_brings_it(
    make_project: Callable[..., SimulatedProject], text: str, ours: int
) -> None:
    """The client attaches the file: one copy is enough. A range of its lines is not the file."""
    box = make_project()
    box.sim.start()
    box.sim.prompt(f"improve {text}")
    if not ours:
        box.attach("one/.directives/AGENTS.md")
    box.sim.read("one/f.py")
    box.idle()
    assert box.seen().count("rules of one") == ours


@pytest.mark.parametrize("between", ["nothing", "a prompt"])
def test_a_prompt_that_names_a_rule_and_is_dropped(make_project: Callable[..., SimulatedProject], between: str) -> None:
    """Another hook blocks it: the client attaches nothing."""
    box = make_project()
    box.sim.start()
    box.idle()
    before = Path(box.sim.transcript).read_text(), box.sim._last[box.sim.transcript]
    box.sim.prompt("improve @one/.directives/AGENTS.md")
    Path(box.sim.transcript).write_text(before[0])
    box.sim._last[box.sim.transcript] = before[1]
    if between == "a prompt":
        box.sim.prompt("go on")
        box.sim.answer("yes")
        box.sim.prompt("and again")
    box.sim.read("one/f.py")
    box.idle()
    assert_once(box, "main", "one")
    assert str(box.project / "one/.directives/AGENTS.md") in box.log("lost")


def fork(box: SimulatedProject) -> None:
    text, last = Path(box.sim.transcript).read_text(), box.sim._last[box.sim.transcript]
    box.sim.session = "forked"
    Path(box.sim.transcript).write_text(text)
    box.sim._last[box.sim.transcript] = last
    box.sim.start("fork")


def test_a_rule_that_the_agent_read_is_in_a_fork(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    rule = box.project / "one/.directives/AGENTS.md"
    box.sim.start()
    box.sim.read("one/.directives/AGENTS.md")
    file = {"filePath": str(rule), "content": "rules of one\n", "numLines": 1, "startLine": 1, "totalLines": 1}
    result = {"tool_use_id": "toolu_0001", "type": "tool_result", "content": "1\trules of one"}
    message = {"role": "user", "content": [result]}
    box.sim._write(box.sim.transcript, {"type": "user", "message": message, "toolUseResult": {"file": file}})
    box.sim.answer("done")
    fork(box)
    box.sim.prompt("go on")
    box.sim.read("one/f.py")
    box.idle()
    assert "rules of one" not in box.seen()
    assert box.state()["files"][str(rule)]["reason"] == "read by the agent"


def test_a_fork_is_compacted(make_project: Callable[..., SimulatedProject]) -> None:
    """What came with a start is not in the messages that a compaction keeps: it comes at once."""
    box = make_project()
    box.sim.start()
    box.idle()
    fork(box)
    box.idle()
    assert "# Commands\n" in "".join(box.sim.compact().texts)


def test_a_refused_read_where_the_client_would_bring_the_rules(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.write("sub/AGENTS.md", "bare rules\n")
    box.write("sub/f.py", "x\n")
    box.sim.start()
    refused = "<tool_use_error>File is in a directory that is denied by your permission settings.</tool_use_error>"
    box.sim.batch(("Read", {"file_path": str(box.project / "sub/f.py")}, refused))
    assert box.errors() == [] and "bare rules" not in box.seen()
    box.sim.write("sub/new.py")
    assert box.errors() == []


def begin_with_a_read(box: SimulatedProject, rule: str) -> None:
    """The agent opens a rule itself, and the client shows it whole."""
    box.sim.start()
    box.sim.prompt("go")
    box.sim.read(rule)
    box.attach(rule)
    box.idle()


@pytest.mark.parametrize("how", ["fork", "lost ledger"])
@pytest.mark.parametrize("change", [True, False])
def test_a_rule_that_the_agent_read_and_somebody_changed(
    make_project: Callable[..., SimulatedProject], how: str, change: bool
) -> None:
    """Only the client's record knows what the agent read."""
    box = make_project()
    begin_with_a_read(box, "one/.directives/AGENTS.md")
    if how == "lost ledger":
        box.lose_ledger()
    if change:
        box.write("one/.directives/AGENTS.md", "new rules of one\n")
    if how == "fork":
        fork(box)
        box.sim.prompt("in the fork")
    box.idle(2)
    box.sim.read("one/f.py")
    box.idle(2)
    assert box.seen().count("rules of one") == box.seen().count("new rules of one") == int(change)


@pytest.mark.parametrize("how", ["fork", "lost ledger"])
def test_a_bare_rule_that_the_agent_read(make_project: Callable[..., SimulatedProject], how: str) -> None:
    box = make_project("2-1-260")
    (box.project / "one/.directives/AGENTS.md").rename(box.project / "one/AGENTS.md")
    begin_with_a_read(box, "one/AGENTS.md")
    if how == "lost ledger":
        box.lose_ledger()
    else:
        fork(box)
        box.sim.prompt("in the fork")
    box.idle(2)
    box.sim.read("one/f.py")
    box.idle(2)
    assert "rules of one" not in box.seen()


def test_a_mentioned_rule_that_a_compaction_removed(
    make_project: Callable[..., SimulatedProject], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The results that stay have the id of the prompt that does not."""
    box = make_project()
    box.sim.start()
    prompt = box.sim.prompt("see @one/.directives/AGENTS.md").event["prompt_id"]
    usual = box.sim._write

    def write(path: str, row: dict[str, Any]) -> str:
        is_result = row["type"] == "user" and isinstance(row["message"]["content"], list)
        return usual(path, {**row, "promptId": prompt} if is_result else row)

    monkeypatch.setattr(box.sim, "_write", write)
    box.attach("one/.directives/AGENTS.md")
    for _ in range(3):
        box.sim.read("two/f.py")
    box.sim.compact()
    box.idle()
    assert box.sim.write("one/new.py").denied
    box.idle()
    assert box.seen().count("rules of one") == 1


@pytest.mark.parametrize("act", ["read", "write"])
@pytest.mark.parametrize("how", ["mention", "read"])
def test_a_rule_that_the_host_showed_is_undone_before_a_resume(
    make_project: Callable[..., SimulatedProject], how: str, act: str
) -> None:
    box = make_project()
    box.sim.start()
    box.sim.prompt("zero")
    box.sim.answer("yes")
    undone = box.sim.prompt("see @one/.directives/AGENTS.md" if how == "mention" else "one")
    if how == "read":
        box.sim.read("one/.directives/AGENTS.md")
    box.attach("one/.directives/AGENTS.md")
    box.idle()
    box.sim.rewind(undone)
    box.sim.prompt("two")
    box.sim.answer("yes")
    box.environ["CLAUDE_PID"] = "1"
    box.sim.start("resume")
    box.sim.prompt("three")
    if act == "read":
        box.sim.read("one/f.py")
    else:
        assert box.sim.write("one/new.py").denied
    box.idle()
    assert box.seen().count("rules of one") == 1


def test_a_queued_prompt_that_mentions_a_file(make_project: Callable[..., SimulatedProject]) -> None:
    """The client announces it while another prompt is at work; its turn comes without an event."""
    box = make_project()
    box.sim.start()
    box.sim.prompt("go")
    box.sim.answer("done")
    sim, path = box.sim, box.sim.transcript
    sim._write(path, {"type": "queue-operation", "operation": "dequeue"})
    sim._write(path, {"type": "user", "promptId": "queued", "message": {"role": "user", "content": "see @one/f.py"}})
    box.idle()
    assert box.seen().count("rules of one") == 1


@pytest.mark.parametrize(
    "setting, name",
    [
        ('exclude = ["lib"]', "lib/AGENTS.md"),
        ("bare_agents_md = false", "lib/AGENTS.md"),
        ("", "lib/.directives/TESTING.md"),
        ("", "lib/.directives/notes.md"),
    ],
)
def test_a_file_that_is_not_a_rule_here_is_never_delivered(
    make_project: Callable[..., SimulatedProject], setting: str, name: str
) -> None:
    """The agent reads it, somebody changes it, and the client's record must be compared."""
    box = make_project("2-1-260")
    box.write(".handbill.toml", f"[directives]\n{setting}\n")
    box.write(name, "not ours\n")
    begin_with_a_read(box, name)
    box.write(name, "not ours, changed\n")
    box.sim.fail("PostToolBatch")
    box.idle(2)
    assert "not ours" not in box.seen()


@pytest.mark.parametrize("version", ["2-1-285", "2-1-325"])
def test_a_mentioned_folder_whose_claude_md_imports_the_rule(
    make_project: Callable[..., SimulatedProject], version: str
) -> None:
    box = make_project(version)
    box.write("one/CLAUDE.md", "@.directives/AGENTS.md\n")
    box.sim.start()
    box.sim.prompt("see @one")
    box.idle(2)
    assert box.seen().count("rules of one") == 1
    assert not list((box.state_folder / ".windows").glob("*.missed"))


@pytest.mark.parametrize("how", ["read", "mention"])
def test_a_rule_in_parts_that_the_host_shows_whole(make_project: Callable[..., SimulatedProject], how: str) -> None:
    box = make_project()
    lines = [f"line {number:03} of the rules of one {'x' * 60}" for number in range(200)]
    box.write("one/.directives/AGENTS.md", "\n".join(lines))
    box.sim.start()
    box.sim.prompt("go")
    box.sim.read("one/f.py")
    before = sum(line in box.seen() for line in lines)
    if how == "read":
        box.sim.read("one/.directives/AGENTS.md")
    else:
        box.sim.prompt("see @one/.directives/AGENTS.md")
    box.attach("one/.directives/AGENTS.md")
    box.idle(3)
    assert 0 < sum(line in box.seen() for line in lines) == before < len(lines)
    assert box.process(f"engine window {box.sim.session} --audit").returncode == 0


def test_a_rule_in_parts_that_is_too_large_for_the_host_to_show_whole(
    make_project: Callable[..., SimulatedProject],
) -> None:
    box = make_project()
    lines = [f"line {number:03} of the rules of one {'x' * 60}" for number in range(400)]
    box.write("one/.directives/AGENTS.md", "\n".join(lines))
    box.sim.start()
    box.sim.read("one/f.py")
    box.sim.read("one/.directives/AGENTS.md")
    box.idle(5)
    assert [box.seen().count(line) for line in lines] == [1] * len(lines)


def test_a_rule_that_the_agent_read_and_whose_text_the_client_does_not_record(
    make_project: Callable[..., SimulatedProject],
) -> None:
    box = make_project()
    path = str(box.project / "one/.directives/AGENTS.md")
    box.sim.start()
    box.sim.prompt("go")
    box.sim.read("one/.directives/AGENTS.md")
    file = {"filePath": path, "numLines": 1, "startLine": 1, "totalLines": 1}
    attachment = {"type": "file", "filename": path, "content": {"type": "text", "file": file}}
    box.sim._write(box.sim.transcript, {"type": "attachment", "attachment": attachment})
    box.idle()
    box.lose_ledger()
    box.idle(2)
    box.sim.read("one/f.py")
    assert "rules of one" not in box.seen()
