"""A ledger that is rebuilt from a transcript whose newest rows are not written yet."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from handbill.world import World
from simulated_project import SimulatedProject, names


class LateRows:
    """The client holds its rows back until a hook waits for them."""

    def __init__(self, box: SimulatedProject, monkeypatch: pytest.MonkeyPatch, *, keep: tuple[str, ...] = ()) -> None:
        self.pauses = 0
        self._rows: list[tuple[str, dict[str, Any]]] = []
        self._write = box.sim._write
        self._kept = keep  # types of rows that are written at once
        monkeypatch.setattr(box.sim, "_write", self._hold)
        monkeypatch.setattr(World, "pause", lambda world, seconds: self._waited())

    def _hold(self, path: str, row: dict[str, Any]) -> str:
        if row["type"] in self._kept:
            return self._write(path, row)
        self._rows.append((path, row))
        return ""

    def _waited(self) -> None:
        self.pauses += 1
        while self._rows:
            self._write(*self._rows.pop(0))


@pytest.fixture
def box(make_project: Callable[..., SimulatedProject]) -> SimulatedProject:
    found = make_project()
    found.sim.start()
    found.sim.prompt("go")
    return found


@pytest.mark.parametrize("agent", ["", "a1"])
def test_a_ledger_is_lost_just_after_a_delivery(
    box: SimulatedProject, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    if agent:
        box.sim.subagent(agent)
    box.sim.read("two/f.py", agent=agent)
    late = LateRows(box, monkeypatch)
    box.sim.read("one/f.py", agent=agent)
    (box.state_folder / ".windows" / f"{box.sim.session}{'.a1' if agent else ''}.jsonl").unlink()
    box.sim.read("one/f.py", agent=agent)
    assert late.pauses > 0 and box.seen(agent or "main").count("rules of one") == 1


def test_a_broken_ledger_after_a_failed_hook(box: SimulatedProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls of earlier messages are looked at as well. That they are recorded proves nothing."""
    box.sim.read("two/f.py")
    box.idle()
    late = LateRows(box, monkeypatch)
    box.sim.read("one/f.py")
    ledger = box.state_folder / ".windows" / f"{box.sim.session}.jsonl"
    lines = ledger.read_text().split("\n")
    number = next(number for number, line in enumerate(lines) if "two/.directives" in line and number)
    lines[number] = lines[number][: len(lines[number]) // 2]
    ledger.write_text("\n".join(lines))
    ledger.with_suffix(".missed").touch()
    box.sim.read("one/f.py")
    assert late.pauses > 0 and box.seen().count("rules of one") == 1


def test_a_ledger_is_lost_between_a_denial_and_its_batch(
    box: SimulatedProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    box.idle()
    usual = box.hooks

    def hooks(name: str, raw: dict[str, Any]) -> list[str]:
        if name == "PostToolBatch":
            box.lose_ledger()
        return usual(name, raw)

    monkeypatch.setattr(box, "hooks", hooks)
    late = LateRows(box, monkeypatch, keep=("assistant",))
    assert box.sim.write("one/new.py").denied
    assert late.pauses > 0 and box.seen().count("rules of one") == 1


@pytest.mark.parametrize("kind", ["a folder", "a FIFO", "of another session", "none"])
def test_a_transcript_that_cannot_serve(
    make_project: Callable[..., SimulatedProject], monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Without a ledger and without a record, a rule that arrives twice is better than one that never arrives."""
    box, pauses = make_project(), list[float]()
    monkeypatch.setattr(World, "pause", lambda world, seconds: pauses.append(seconds))
    other = f"{box.sim.transcript}.x"
    os.makedirs(box.sim.folder)
    if kind == "a folder":
        os.mkdir(other)
    elif kind == "a FIFO":
        os.mkfifo(other)
    elif kind == "of another session":
        with open(other, "w") as file:
            file.write('{"type":"user","uuid":"u","parentUuid":null,"message":{"content":"old"}}\n')
    usual = box.hooks
    monkeypatch.setattr(box, "hooks", lambda name, raw: usual(name, {**raw, "transcript_path": other}))
    assert names(box.sim.read("one/f.py")) == [], "it may still be written"
    assert "one" in names(box.sim.read("one/f.py"))
    waited = len(pauses)
    box.idle(3)
    assert len(pauses) == waited <= 40


def test_a_subagent_that_is_continued_after_its_ledger_was_lost(box: SimulatedProject) -> None:
    box.sim.subagent("a1")
    box.sim.read("one/f.py", agent="a1")
    (box.state_folder / ".windows" / f"{box.sim.session}.a1.jsonl").unlink()
    box.sim.subagent("a1")
    box.sim.read("one/f.py", agent="a1")
    assert set(box.sim.copies("a1").values()) == {1}
