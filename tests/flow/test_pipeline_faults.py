"""Sessions in which something goes wrong: nothing twice, nothing lost, a trace, and the agent goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from handbill.store.disk import make_private_directory
from handbill.world import World
from simulated_project import SimulatedProject, assert_once, names


def test_a_state_file_full_of_garbage_is_rebuilt_from_the_transcript(
    make_project: Callable[..., SimulatedProject],
) -> None:
    box = make_project()
    box.sim.start()
    box.sim.prompt("x")
    box.sim.read("one/f.py")
    window = next((box.state_folder / ".windows").glob("*.jsonl"))
    window.write_text("garbage")
    moment = box.sim.read("one/f.py", "two/f.py")
    assert names(moment) == ["two"]
    assert "engine doctor" in moment.messages[0]
    assert_once(box, "main", "one", "two")
    assert box.sim.read("one/f.py").messages == [], "told once per window"
    assert "not JSON" in box.errors()[0]


def test_a_refused_directive_is_told_once_and_the_rest_goes_on(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    (box.project / "one" / ".directives" / "INVARIANTS.md").write_bytes(b"\0" * 50)
    box.sim.start()
    moment = box.sim.read("one/f.py")
    assert "is binary" in moment.messages[0]
    assert names(moment)[0] == "one" and names(moment)[1].startswith("undeliverable-")
    for _ in range(3):
        assert box.sim.read("one/f.py", "two/f.py").messages == []
    assert len(box.errors()) == 1
    assert box.seen().count('INVARIANTS.md": it is binary') == 1 and "Ask the user to fix it" in box.seen()


def test_a_write_is_not_held_for_rules_that_cannot_be_delivered(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    for folder, rule in (("one", b"\0"), ("two", b"rules")):
        box.write(f"{folder}/.directives/AGENTS.md", "")
        (box.project / folder / ".directives" / "AGENTS.md").write_bytes(rule)
    box.sim.start()
    assert box.sim.write("one/new.py").denied == ""
    assert box.seen().count('AGENTS.md": it is binary') == 1, "it came with the result"
    box.write("two/.directives/INVARIANTS.md", "\0")
    assert "rules" in box.sim.write("two/new.py").denied
    box.sim.write("two/new.py")
    assert box.seen().count('INVARIANTS.md": it is binary') == 1, "after the call was held for the other one"


def test_a_directive_that_goes_away_and_comes_back(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    big = box.project / "one" / ".directives" / "ARCHITECTURE.md"
    big.write_text("line\n" * 4000)
    box.sim.start()
    box.sim.read("one/f.py")
    text = big.read_text()
    big.unlink()
    box.sim.read("two/f.py")
    assert [line for line in box.errors() if "does not exist, and only some of its parts" in line] == box.errors() != []
    assert "only some of its parts were delivered" in box.seen(), "the model has seen the beginning only"
    big.write_text(text)
    for _ in range(4):
        box.sim.read("one/f.py")
    assert set(box.sim.copies().values()) == {1}
    assert box.state()["files"][str(big)]["parts"] in ("kkk", "kks")


def test_a_hook_that_could_not_write_is_made_good(
    make_project: Callable[..., SimulatedProject], monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    from handbill.store import disk

    monkeypatch.setattr(disk, "PATIENCE", 0.05)
    box = make_project()
    box.sim.start()
    box.sim.read("two/f.py")
    with open(box.state_folder / ".windows" / f"{box.sim.session}.lock") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        moment = box.sim.read("one/f.py")
        assert moment.texts == [] and "locked by another process" in moment.messages[0]
        assert box.sim.read("one/f.py").messages == []
    assert names(box.sim.read("two/f.py")) == ["one"]
    assert_once(box, "main", "one", "two")
    assert not list((box.state_folder / ".windows").glob("*.missed"))


def test_a_log_that_cannot_be_written_costs_no_delivery(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    make_private_directory(str(box.state_folder / ".engine"))
    (box.state_folder / ".engine" / "deliveries.jsonl").mkdir()
    moment = box.sim.start()
    assert len(moment.titles) == 6 and "cannot write its log" in moment.messages[0]


@pytest.mark.parametrize("bad", ["nul\0byte", "\ud800lone", "a/" * 5000])
def test_one_bad_path_does_not_cost_the_others(make_project: Callable[..., SimulatedProject], bad: str) -> None:
    box = make_project()
    box.sim.start()
    moment = box.sim.batch(("Read", {"file_path": bad}), ("Read", {"file_path": str(box.project / "one/f.py")}))
    assert names(moment) == ["one"]
    assert len(json.dumps(box.state())) < 20_000


def test_a_directory_that_is_made_later(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("later/f.py")
    box.write("later/.directives/AGENTS.md", "rules of later\n")
    assert names(box.sim.read("later/f.py")) == ["later"]


def test_a_directive_that_was_empty_for_a_moment(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.write(".directives/INVARIANTS.md", "")
    box.sim.start()
    assert names(box.sim.read("one/f.py")) == ["one"]
    box.write(".directives/INVARIANTS.md", "root rules\n")
    assert names(box.sim.read("one/f.py")) == ["project"]


def test_an_inode_that_is_used_again(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    (box.project / "one/.directives/AGENTS.md").rename(box.project / "two/.directives/INVARIANTS.md")
    box.write("two/.directives/INVARIANTS.md", "other text in the same inode\n")
    assert len(box.sim.read("two/f.py").titles) == 2


def test_state_in_the_project_is_never_used(make_project: Callable[..., SimulatedProject]) -> None:
    """Whatever a repository brings along under our names, with whatever modes, is not ours."""
    box = make_project()
    (box.project / "sessions" / ".windows").mkdir(parents=True, mode=0o700)
    (box.project / "sessions" / ".engine").mkdir(mode=0o700)
    assert len(box.sim.start().titles) == 6
    box.sim.read("one/f.py")
    assert not [path for path in (box.project / "sessions").rglob("*") if path.is_file()]
    assert box.log("claim-deliver")


def test_secrets_stay_where_they_are(make_project: Callable[..., SimulatedProject], tmp_path: Path) -> None:
    box = make_project()
    secret = tmp_path / "home" / ".claude" / ".credentials.json"
    secret.parent.mkdir(parents=True)
    secret.write_text("SECRET")
    (box.project / "one" / ".directives" / "INVARIANTS.md").symlink_to(secret)
    box.write(".handbill.toml", f'[files]\nallow = ["/"]\n[standards]\nfiles = ["{secret}"]\n')
    texts = box.sim.start().texts + box.sim.read("one/f.py").texts
    assert texts and "SECRET" not in "".join(texts)
    assert any("leads out of the project" in error for error in box.errors())
    assert any("files.allow counts only in your own settings" in error for error in box.errors())


def test_a_settings_file_that_never_ends(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    (box.project / ".handbill.toml").symlink_to("/dev/zero")
    assert len(box.sim.start().titles) == 6


def test_no_state_can_be_written_anywhere(make_project: Callable[..., SimulatedProject], tmp_path: Path) -> None:
    """Everything is delivered all the same, known from the transcript alone; and the person is told."""
    box = make_project()
    (tmp_path / "home").rmdir()
    (tmp_path / "home").write_text("a file: nothing can be made below it")
    moment = box.sim.start()
    assert len(moment.titles) == 6
    assert moment.messages
    assert names(box.sim.read("one/f.py")) == ["one"]
    assert names(box.sim.read("one/f.py")) == []
    assert names(box.sim.read("two/f.py")) == ["two"]
    assert_once(box, "main", "one", "two")


@pytest.mark.parametrize("line", ["{broken}", "[]", '{"other":1}'])
def test_a_broken_line_in_the_middle_of_a_ledger(make_project: Callable[..., SimulatedProject], line: str) -> None:
    box = make_project()
    box.sim.start()
    box.sim.prompt("x")
    box.sim.read("one/f.py")
    box.idle()
    window = next((box.state_folder / ".windows").glob("*.jsonl"))
    lines = window.read_text().splitlines()
    lines[3] = line
    window.write_text("\n".join(lines) + "\n")
    box.sim.compact()
    box.sim.read("one/f.py")
    box.sim.read("one/f.py")
    assert len(box.sim.copies()) == 7 and set(box.sim.copies().values()) == {1}
    assert list(window.parent.glob("*.corrupt-*"))


def test_an_empty_directive_at_the_root_costs_no_writes(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.write(".directives/AGENTS.md", "")
    box.sim.start()
    box.sim.read("one/f.py")
    box.sim.read("one/f.py")
    before = {path: path.stat().st_mtime_ns for path in box.state_folder.rglob("*")}
    for _ in range(3):
        assert box.sim.read("one/f.py").texts == []
    assert {path: path.stat().st_mtime_ns for path in box.state_folder.rglob("*")} == before


def test_a_mark_without_anything_missed_goes_away(make_project: Callable[..., SimulatedProject]) -> None:
    from handbill.store.files import FileStore

    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    box.sim.read("one/f.py")
    store = FileStore(str(box.state_folder))
    assert store.note_missed((box.sim.session, "main")) is True
    box.sim.read("one/f.py")
    assert store.missed((box.sim.session, "main")) is False


def test_a_trace_that_cannot_be_written_costs_no_mark(
    make_project: Callable[..., SimulatedProject], monkeypatch: pytest.MonkeyPatch
) -> None:
    from handbill.flow import pipeline

    box = make_project()
    box.sim.start()
    make_private_directory(str(box.state_folder / ".engine"))
    (box.state_folder / ".engine" / "errors.jsonl").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "decide", lambda *_: 1 / 0)
        with pytest.raises(IsADirectoryError):  # at the boundary of the process: a word on stderr
            box.sim.read("one/f.py")
    assert list((box.state_folder / ".windows").glob("*.missed"))


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 5000, ".".join("a" * 20_000) + " = 1\n", "".join(f"[s{number}]\n" for number in range(5000)),
        "[directives]\nalways = [" + ", ".join(f'"{number}.md"' for number in range(5000)) + "]\n", "x" * 70_000,
    ],
    ids=["deep", "dots", "sections", "list", "large"],
)  # fmt: skip
def test_settings_that_cannot_be_read_turn_nothing_off(
    make_project: Callable[..., SimulatedProject], text: str
) -> None:
    box = make_project()
    box.write(".handbill.toml", text)
    assert len(box.sim.start().titles) == 6
    assert names(box.sim.read("one/f.py")) == ["one"]
    assert 0 < len(box.errors()) < 60


@pytest.mark.parametrize("written", [True, False], ids=["after a pause", "never"])
def test_a_ledger_that_is_lost_before_the_client_has_recorded_the_last_delivery(
    make_project: Callable[..., SimulatedProject], monkeypatch: pytest.MonkeyPatch, written: bool
) -> None:
    """What was delivered one message ago is not in the transcript yet, but the prompt is."""
    box = make_project()
    box.write("one/.directives/AGENTS.md", "rules")
    box.sim.start()
    prompt = box.sim.prompt("go").event["prompt_id"]
    usual, late, pauses = box.hooks, [], []
    monkeypatch.setattr(box, "hooks", lambda name, raw: usual(name, {**raw, "prompt_id": prompt}))
    write = box.sim._write
    monkeypatch.setattr(box.sim, "_write", lambda *row: str(late.append(row)))

    def pause(self: World, seconds: float) -> None:
        pauses.append(seconds)
        while late and written:
            write(*late.pop(0))

    monkeypatch.setattr(World, "pause", pause)
    box.sim.read("one/f.py")
    box.lose_ledger()
    box.sim.read("one/f.py")
    assert box.seen().count("rules") == 1 and box.seen().count("# Commands") == 1
    assert len(pauses) == (1 if written else 20)
    monkeypatch.undo()
    for row in late:
        write(*row)
    box.idle(2)
    assert box.seen().count("rules") == 1 and box.seen().count("# Commands") == 1
