"""Faults of handing over that once were: it exploded, came twice, was lost, or went to the wrong agent."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from regressions import lanes
from unfinished_work import RESUME, mode, prepared, work

from handbill.cli.main import main
from handbill.lab.simulator import ProcessHooks, Simulator
from handbill.ledger import epochs
from handbill.store.files import FileStore
from handbill.store.prune import prune
from handbill.text.frontmatter import BadHead, parse
from simulated_project import SimulatedProject

Make = Callable[..., SimulatedProject]


def test_names_of_fields_that_are_no_words() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)
    )
    for head in (f"{bomb}? [*a8]\n: 1\n", "? [a]\n: 1\n", "? {a: 1}\n: 1\n"):
        with pytest.raises(BadHead, match="plain word"):
            parse(f"---\n{head}---\n")


def test_merged_fields_are_refused() -> None:
    with pytest.raises(BadHead, match="write the fields out"):
        parse("---\nbase: &b {x: 1, y: 2}\nmore: {<<: *b, y: 3}\n---\n")


def test_a_late_resume_finds_its_yaml_reader(tmp_path: Path) -> None:
    """Real hook processes, as installed: the handover comes with a batch, because no start was seen."""
    project = tmp_path / "project"
    (project / "02-projects/p/01-planning").mkdir(parents=True)
    (project / "02-projects/p/01-planning/_resume.md").write_text("---\nfiles_to_load: [a.md]\n---\n")
    (project / "02-projects/p/a.md").write_text("MARK-A\n")
    assert main(["install", "--project", str(project), "--python", sys.executable]) == 0
    environ = {
        "HOME": str(tmp_path / "home"),
        "CLAUDE_PROJECT_DIR": str(project),
        "CLAUDE_PID": "4194301",
        "AI_AGENT": "claude-code_2-1-325_x",
    }
    sim = Simulator(
        str(project), str(tmp_path / "t"), ProcessHooks(str(project / ".claude/settings.local.json"), environ)
    )
    sim.start()
    sim.read("02-projects/p/a.md", "02-projects/p/b.md")
    sim.send({"hook_event_name": "PreCompact", "trigger": "auto"})
    sim._boundary(sim.transcript)
    for _ in range(2):
        sim.batch(("Bash", {"command": "true"}))
    text = "\n".join(text for _, text in sim.views["main"])
    assert '"active":true' in text and text.count("MARK-A") == 1, text[-800:]


def test_the_lanes_of_a_start_say_one_thing(make_project: Make) -> None:
    box = make_project()
    lanes(box, 4)
    box.write(".handbill.toml", "[resume]\nbudget = 2000\n")
    names = ["a.md", "b.md", "c.md"]
    for name in names:
        box.write(name, f"MARK-{name}\n" + "word " * 1400)
    said = {"summary": "S", "nextSteps": ["N"], "requiredFiles": names}
    FileStore(str(box.state_folder)).leave_handover({"session": "X", "context": said, "by": ""})
    box.sim.start()
    assert box.seen().count("stopped work on the session") == 1 and [
        box.seen().count(f"MARK-{name}") for name in names
    ] == [1, 0, 0]


def test_what_was_set_down_with_odd_line_ends_comes_once(make_project: Make) -> None:
    box = make_project()
    said = {"summary": "BEGIN\r\n" + "line\r\n" * 1600 + "\0END", "nextSteps": ["N"]}
    FileStore(str(box.state_folder)).leave_handover({"session": "X", "context": said, "by": ""})
    box.sim.start()
    box.idle(4)
    assert box.seen().count("BEGIN") == 1 and box.seen().count("END") == 1 and "[Updated" not in box.seen()


def test_a_worker_takes_nothing_up(make_project: Make) -> None:
    box = make_project()
    store = FileStore(str(box.state_folder))
    store.leave_handover({"session": "X", "context": {"summary": "S", "nextSteps": ["N"]}, "by": ""})
    store.note((box.sim.session, "main"), "role", {"role": "worker"})
    box.sim.start()
    assert "stopped work on the session" not in box.seen()
    box.sim.clear()
    assert "stopped work on the session" in box.seen()


def test_pruning_leaves_the_notes_of_a_window_that_lives(tmp_path: Path) -> None:
    root = tmp_path / "state"
    store = FileStore(str(root))
    store.note(("s1", "main"), "role", {"role": "worker"})
    store.note(("s2", "main"), "role", {"role": "worker"})
    (root / ".windows/s1.jsonl").write_text("{}\n\n")
    page = store.keep_page("old.md", "x")
    old = time.time() - 20 * 86400
    for path in (root / ".windows/s1.role", root / ".windows/s2.role", Path(page)):
        os.utime(path, (old, old))
    assert prune(str(root), 14) == ["s2.role", "old.md"]
    assert store.noted(("s1", "main"), "role") is not None


def test_values_that_the_loader_stumbles_over() -> None:
    for value in ('!!int ""', '!!float ""', "!!bool perhaps", "!!timestamp x"):
        with pytest.raises(BadHead, match="cannot be read"):
            parse(f"---\na: {value}\n---\n")


def test_a_few_lines_that_stand_for_a_lot_are_refused(make_project: Make) -> None:
    box = prepared(make_project())
    many = ", ".join(["*a"] * 90)
    box.write(RESUME, f"---\nx: &a {'y' * 1000}\nvalidation_questions: [{many}]\nfiles_to_load: [a.md]\n---\n")
    work(box)
    box.sim.compact()
    assert "validation_questions" in mode(box)["error"] and len(box.seen()) < 20_000


def test_a_note_of_an_earlier_compaction_is_not_used_again(make_project: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(epochs, "SAME_MOMENT", 0.0)  # the second compaction comes at once
    box = prepared(make_project())
    work(box)
    box.sim.compact()
    assert mode(box)["active"]
    box.idle()
    box.idle()
    box.sim.send({"hook_event_name": "SessionStart", "source": "compact"})  # its PreCompact never reached us
    assert box.state()["epoch"] == 2 and mode(box)["reason"].startswith("no resume state")


def test_a_cancelled_compaction_in_a_later_epoch(make_project: Make) -> None:
    box = prepared(make_project())
    work(box)
    box.sim.compact()
    work(box)
    before = box.seen().count("resume_mode")
    box.sim.send({"hook_event_name": "PreCompact", "trigger": "manual"})
    box.sim.start("resume")
    assert box.seen().count("resume_mode") == before


def test_a_worker_known_by_its_variable_takes_nothing_up(make_project: Make) -> None:
    box = make_project()
    box.environ["HANDBILL_ROLE"] = "worker"
    said = {"summary": "S", "nextSteps": ["N"]}
    FileStore(str(box.state_folder)).leave_handover({"session": "X", "context": said, "by": ""})
    box.sim.start()
    assert "stopped work on the session" not in box.seen()


def test_a_page_that_is_said_again_is_not_an_old_one(tmp_path: Path) -> None:
    store = FileStore(str(tmp_path / "state"))
    page = store.keep_page("context-0.md", "x")
    os.utime(page, (1000, 1000))
    store.keep_page("context-0.md", "x")
    assert prune(str(tmp_path / "state"), 14) == []
