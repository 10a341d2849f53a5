"""Whole sessions on the host in a box: the hooks' own code, real files, a transcript as the client writes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from handbill.lab.simulator import Simulator, direct_hooks
from simulated_project import OLD, SimulatedProject, assert_once, names


def test_a_usual_session(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    assert len(box.sim.start().titles) == 6
    assert box.sim.prompt("hello").texts == []
    assert names(box.sim.read("one/f.py")) == ["one"]
    assert box.sim.read("one/f.py").texts == []
    assert names(box.sim.read("one/f.py", "two/f.py")) == ["two"]
    assert box.sim.start("resume").texts == []
    assert box.sim.read("two/f.py").texts == []
    assert_once(box, "main", "one", "two")
    assert box.errors() == []
    assert len(box.log("confirmed")) == 8


def test_an_event_with_nothing_to_do_writes_nothing(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    box.sim.read("one/f.py")  # writes: the receipts
    folder = box.state_folder
    before = {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in folder.rglob("*")}
    box.sim.read("one/f.py")
    box.sim.prompt("x")
    assert {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in folder.rglob("*")} == before


@pytest.mark.parametrize("event", ["start", "batch"])
def test_an_answer_that_never_arrived_is_given_again(make_project: Callable[..., SimulatedProject], event: str) -> None:
    box = make_project()
    if event == "start":
        box.drop_next()
    box.sim.start()
    box.sim.prompt("x")
    if event == "batch":
        box.drop_next()
    box.sim.read("one/f.py")
    box.sim.read("two/f.py")
    box.sim.read("two/f.py")
    assert_once(box, "main", "one", "two")
    assert len(box.sim.copies()) == 8
    assert len(box.log("lost")) == (6 if event == "start" else 1)


def test_subagents_have_windows_of_their_own(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    assert names(box.sim.subagent("a1")) == ["INVARIANTS.md"]
    assert names(box.sim.read("one/f.py", agent="a1")) == ["one"]
    assert box.sim.read("one/f.py", agent="a1").texts == []
    assert box.sim.read("one/f.py").texts == []
    assert_once(box, "main", "one")
    assert_once(box, "a1", "one")


@pytest.mark.parametrize("agent", ["", "a1"])
def test_a_compaction_is_of_one_window(make_project: Callable[..., SimulatedProject], agent: str) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    box.sim.subagent("a1")
    box.sim.read("one/f.py", agent="a1")
    box.sim.batch(("Bash", {"command": "true"}), agent=agent)
    assert box.sim.compact(agent).texts, "the standards come back at once"
    box.sim.read("one/f.py", agent=agent)
    box.sim.read("one/f.py", agent="" if agent else "a1")
    box.sim.read("one/f.py", agent=agent)
    assert_once(box, "main", "one")
    assert_once(box, "a1", "one")
    assert (box.state()["epoch"], box.state("a1")["epoch"]) == ((0, 1) if agent else (1, 0))


def test_what_the_compaction_kept_is_not_delivered_again(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("two/f.py")
    box.sim.read("one/f.py")  # the last batch: its injection stays
    box.sim.compact()
    assert box.sim.read("one/f.py").texts == []
    assert names(box.sim.read("two/f.py")) == ["two"]
    assert_once(box, "main", "one", "two")


def test_an_old_client_does_not_say_who_was_compacted(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project(OLD)
    box.sim.start()
    box.sim.read("one/f.py")
    box.sim.subagent("a1")
    box.sim.read("one/f.py", agent="a1")
    box.sim.send({"hook_event_name": "PreCompact", "trigger": "auto"})
    told = box.hooks("SessionStart", {
        "session_id": box.sim.session, "transcript_path": box.sim.transcript, "cwd": str(box.project),
        "hook_event_name": "SessionStart", "source": "compact",
    })  # fmt: skip
    assert told == [""], "it may be either window's: evidence first"
    assert box.sim.read("one/f.py").texts == []  # main goes on: its transcript shows no compaction
    assert box.state()["epoch"] == 0
    assert box.state()["suspectFrom"] == -1


def test_an_old_client_compacts_main_after_a_subagent(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project(OLD)
    box.sim.start()
    box.sim.subagent("a1")
    box.sim.read("one/f.py", agent="a1")
    box.sim.read("one/f.py")
    box.idle()
    box.sim.compact()  # nobody said whose: the standards come with the next batch
    box.sim.read("two/f.py")
    box.sim.read("one/f.py")
    assert_once(box, "main", "one", "two")
    assert len(box.sim.copies()) == 8


def test_clear_is_an_empty_window(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    assert len(box.sim.clear().titles) == 6
    assert names(box.sim.read("one/f.py")) == ["one"]


def test_a_fork_is_known_by_its_copied_transcript(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    text = Path(box.sim.transcript).read_text()
    last = box.sim._last.pop(box.sim.transcript)
    box.sim.session = "forked"
    assert box.sim.start("fork").texts == []
    assert box.sim.prompt("x").texts == [], "the copy may not be written yet"
    Path(box.sim.transcript).write_text(text)
    box.sim._last[box.sim.transcript] = last
    assert names(box.sim.read("one/f.py", "two/f.py")) == ["two"]
    assert_once(box, "main", "one", "two")


def test_a_missed_start_is_made_good(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.prompt("x")
    assert len(box.sim.read("one/f.py").titles) == 7
    assert_once(box, "main", "one")


def test_files_that_the_host_loaded_are_not_delivered(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    path = str(box.project / "one" / ".directives" / "AGENTS.md")
    box.sim.send({"hook_event_name": "InstructionsLoaded", "file_path": path, "load_reason": "include"})
    assert len(box.sim.start().titles) == 6
    assert box.sim.read("one/f.py").texts == []
    assert box.state()["files"][path]["parts"] == "h"


def test_a_large_file_in_parts_and_small_ones_first(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    text = "".join(f"rule {number:05d} is long enough to matter\n" for number in range(900))
    box.write("one/.directives/ARCHITECTURE.md", text)
    box.sim.start()
    first = box.sim.read("one/f.py")
    assert names(first)[0] == "one" and [title[2] for title in first.titles[1:]] == [1]
    events = 1
    while "." in box.state()["files"][str(box.project / "one/.directives/ARCHITECTURE.md")]["parts"]:
        box.sim.read("one/f.py")
        events += 1
    assert events == 4
    pieces = [body for _, shown in box.sim.views["main"] for body in shown.split("\n") if body.startswith("rule 0")]
    assert pieces == text.splitlines()


def test_two_agents_in_one_project(make_project: Callable[..., SimulatedProject], tmp_path: Path) -> None:
    box = make_project()
    other = Simulator(str(box.project), str(tmp_path / "transcripts"), direct_hooks(box.environ))
    for sim in (box.sim, other):
        assert len(sim.start().titles) == 6
    for sim in (box.sim, other, box.sim, other):
        sim.read("one/f.py")
    assert len(box.sim.copies()) == len(other.copies()) == 7


def test_settings_are_read_and_wrong_ones_told(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.write(".handbill.toml", '[directives]\nalways = ["TESTING.md"]\nexclude = 7\n[nonsense]\n')
    box.write("one/.directives/TESTING.md", "how to test\n")
    box.sim.start()
    assert len(box.sim.read("one/f.py").titles) == 2
    assert any("directives.exclude must be a list" in error for error in box.errors())
    box.write(".handbill.toml", '[directives]\nexclude = ["two"]\n')
    assert box.sim.read("two/f.py").texts == [], "a change is seen at once"


def test_a_rule_that_the_agent_opens_itself(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    assert names(box.sim.read("one/.directives/AGENTS.md")) == []
    assert names(box.sim.read("one/f.py")) == []
    box.write("one/.directives/AGENTS.md", "new rules of one, longer than before\n")
    assert "new rules" in "".join([*box.sim.prompt("x").texts, *box.sim.read("one/f.py").texts])
    part = ("Read", {"file_path": str(box.project / "two/.directives/AGENTS.md"), "limit": 1})
    assert names(box.sim.batch(part)) == ["two"]


@pytest.mark.parametrize("mark", [".git", ".handbill.toml"])
def test_a_client_that_is_started_in_a_subfolder(make_project: Callable[..., SimulatedProject], mark: str) -> None:
    """The rules and the context of the whole repository count, and commands see the window from everywhere."""
    box = make_project()
    (box.project / mark).touch()
    box.write(".directives/INVARIANTS.md", "rules of the root\n")
    box.write(".context/TASKS.md", "tasks of the project\n")
    box.environ["CLAUDE_PROJECT_DIR"] = str(box.project / "one")
    box.sim.start()
    box.sim.read("two/f.py")
    box.idle()
    seen = box.seen()
    assert all(seen.count(words) == 1 for words in ("rules of the root", "tasks of the project", "rules of two"))
    for folder in ("", "one", "two"):
        done = box.process(f"cd {box.project / folder} && engine window", CLAUDE_CODE_SESSION_ID="")
        assert "two/.directives/AGENTS.md" in done.stdout, (folder, done.stdout, done.stderr)


def test_what_was_unpacked_below_a_project_is_not_a_part_of_it(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.write(".directives/INVARIANTS.md", "rules of the root\n")
    box.environ["CLAUDE_PROJECT_DIR"] = str(box.project / "one")  # only a folder `.claude` is above it
    box.sim.start()
    box.sim.read("one/f.py")
    assert "rules of the root" not in box.seen()
