"""Files that could not be delivered and were corrected, in ways that the next touch alone does not show."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from handbill.world import World
from simulated_project import SimulatedProject, names

RULE, FIXED = "one/.directives/INVARIANTS.md", "FIXED RULE\n"


@pytest.fixture
def box(make_project: Callable[..., SimulatedProject]) -> SimulatedProject:
    found = make_project()
    found.sim.start()
    found.sim.prompt("go")
    return found


@pytest.fixture
def refused(box: SimulatedProject) -> SimulatedProject:
    box.write(RULE, "\0")
    box.sim.read("one/f.py")
    box.write(RULE, FIXED)
    return box


def test_the_agent_reads_the_corrected_file_itself(refused: SimulatedProject) -> None:
    assert names(refused.sim.read(RULE)) == []
    refused.idle(2)
    assert FIXED not in refused.seen()


def test_a_prompt_mentions_the_corrected_file(refused: SimulatedProject) -> None:
    assert names(refused.sim.prompt(f"see @{RULE}")) == []


def test_a_corrected_agents_md_that_the_client_brings(box: SimulatedProject) -> None:
    (box.project / "one/.directives/AGENTS.md").unlink()
    box.write("one/AGENTS.md", "\0")
    box.write("one/f.py", "x")
    box.sim.batch(("Edit", {"file_path": str(box.project / "one/f.py")}))
    assert "it is binary" in box.seen()
    box.write("one/AGENTS.md", "bare rules")
    assert names(box.sim.read("one/f.py")) == []


@pytest.mark.parametrize("agent", ["", "a1"])
def test_a_rule_whose_newer_state_could_not_be_delivered(box: SimulatedProject, agent: str) -> None:
    """The window keeps the older text. The next change is delivered with the next touch, also to a subagent."""
    box.write(RULE, "RULE 1")
    if agent:
        box.sim.subagent(agent)
    box.sim.read("one/f.py", agent=agent)
    box.write("one/.directives/AGENTS.md", "y" * 9000)
    box.write(RULE, "RULE 2\n" + "z z\n" * 2200)
    box.sim.read("one/f.py", agent=agent)
    box.write(RULE, "\0")
    box.sim.read("two/f.py", agent=agent)
    assert "The text in this window is out of date" in box.seen(agent or "main")
    box.write(RULE, FIXED)
    box.sim.read("one/f.py", agent=agent)
    box.sim.read("one/f.py", agent=agent)
    assert box.seen(agent or "main").count("FIXED RULE") == 1


def test_a_subagents_standard(box: SimulatedProject) -> None:
    box.write(".handbill.toml", '[standards]\nfiles = ["./STANDARD.md"]\nsubagents = ["./STANDARD.md"]\n')
    box.write("STANDARD.md", "\0")
    box.sim.subagent("a1")
    box.write("STANDARD.md", "CORRECT")
    for _ in range(3):
        box.sim.read("one/f.py", agent="a1")
    assert box.seen("a1").count("CORRECT") == 1


def test_a_corrected_file_that_a_scan_of_the_record_found(refused: SimulatedProject) -> None:
    refused.attach(RULE)
    refused.sim.fail("PostToolBatch")
    refused.idle()
    refused.write(RULE, "FIXED AGAIN\n")
    for _ in range(3):
        refused.sim.read("one/f.py")
    assert refused.seen().count("FIXED AGAIN") == 1


def test_each_change_to_a_text_that_cannot_be_delivered_is_told(box: SimulatedProject) -> None:
    box.write(RULE, "RULE 1")
    box.sim.read("one/f.py")
    for number in (2, 3):
        box.write(RULE, "\0" * number)
        os.utime(box.project / RULE, (number * 1e6, number * 1e6))
        box.sim.prompt("go")
        box.write(RULE, f"RULE {number}\n")
        box.sim.prompt("fixed")
    assert box.seen().count("The text in this window is out of date") == 2


def test_a_write_is_not_held_because_a_rule_became_undeliverable(box: SimulatedProject) -> None:
    box.write(RULE, "RULE 1")
    box.sim.read("one/f.py")
    box.write(RULE, "\0")
    assert box.sim.write("one/new.py").denied == ""
    assert "The text in this window is out of date" in box.seen(), "told with the result"


def test_one_corrected_file_does_not_drop_what_is_said_about_others(box: SimulatedProject) -> None:
    for number in range(24):
        box.write(f"d{number}/.directives/AGENTS.md", "\0")
    box.sim.read(*(f"d{number}/f.py" for number in range(20)))
    box.idle(2)
    box.drop_next()
    box.sim.read(*(f"d{number}/f.py" for number in range(20, 24)))
    box.write("d22/.directives/AGENTS.md", "CORRECT")
    box.sim.read("d22/f.py")
    box.idle(3)
    assert box.seen().count("more files that Handbill could not deliver") == 1 and box.seen().count("CORRECT") == 1


def test_a_dispatch_outside_of_the_project(box: SimulatedProject, tmp_path: Any) -> None:
    """The person named it, so it is tried again as a file that may be delivered."""
    dispatch = tmp_path / "outside.md"
    dispatch.write_bytes(b"\0")
    assert box.process(f"engine role set worker --dispatch {dispatch}").returncode == 0
    box.sim.compact()
    dispatch.write_text("CONTRACT")
    box.sim.prompt("go on")
    assert "CONTRACT" not in box.seen() or box.seen().count("CONTRACT") == 1


@pytest.mark.parametrize("made", [False, True], ids=["no rules", "rules that cannot be listed"])
def test_a_folder_that_nobody_may_open(box: SimulatedProject, monkeypatch: pytest.MonkeyPatch, made: bool) -> None:
    """As for anybody but root: it can neither be listed nor entered."""
    box.write("data/x", "x")
    if made:
        box.write("data/.directives/AGENTS.md", "rules of data")
    closed = str(box.project / "data/.directives" if made else box.project / "data")
    usual_names, usual_closed = World.present, World.is_closed
    monkeypatch.setattr(
        World, "present", lambda w, path, names: () if path.startswith(closed) else usual_names(w, path, names)
    )
    monkeypatch.setattr(World, "is_closed", lambda w, path: path.startswith(closed) or usual_closed(w, path))
    for _ in range(3):
        box.sim.read("data/x")
    assert box.seen().count("could not deliver") == made
    monkeypatch.undo()
    box.sim.read("data/x")
    assert box.seen().count("rules of data") == made


def test_the_second_batch_of_a_slow_record_reads_what_is_there(
    box: SimulatedProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    box.sim.read("two/f.py")
    box.sim.read("one/f.py")
    box.idle(2)
    box.lose_ledger()
    monkeypatch.setattr(World, "pause", lambda world, seconds: None)
    usual, held = box.sim._write, list[tuple[str, dict[str, Any]]]()
    for _ in range(2):  # the rows of each batch are written just after its hook gave up
        box.sim._write = lambda path, row: str(held.append((path, row)))  # type: ignore[method-assign]
        box.sim.read("two/f.py")
        box.sim._write = usual  # type: ignore[method-assign]
        while held:
            usual(*held.pop(0))
    box.idle(2)
    assert [box.seen().count(words) for words in ("rules of one", "rules of two", "# Invariants")] == [1, 1, 1]


def test_a_dispatch_that_breaks_between_its_parts_is_still_permitted(box: SimulatedProject, tmp_path: Any) -> None:
    """The person named it for this window, so its corrected text may come from outside of the project, too."""
    dispatch = tmp_path / "outside.md"
    dispatch.write_text("\n".join(f"line {number:03} of the task {'x' * 60}" for number in range(250)))
    assert box.process(f"engine role set worker --dispatch {dispatch}").returncode == 0
    box.sim.compact()
    dispatch.write_bytes(b"\0")
    box.idle()
    assert 'outside.md": it is binary' in box.seen()
    dispatch.write_text("CONTRACT\n")
    for _ in range(2):  # that the text is another one now is noted first
        box.sim.prompt("go on")
    assert box.seen().count("CONTRACT") == 1


def test_a_rule_beside_one_that_the_client_may_bring(box: SimulatedProject) -> None:
    """However often the folder is only listed: the bare AGENTS.md is delivered when a file is changed there."""
    (box.project / "one/.directives/AGENTS.md").unlink()
    box.write("one/AGENTS.md", "bare rules\n")
    box.write(RULE, "\0")
    for _ in range(3):
        box.sim.batch(("Glob", {"pattern": "*", "path": str(box.project / "one")}))
    assert "it is binary" in box.seen() and "bare rules" not in box.seen()
    box.sim.batch(("Edit", {"file_path": str(box.project / "one/f.py")}))
    box.idle()
    assert box.seen().count("bare rules") == 1


def test_a_corrected_file_comes_for_the_reason_that_it_had(box: SimulatedProject) -> None:
    """It had to wait, and broke while it waited."""
    box.write("one/.directives/AGENTS.md", "y" * 9000)
    box.write(RULE, "z z\n" * 2000)
    box.sim.read("one/f.py")
    box.write(RULE, "\0")
    box.idle(2)
    assert "it is binary" in box.seen()
    box.write(RULE, FIXED)
    box.sim.prompt("it is fixed")
    assert box.state()["files"][str(box.project / RULE)]["reason"] == f"directive of {box.project}/one"
