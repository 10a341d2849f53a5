"""When the client records a compaction: before or after the hooks of its start, with or without an announcement."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_pipeline_compaction import cancelled_compaction

from handbill.flow import pipeline
from handbill.world import World
from simulated_project import SimulatedProject, assert_once


@pytest.mark.parametrize("early", [False, True])
def test_the_start_of_a_compaction_is_lost_and_a_prompt_comes_before_its_record(
    make_project: Callable[..., SimulatedProject], early: bool
) -> None:
    """The user typed it while the compaction ran. A call is kept, and its rules are not."""
    box = make_project()
    sim, path = box.sim, box.sim.transcript
    box.environ["CLAUDE_CODE_ENTRYPOINT"] = "cli"
    sim.start()
    sim.prompt("go")
    sim.read("one/f.py")
    box.idle(2)
    rows = [json.loads(line) for line in Path(path).read_text().splitlines()]
    made = next(number for number, row in enumerate(rows) if row["type"] == "assistant")
    cancelled_compaction(box)
    usual = {"session_id": sim.session, "transcript_path": path, "cwd": sim.project}
    typed = {"hook_event_name": "UserPromptSubmit", "prompt": "go on", "prompt_id": "typed"}
    if early:
        sim.hooks("UserPromptSubmit", {**usual, **typed})
    sim._last[path], before = "", sim._last[path]
    kept = {"anchorUuid": "s", "uuids": [row["uuid"] for row in rows[made : made + 2]]}
    metadata = {"trigger": "manual", "preservedMessages": kept}
    row = {"type": "system", "subtype": "compact_boundary", "logicalParentUuid": before, "compactMetadata": metadata}
    summary = {"type": "user", "isCompactSummary": True, "message": {"role": "user", "content": "summary"}}
    boundary = sim._write(path, row)
    with open(path, "a", encoding="utf-8") as file:
        line = {"parentUuid": boundary, "isSidechain": False, **summary, "uuid": "s"}
        file.write(json.dumps(line, separators=(",", ":")) + "\n")
    sim._last[path] = "s"
    sim.views["main"] = []
    if early:
        sim._write(path, {"type": "user", "promptId": "typed", "message": {"role": "user", "content": "go on"}})
    else:
        sim.prompt("go on")
    box.idle(4)
    assert_once(box, "main", "one")


def record_early(box: SimulatedProject, *, drop: bool = False) -> None:
    """The client has recorded the compaction by the time the hooks of its start run; `drop`: their answer is lost."""
    sim, usual, boundary = box.sim, box.hooks, box.sim._boundary

    def hooks(name: str, raw: dict[str, object]) -> list[str]:
        boundary(sim.transcript)
        sim._boundary = lambda path: None  # type: ignore[method-assign]
        sim.views["main"][:] = sim.views["main"][sim._kept_from.get("main", 0) :]
        sim._kept_from["main"] = 0
        answer = usual(name, raw)
        box.hooks = usual
        return [] if drop else answer

    box.hooks = hooks
    sim.start("compact")
    sim._boundary = boundary  # type: ignore[method-assign]


def test_the_answer_to_an_early_compaction_is_lost(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    box.sim.prompt("go")
    box.idle()
    box.sim.send({"hook_event_name": "PreCompact", "trigger": "auto"})
    record_early(box, drop=True)
    for _ in range(2):
        box.idle(3)
        box.sim.answer("yes")
        box.sim.prompt("more")
    assert box.seen().count("# Commands\n") == 1


def test_an_early_compaction_that_nobody_announced(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    box.sim.prompt("go")
    box.sim.read("one/f.py")
    record_early(box)
    box.sim.prompt("see @one/f.py")
    box.idle(3)
    assert_once(box, "main", "one")


def test_a_called_off_compaction_a_resume_and_an_early_one(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.environ["CLAUDE_PID"] = "4194301"
    box.sim.start()
    box.sim.prompt("go")
    box.idle()
    cancelled_compaction(box)
    box.environ["CLAUDE_PID"] = "4194302"
    box.sim.start("resume")
    box.sim.prompt("again")
    box.sim.read("one/f.py")
    cancelled_compaction(box)
    record_early(box)
    box.sim.write("one/new.py")
    box.idle(2)
    assert_once(box, "main", "one")


@pytest.mark.parametrize("lost", [False, True])
def test_calls_that_an_automatic_compaction_keeps_have_their_rules(
    make_project: Callable[..., SimulatedProject], lost: bool
) -> None:
    box = make_project()
    box.sim.start()
    box.sim.prompt("go")
    if lost:
        box.drop_next()
    else:
        box.sim.read("one/f.py")
        box.idle()
    box.sim.read("one/f.py")
    box.sim.compact()
    box.idle(2)
    assert_once(box, "main", "one")


def test_a_rule_that_the_agent_read_a_compaction_that_keeps_it_and_a_resume(
    make_project: Callable[..., SimulatedProject],
) -> None:
    box = make_project()
    box.environ["CLAUDE_PID"] = "4194301"
    box.sim.start()
    box.sim.prompt("go")
    box.sim.read("one/.directives/AGENTS.md")
    box.attach("one/.directives/AGENTS.md")
    box.sim.compact()
    box.environ["CLAUDE_PID"] = "4194302"
    box.sim.start("resume")
    box.sim.prompt("again")
    assert [path for path, *_ in box.sim.read("one/f.py").titles if "/one/" in path] == []


def test_a_write_that_waits_for_the_record_reads_the_transcript_only_when_it_grew(
    make_project: Callable[..., SimulatedProject], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The transcript may be large."""
    box = make_project()
    looks, pauses = [], []
    box.sim.start()
    box.sim.prompt("go")
    box.sim.read("one/f.py")
    box.idle()
    monkeypatch.setattr(box.sim, "_boundary", lambda path: None)
    box.sim.compact()
    real = pipeline._look

    def look(*args: Any) -> Any:
        looks.append(args)
        return real(*args)

    def pause(self: World, seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            with open(box.sim.transcript, "a", encoding="utf-8") as file:
                file.write("{}\n")

    monkeypatch.setattr(pipeline, "_look", look)
    monkeypatch.setattr(World, "pause", pause)
    box.sim.write("one/new.py")
    assert len(pauses) == 20 and len(looks) <= 4


def test_a_command_between_a_compaction_and_its_record_proves_nothing(
    make_project: Callable[..., SimulatedProject],
) -> None:
    """The transcript still shows what the same standards looked like before the compaction."""
    box = make_project()
    box.sim.start()
    box.sim.prompt("go")
    box.idle()
    box.sim.send({"hook_event_name": "PreCompact", "trigger": "auto"})
    start = {"hook_event_name": "SessionStart", "source": "compact"}
    usual = {"session_id": box.sim.session, "transcript_path": box.sim.transcript, "cwd": box.sim.project}
    assert "# Commands" in "".join(box.sim.hooks("SessionStart", {**usual, **start}))
    found = json.loads(box.process(f"engine window {box.sim.session} --json").stdout)["data"]["files"]
    assert {one["state"] for one in found} == {"sent"}, found
