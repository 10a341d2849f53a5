"""Compactions that were cancelled, missed or seen late: an epoch opens when the transcript says so, once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from test_pipeline_shown import fork

from builders import window
from handbill.event import STOPPING, TOOL_CALLED, Event
from handbill.flow.pipeline import _is_in_doubt
from simulated_project import SimulatedProject, assert_once, names, nothing


def test_a_missed_compaction_start_is_made_good(make_project: Callable[..., SimulatedProject]) -> None:
    """The transcript's boundary opens the epoch, should the hook of the start have died."""
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    box.idle()
    box.sim.send({"hook_event_name": "PreCompact", "trigger": "auto"})
    usual, box.hooks = box.hooks, lambda name, raw: []
    box.sim.start("compact")
    box.hooks = usual
    assert len(box.sim.read("two/f.py").titles) == 7
    assert names(box.sim.read("one/f.py")) == ["one"]
    assert_once(box, "main", "one", "two")


def cancelled_compaction(box: SimulatedProject) -> None:
    box.sim.send({"hook_event_name": "PreCompact", "trigger": "manual"})


def test_a_compaction_that_was_cancelled_starves_nobody(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    cancelled_compaction(box)
    assert names(box.sim.read("two/f.py")) == ["two"]
    assert box.state()["epoch"] == 0 and box.state()["suspectFrom"] == -1


@pytest.mark.parametrize("trigger, texts", [("manual", 0), ("auto", 1)])
def test_a_compaction_of_a_window_that_is_not_known_yet(
    make_project: Callable[..., SimulatedProject], trigger: str, texts: int
) -> None:
    """A summary may keep the beginning: the standards are still there, as in a window that we know."""
    box = make_project()
    box.environ["CLAUDE_CODE_ENTRYPOINT"] = "cli"
    box.sim.start()
    box.sim.prompt("go")
    box.idle()
    fork(box)
    box.sim.prompt("and now")
    box.sim.send({"hook_event_name": "PreCompact", "trigger": trigger})
    assert len(box.sim.start("compact").texts) == texts


def test_a_second_compaction_that_is_called_off_keeps_nothing_from_the_next_prompt(
    make_project: Callable[..., SimulatedProject],
) -> None:
    box = make_project()
    box.environ["CLAUDE_CODE_ENTRYPOINT"] = "cli"
    box.sim.start()
    box.sim.prompt("go")
    box.sim.read("one/f.py")
    box.idle()
    cancelled_compaction(box)
    box.sim.start("compact")
    cancelled_compaction(box)
    assert len(box.sim.prompt("go on").titles) >= 6, "the standards come with it"
    box.sim.read("one/f.py")
    box.idle()
    assert_once(box, "main", "one")


def test_a_transcript_that_is_always_a_batch_behind(make_project: Callable[..., SimulatedProject]) -> None:
    """Records appear late: the batch after the one that could not be settled settles it."""
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    cancelled_compaction(box)
    real, late = Path(box.sim.transcript), Path(box.sim.transcript + ".late")
    usual = box.hooks

    def behind(name: str, raw: dict[str, object]) -> list[str]:
        whole = real.read_bytes()
        real.write_bytes(
            late.read_bytes() if late.exists() else whole[: whole.find(b'"toolu_0002"')].rpartition(b"\n")[0] + b"\n"
        )
        answer = usual(name, raw)
        late.write_bytes(whole)
        real.write_bytes(whole)
        return answer

    box.hooks = behind
    assert box.sim.read("two/f.py").texts == []
    assert names(box.sim.read("two/f.py")) == ["two"]


def test_the_prompt_of_a_compaction_is_no_mark_of_what_follows(make_project: Callable[..., SimulatedProject]) -> None:
    """PreCompact names the running prompt, and so do records that were there before it."""
    box = make_project()
    box.sim.start()
    box.sim.prompt("x")
    box.sim.read("one/f.py")
    box.sim.send({"hook_event_name": "PreCompact", "trigger": "auto", "prompt_id": "running"})
    assert "suspect_mark" not in box.state()["flags"]


def test_after_a_false_alarm_a_missed_compaction_is_still_noticed(
    make_project: Callable[..., SimulatedProject],
) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    cancelled_compaction(box)
    box.idle()
    box.sim.send({"hook_event_name": "PreCompact", "trigger": "auto"})
    usual, box.hooks = box.hooks, lambda name, raw: []
    box.sim.start("compact")
    box.hooks = usual
    box.sim.read("one/f.py")
    box.sim.read("one/f.py")
    assert len(box.sim.copies()) == 7
    assert_once(box, "main", "one")


def test_one_compaction_is_not_counted_twice(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    box.sim.compact()
    cancelled_compaction(box)
    assert box.sim.prompt("x").texts == []
    box.sim.read("two/f.py")
    assert box.state()["epoch"] == 1
    assert set(box.sim.copies().values()) == {1}


@pytest.mark.parametrize("compacts", [False, True])
def test_without_a_readable_transcript_work_goes_on(
    make_project: Callable[..., SimulatedProject], compacts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from handbill.flow import findings

    monkeypatch.setattr(findings, "PATIENCE", -1.0)
    box = make_project()
    usual = box.hooks
    box.hooks = lambda name, raw: usual(name, {**raw, "transcript_path": "/nowhere/t.jsonl"})
    box.sim.start()
    box.sim.read("one/f.py")
    if compacts:
        box.sim.compact()
    else:
        cancelled_compaction(box)
    delivered = [name for _ in range(3) for name in names(box.sim.read("one/f.py", "two/f.py"))]
    assert "two" in delivered and ("one" in delivered) is compacts


def test_a_late_compaction_seen_by_a_prompt_forgets_no_directory(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("two/f.py")
    box.sim.send({"hook_event_name": "PreCompact", "trigger": "auto"})
    usual, box.hooks = box.hooks, lambda name, raw: []
    box.sim.start("compact")
    box.sim.read("one/f.py")  # its hook died, too
    box.hooks = usual
    moment = box.sim.prompt("x")
    assert len(moment.titles) == 7 and names(moment)[-1] == "one"
    assert names(box.idle()) == []


def compacted(make_project: Callable[..., SimulatedProject]) -> SimulatedProject:
    """The rules of one are gone: the conversation had gone on since."""
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    box.idle(3)
    box.sim.compact()
    return box


def test_a_write_right_after_a_compaction_is_held(make_project: Callable[..., SimulatedProject]) -> None:
    assert "rules of one" in compacted(make_project).sim.write("one/new.py").denied


def test_the_next_batch_looks_at_what_an_emptied_window_missed(make_project: Callable[..., SimulatedProject]) -> None:
    box = compacted(make_project)
    write = {"file_path": str(box.project / "one/new.py"), "content": "x"}
    box.sim.send({"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": write, "tool_use_id": "w1"})
    assert (box.state_folder / ".windows" / f"{box.sim.session}.missed").exists()


def test_the_next_batch_looks_at_what_an_unannounced_compaction_emptied(
    make_project: Callable[..., SimulatedProject],
) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    box.idle()
    usual, box.hooks = box.hooks, nothing
    box.sim.compact()
    box.hooks = usual
    write = {"file_path": str(box.project / "one/new.py"), "content": "x"}
    box.sim.send({"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": write, "tool_use_id": "w1"})
    assert (box.state_folder / ".windows" / f"{box.sim.session}.missed").exists()


def test_what_only_the_clients_record_can_settle() -> None:
    doubtful = window(from_last_epoch={"/a": {"via": "doubtful"}})
    carried = window(from_last_epoch={"/a": {"via": "tool_batch_finished"}})
    assert _is_in_doubt(Event(STOPPING, "s"), doubtful) and not _is_in_doubt(Event(STOPPING, "s"), carried)
    assert _is_in_doubt(Event(TOOL_CALLED, "s"), carried) and not _is_in_doubt(Event(TOOL_CALLED, "s"), window())


def test_a_write_is_held_again_after_a_compaction(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    assert box.sim.write("one/new.py").denied
    box.sim.read("two/f.py")
    box.sim.compact()
    box.sim.read("two/f.py")
    box.sim.read("two/f.py")
    assert "rules of one" in box.sim.write("one/new2.py").denied


@pytest.mark.usefixtures("no_patience")
@pytest.mark.parametrize("known", [True, False], ids=["the ledger is there", "the ledger is lost"])
def test_rules_that_a_compaction_keeps(make_project: Callable[..., SimulatedProject], known: bool) -> None:
    box = make_project()
    box.sim.start()
    box.sim.prompt("go")
    box.sim.read("one/f.py")
    if not known:
        box.lose_ledger()
    box.sim.compact()
    box.idle()
    box.sim.read("one/f.py")
    box.idle(4)
    assert_once(box, "main", "one")
    assert len(box.sim.copies()) == 7


@pytest.mark.usefixtures("no_patience")
def test_two_compactions_that_are_recorded_late(make_project: Callable[..., SimulatedProject]) -> None:
    """The first one is not in the transcript yet when the second one is announced, nor the second one at the prompt."""
    box = make_project()
    usual, mark = box.hooks, b'"subtype":"compact_boundary"'

    def early(name: str, raw: dict[str, object]) -> list[str]:
        path = Path(box.sim.transcript)
        whole = path.read_bytes() if path.exists() else b""
        unseen = {"PreCompact": 1, "UserPromptSubmit": 2}.get(name, 3)
        if whole.count(mark) < unseen:
            return usual(name, raw)
        at = whole.find(mark) if unseen == 1 else whole.find(mark, whole.find(mark) + 1)
        path.write_bytes(whole[: whole.rfind(b"\n", 0, at) + 1])
        answer = usual(name, raw)
        path.write_bytes(whole)
        return answer

    box.hooks = early
    box.sim.start()
    box.sim.prompt("go")
    box.sim.read("one/f.py")
    box.idle()
    box.sim.compact()
    box.sim.compact()
    box.sim.prompt("more")
    box.idle(2)
    box.sim.read("one/f.py")
    box.idle(4)
    assert_once(box, "main", "one")
    assert len(box.sim.copies()) == 7 and box.state()["epoch"] == 2


@pytest.mark.usefixtures("no_patience")
def test_a_line_that_refers_to_a_text_and_the_text_itself(make_project: Callable[..., SimulatedProject]) -> None:
    """A compaction keeps the line and not the text; then the text is delivered under the same title, once."""
    box = make_project()
    for name in ("one", "two"):
        box.write(f"{name}/.directives/AGENTS.md", "THE-RULE\n")
    box.sim.start()
    box.sim.read("one/f.py")
    box.sim.read("two/f.py")
    box.sim.compact()
    box.sim.read("two/f.py")
    box.idle(6)
    assert sum(text.count("THE-RULE") for _, text in box.sim.views["main"]) == 1
