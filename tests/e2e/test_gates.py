"""Held writes, changed files and subagents' first pages, on the real client."""

from __future__ import annotations

import json

from sandbox import NEW, STANDARDS, Sandbox, assert_absent, assert_extends, assert_once, copies
from talk import Talk

from conftest import Make
from handbill.lab.live_client import Block, Script, call

TAKE_TURNS = True


def rules(box: Sandbox) -> None:
    box.write("src/.directives/AGENTS.md", "MARK-SRC\n")
    box.write("lib/.directives/INVARIANTS.md", "MARK-LIB\n")
    box.write("src/f.py", "x\n")
    box.write("lib/f.py", "x\n")


def write(box: Sandbox, path: str) -> Block:
    return call("Write", file_path=box.path(path), content="made\n")


def test_a_new_file_is_held_once_with_the_directives(make: Make, version: str) -> None:
    box = make(version)
    rules(box)
    run = box.run(
        write(box, "src/new.py"), write(box, "src/new.py"), write(box, "src/more.py"), box.read("src/f.py"), "done"
    )
    requests = run.of()
    assert "Held by Handbill" in requests[1].text and not requests[1].text.count("File created successfully")
    for request in requests[1:]:
        assert_once(request, *STANDARDS, "MARK-SRC", "Held by Handbill")
    assert (box.project / "src/new.py").read_text() == (box.project / "src/more.py").read_text() == "made\n"
    for before, after in zip(requests, requests[1:]):
        assert_extends(before, after)
    states = {row["file"]: row["state"] for row in box.engine("window")["data"]["files"]}
    assert states[box.path("src/.directives/AGENTS.md")] == "confirmed"
    resumed = box.run(
        box.read("src/f.py"), write(box, "src/third.py"), box.bash(), "done", args=("--resume", run.session)
    )
    assert_once(resumed.of()[-1], "MARK-SRC")
    assert (box.project / "src/third.py").exists()


def test_two_new_files_in_one_message(make: Make, version: str) -> None:
    box = make(version)
    rules(box)
    both = [write(box, "src/a.py"), write(box, "lib/b.py")]
    run = box.run(both, json.loads(json.dumps(both)), box.bash(), "done")
    assert_once(run.of()[-1], "MARK-SRC", "MARK-LIB")
    assert (box.project / "src/a.py").exists() and (box.project / "lib/b.py").exists()


def test_nothing_is_held_where_the_rules_are_known_or_the_gate_is_off(make: Make, version: str) -> None:
    box = make(version)
    rules(box)
    run = box.run(
        box.read("src/f.py"),
        write(box, "src/new.py"),
        call("Edit", file_path=box.path("src/f.py"), old_string="x", new_string="y"),
        "done",
    )
    assert "Held once" not in run.of()[-1].text
    assert (box.project / "src/new.py").exists()
    box.write(".handbill.toml", '[write_gate]\nmode = "off"\n')
    run = box.run(write(box, "lib/new.py"), box.bash(), "done")
    assert "Held once" not in run.of()[-1].text
    assert_once(run.of()[-1], "MARK-LIB")


def test_every_edit_is_held_where_the_project_wants_it(make: Make, version: str) -> None:
    box = make(version)
    rules(box)
    box.write(".handbill.toml", '[write_gate]\nmode = "edits"\n')
    box.engine("install", "--project", str(box.project))
    edit = {"file_path": box.path("src/f.py"), "old_string": "x", "new_string": "y"}
    run = box.run(call("Edit", **edit), box.read("lib/f.py"), call("Edit", **edit), "done")
    if version == NEW:  # the older client refuses an Edit of a file that was not read before any hook runs
        assert_once(run.of()[-1], "MARK-SRC", "Held by Handbill")
    box.write("lib/g.py", "x\n")
    run = box.run(box.bash("true"), write(box, "lib/f.py"), box.bash("true"), "done")
    assert_once(run.of()[-1], "MARK-LIB")


def test_a_subagent_starts_with_the_rules_of_the_directories_in_its_task(make: Make, version: str) -> None:
    box = make(version)
    rules(box)
    tasks = {"Change src/f.py only.": "MARK-SRC", "Look at `lib/`, then report.": "MARK-LIB"}
    run = box.run(
        [box.agent(task) for task in tasks], box.bash(), "done",
        agent=(box.bash(), box.bash(), box.bash(), box.bash(), "ok", "ok"),
    )  # fmt: skip
    agents = {request.agent for request in run.of(None)}
    assert len(agents) == 2
    for agent in agents:
        mine = [request for request in run.of(None) if request.agent == agent]
        (own,) = [mark for task, mark in tasks.items() if task in mine[0].text]
        for request in mine:
            assert_once(request, own, "# Invariants\n")
            # Nothing says which of the two it is, so it may have the other's too: if that was asked for already.
            assert all(count <= 1 for count in copies(request, *tasks.values()).values())
    assert_absent(run.of()[-1], "MARK-SRC", "MARK-LIB")
    assert not list((box.state_folder / ".windows").glob("*.notices")), "settled"


def test_a_file_that_changed_comes_again_once(make: Make, version: str) -> None:
    box = make(version)
    rules(box)
    box.client.model.script = Script([
        box.read("src/f.py"), "one", box.bash(), "two", box.read("src/f.py"), "three", box.read("src/.directives/AGENTS.md"),
        call("Edit", file_path=box.path("src/.directives/AGENTS.md"), old_string="CHANGED", new_string="EDITED"), box.bash(),
        "four", box.bash(), "five",
    ])  # fmt: skip
    talk = Talk(box)
    talk.say("one")
    box.write("src/.directives/AGENTS.md", "MARK-CHANGED\n")
    talk.say("two")
    talk.say("three")
    talk.say("four")
    talk.say("five")
    talk.close()
    requests = [request for request in box.client.model.requests if request.body.get("tools")]
    title = f"[Updated: {box.path('src/.directives/AGENTS.md')}"
    assert requests[2].text.count(title) == 1, "with the prompt after the change"
    assert requests[-1].text.count(title) == 1, "and not again, whatever the agent did to it"
    assert "MARK-EDITED" in (box.project / "src/.directives/AGENTS.md").read_text()
