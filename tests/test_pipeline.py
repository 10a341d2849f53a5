"""Whole sessions on the host in a box: the hooks' own code, real files, a transcript as the client writes it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from handbill.simulate import Hooks, Moment, Simulator, direct_hooks
from handbill.store.files import make_private_directory

OLD, NEW = "2-1-197", "2-1-325"


class Box:
    def __init__(self, root: Path, version: str = NEW) -> None:
        self.project = root / "project"
        make_private_directory(str(self.project / "sessions" / ".windows"))
        self.environ = {
            "HOME": str(root / "home"), "CLAUDE_PROJECT_DIR": str(self.project), "CLAUDE_PID": "1",
            "AI_AGENT": f"claude-code_{version}_x",
        }  # fmt: skip
        self.hooks: Hooks = direct_hooks(self.environ)
        self.sim = Simulator(str(self.project), str(root / "transcripts"), lambda name, raw: self.hooks(name, raw))

    def write(self, name: str, text: str) -> None:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def drop_next(self) -> None:
        """The next answer never reaches the client, as when the hook is killed after its claim."""
        usual = self.hooks

        def dropping(name: str, raw: dict[str, Any]) -> list[str]:
            self.hooks = usual
            usual(name, raw)
            return []

        self.hooks = dropping

    def state(self, agent: str = "") -> dict[str, Any]:
        name = f"{self.sim.session}.{agent}" if agent else self.sim.session
        lines = (self.project / "sessions" / ".windows" / f"{name}.jsonl").read_text().splitlines()
        found: dict[str, Any] = json.loads(lines[0])
        found["files"] = {record["path"]: record for record in map(json.loads, lines[1 : lines.index("")])}
        return found

    def log(self, event: str) -> list[str]:
        path = self.project / "sessions" / ".engine" / "deliveries.jsonl"
        return [line["file"] for line in map(json.loads, path.read_text().splitlines()) if line["event"] == event]

    def errors(self) -> list[str]:
        path = self.project / "sessions" / ".engine" / "errors.jsonl"
        return [json.loads(line)["error"] for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Box]:
    def box(version: str = NEW) -> Box:
        made = Box(tmp_path, version)
        for name in ("one", "two"):
            made.write(f"{name}/.directives/AGENTS.md", f"rules of {name}\n")
            made.write(f"{name}/f.py", "x\n")
        return made

    return box


def names(moment: Moment) -> list[str]:
    return [
        path.rsplit("/", 3)[1] if "/.directives/" in path else path.rsplit("/", 1)[1] for path, _, _, _ in moment.titles
    ]


def assert_once(box: Box, window: str, *directives: str) -> None:
    copies = box.sim.copies(window)
    assert set(copies.values()) <= {1}, copies
    there = {path.rsplit("/", 3)[1] for path, _, _, _ in copies if "/project/" in path}
    assert there == set(directives)


def test_a_usual_session(make: Callable[..., Box]) -> None:
    box = make()
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


def test_an_event_with_nothing_to_do_writes_nothing(make: Callable[..., Box]) -> None:
    box = make()
    box.sim.start()
    box.sim.read("one/f.py")
    box.sim.read("one/f.py")  # writes: the receipts
    folder = box.project / "sessions"
    before = {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in folder.rglob("*")}
    box.sim.read("one/f.py")
    box.sim.prompt("x")
    assert {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in folder.rglob("*")} == before


@pytest.mark.parametrize("event", ["start", "batch"])
def test_an_answer_that_never_arrived_is_given_again(make: Callable[..., Box], event: str) -> None:
    box = make()
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


def test_subagents_have_windows_of_their_own(make: Callable[..., Box]) -> None:
    box = make()
    box.sim.start()
    box.sim.read("one/f.py")
    assert names(box.sim.subagent("a1")) == ["INVARIANTS.md"]
    assert names(box.sim.read("one/f.py", agent="a1")) == ["one"]
    assert box.sim.read("one/f.py", agent="a1").texts == []
    assert box.sim.read("one/f.py").texts == []
    assert_once(box, "main", "one")
    assert_once(box, "a1", "one")


@pytest.mark.parametrize("agent", ["", "a1"])
def test_a_compaction_is_of_one_window(make: Callable[..., Box], agent: str) -> None:
    box = make()
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


def test_what_the_compaction_kept_is_not_delivered_again(make: Callable[..., Box]) -> None:
    box = make()
    box.sim.start()
    box.sim.read("two/f.py")
    box.sim.read("one/f.py")  # the last batch: its injection stays
    box.sim.compact()
    assert box.sim.read("one/f.py").texts == []
    assert names(box.sim.read("two/f.py")) == ["two"]
    assert_once(box, "main", "one", "two")


def test_an_old_client_does_not_say_who_was_compacted(make: Callable[..., Box]) -> None:
    box = make(OLD)
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


def test_an_old_client_compacts_main_after_a_subagent(make: Callable[..., Box]) -> None:
    box = make(OLD)
    box.sim.start()
    box.sim.subagent("a1")
    box.sim.read("one/f.py", agent="a1")
    box.sim.read("one/f.py")
    box.sim.batch(("Bash", {"command": "true"}))
    box.sim.compact()  # nobody said whose: the standards come with the next batch
    box.sim.read("two/f.py")
    box.sim.read("one/f.py")
    assert_once(box, "main", "one", "two")
    assert len(box.sim.copies()) == 8


def test_clear_is_an_empty_window(make: Callable[..., Box]) -> None:
    box = make()
    box.sim.start()
    box.sim.read("one/f.py")
    assert len(box.sim.clear().titles) == 6
    assert names(box.sim.read("one/f.py")) == ["one"]


def test_a_fork_is_known_by_its_copied_transcript(make: Callable[..., Box]) -> None:
    box = make()
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


def test_a_missed_start_is_made_good(make: Callable[..., Box]) -> None:
    box = make()
    box.sim.prompt("x")
    assert len(box.sim.read("one/f.py").titles) == 7
    assert_once(box, "main", "one")


def test_files_that_the_host_loaded_are_not_delivered(make: Callable[..., Box]) -> None:
    box = make()
    path = str(box.project / "one" / ".directives" / "AGENTS.md")
    box.sim.send({"hook_event_name": "InstructionsLoaded", "file_path": path, "load_reason": "include"})
    assert len(box.sim.start().titles) == 6
    assert box.sim.read("one/f.py").texts == []
    assert box.state()["files"][path]["parts"] == "h"


def test_a_large_file_in_parts_and_small_ones_first(make: Callable[..., Box]) -> None:
    box = make()
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


def test_a_state_file_full_of_garbage_is_rebuilt_from_the_transcript(make: Callable[..., Box]) -> None:
    box = make()
    box.sim.start()
    box.sim.prompt("x")
    box.sim.read("one/f.py")
    window = next((box.project / "sessions" / ".windows").glob("*.jsonl"))
    window.write_text("garbage")
    moment = box.sim.read("one/f.py", "two/f.py")
    assert names(moment) == ["two"]
    assert "engine doctor" in moment.messages[0]
    assert_once(box, "main", "one", "two")
    assert box.sim.read("one/f.py").messages == [], "told once per window"
    assert "not JSON" in box.errors()[0]


def test_a_refused_directive_is_told_once_and_the_rest_goes_on(make: Callable[..., Box]) -> None:
    box = make()
    (box.project / "one" / ".directives" / "INVARIANTS.md").write_bytes(b"\0" * 50)
    box.sim.start()
    moment = box.sim.read("one/f.py")
    assert names(moment) == ["one"]
    assert "is binary" in moment.messages[0]
    for _ in range(3):
        assert box.sim.read("one/f.py", "two/f.py").messages == []
    assert len(box.errors()) == 1


def test_a_directive_that_goes_away_and_comes_back(make: Callable[..., Box]) -> None:
    box = make()
    big = box.project / "one" / ".directives" / "ARCHITECTURE.md"
    big.write_text("line\n" * 4000)
    box.sim.start()
    box.sim.read("one/f.py")
    text = big.read_text()
    big.unlink()
    box.sim.read("two/f.py")
    assert box.errors() == []
    big.write_text(text)
    for _ in range(4):
        box.sim.read("one/f.py")
    assert set(box.sim.copies().values()) == {1}
    assert box.state()["files"][str(big)]["parts"] in ("kkk", "kks")


def test_two_agents_in_one_project(make: Callable[..., Box], tmp_path: Path) -> None:
    box = make()
    other = Simulator(str(box.project), str(tmp_path / "transcripts"), direct_hooks(box.environ))
    for sim in (box.sim, other):
        assert len(sim.start().titles) == 6
    for sim in (box.sim, other, box.sim, other):
        sim.read("one/f.py")
    assert len(box.sim.copies()) == len(other.copies()) == 7


def test_settings_are_read_and_wrong_ones_told(make: Callable[..., Box]) -> None:
    box = make()
    box.write(".handbill.toml", '[directives]\nalways = ["TESTING.md"]\nexclude = 7\n[nonsense]\n')
    box.write("one/.directives/TESTING.md", "how to test\n")
    box.sim.start()
    assert len(box.sim.read("one/f.py").titles) == 2
    assert any("directives.exclude must be a list" in error for error in box.errors())
    box.write(".handbill.toml", '[directives]\nexclude = ["two"]\n')
    assert box.sim.read("two/f.py").texts == [], "a change is seen at once"


def test_a_missed_compaction_start_is_made_good(make: Callable[..., Box]) -> None:
    """The transcript's boundary opens the epoch, should the hook of the start have died."""
    box = make()
    box.sim.start()
    box.sim.read("one/f.py")
    box.sim.batch(("Bash", {"command": "true"}))
    box.sim.send({"hook_event_name": "PreCompact", "trigger": "auto"})
    usual, box.hooks = box.hooks, lambda name, raw: []
    box.sim.start("compact")
    box.hooks = usual
    assert len(box.sim.read("two/f.py").titles) == 7
    assert names(box.sim.read("one/f.py")) == ["one"]
    assert_once(box, "main", "one", "two")


def test_a_hook_that_could_not_write_is_made_good(make: Callable[..., Box], monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    from handbill.store import files

    monkeypatch.setattr(files, "PATIENCE", 0.05)
    box = make()
    box.sim.start()
    box.sim.read("two/f.py")
    with open(box.project / "sessions" / ".windows" / f"{box.sim.session}.lock") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        moment = box.sim.read("one/f.py")
        assert moment.texts == [] and "held by another process" in moment.messages[0]
        assert box.sim.read("one/f.py").messages == []
    assert names(box.sim.read("two/f.py")) == ["one"]
    assert_once(box, "main", "one", "two")
    assert not list((box.project / "sessions" / ".windows").glob("*.missed"))


def test_a_log_that_cannot_be_written_costs_no_delivery(make: Callable[..., Box]) -> None:
    box = make()
    make_private_directory(str(box.project / "sessions" / ".engine"))
    (box.project / "sessions" / ".engine" / "deliveries.jsonl").mkdir()
    moment = box.sim.start()
    assert len(moment.titles) == 6 and "cannot write its log" in moment.messages[0]


@pytest.mark.parametrize("bad", ["nul\0byte", "\ud800lone", "a/" * 5000])
def test_one_bad_path_does_not_cost_the_others(make: Callable[..., Box], bad: str) -> None:
    box = make()
    box.sim.start()
    moment = box.sim.batch(("Read", {"file_path": bad}), ("Read", {"file_path": str(box.project / "one/f.py")}))
    assert names(moment) == ["one"]
    assert len(json.dumps(box.state())) < 20_000


def test_a_directory_that_is_made_later(make: Callable[..., Box]) -> None:
    box = make()
    box.sim.start()
    box.sim.read("later/f.py")
    box.write("later/.directives/AGENTS.md", "rules of later\n")
    assert names(box.sim.read("later/f.py")) == ["later"]


def test_a_directive_that_was_empty_for_a_moment(make: Callable[..., Box]) -> None:
    box = make()
    box.write(".directives/INVARIANTS.md", "")
    box.sim.start()
    assert names(box.sim.read("one/f.py")) == ["one"]
    box.write(".directives/INVARIANTS.md", "root rules\n")
    assert names(box.sim.read("one/f.py")) == ["project"]


def test_an_inode_that_is_used_again(make: Callable[..., Box]) -> None:
    box = make()
    box.sim.start()
    box.sim.read("one/f.py")
    (box.project / "one/.directives/AGENTS.md").rename(box.project / "two/.directives/INVARIANTS.md")
    box.write("two/.directives/INVARIANTS.md", "other text in the same inode\n")
    assert len(box.sim.read("two/f.py").titles) == 2


def test_a_repository_cannot_lead_our_files_elsewhere(make: Callable[..., Box], tmp_path: Path) -> None:
    box = make()
    victim = tmp_path / "victim"
    victim.write_text("mine\n")
    make_private_directory(str(box.project / "sessions" / ".engine"))
    (box.project / "sessions" / ".engine" / "deliveries.jsonl").symlink_to(victim)
    assert len(box.sim.start().titles) == 6
    assert victim.read_text() == "mine\n"
    (box.project / "sessions" / ".windows").chmod(0o755)  # as a checkout makes it: not ours, so not used
    box.sim.read("one/f.py")
    assert len(list((box.project / "sessions" / ".windows").glob("*.jsonl"))) == 1


def test_secrets_stay_where_they_are(make: Callable[..., Box], tmp_path: Path) -> None:
    box = make()
    secret = tmp_path / "home" / ".claude" / ".credentials.json"
    secret.parent.mkdir(parents=True)
    secret.write_text("SECRET")
    (box.project / "one" / ".directives" / "INVARIANTS.md").symlink_to(secret)
    box.write(".handbill.toml", f'[files]\nallow = ["/"]\n[standards]\nfiles = ["{secret}"]\n')
    texts = box.sim.start().texts + box.sim.read("one/f.py").texts
    assert texts and "SECRET" not in "".join(texts)
    assert any("leads out of the project" in error for error in box.errors())
    assert any("files.allow counts only in your own settings" in error for error in box.errors())


def test_a_settings_file_that_never_ends(make: Callable[..., Box]) -> None:
    box = make()
    (box.project / ".handbill.toml").symlink_to("/dev/zero")
    assert len(box.sim.start().titles) == 6


def test_no_state_can_be_written_anywhere(make: Callable[..., Box], tmp_path: Path) -> None:
    """The start text is given all the same, and the person is told."""
    box = make()
    (box.project / "sessions" / ".windows").rename(box.project / "sessions" / "gone")
    (tmp_path / "home").rmdir()
    (tmp_path / "home").write_text("a file: nothing can be made below it")
    moment = box.sim.start()
    assert len(moment.titles) == 6
    assert moment.messages
