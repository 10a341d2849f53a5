"""Every window of a project."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from builders import window
from handbill.fast_json import dumps
from handbill.ledger.window import to_text
from handbill.reports.windows import every_window, is_ended_terminal, readable
from simulated_project import SimulatedProject


def nobody(process: int) -> bool:
    return False


def test_every_window_the_newest_first(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    box.sim.subagent("a1")
    folder = box.state_folder / ".windows"
    broken = folder / "broken.jsonl"
    broken.write_text((folder / f"{box.sim.session}.jsonl").read_text().replace('{"path":"', '{"path":"/x",broken', 1))
    broken.chmod(0o600)
    store = box.opened().store
    *rows, last = every_window(store, nobody)
    assert [(row.agent, row.ended, row.problem) for row in rows] == [("a1", False, ""), ("main", False, "")]
    assert rows[1].files == len(box.state()["files"]) and rows[0].at >= rows[1].at > 0
    assert (last.session, last.files, last.at) == ("broken", 0, 0.0) and "broken.jsonl: a broken line" in last.problem
    assert sorted(key[1] for key, _ in readable(store)) == ["a1", "main"]


def test_a_second_terminal_ends_with_its_process(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    folder = box.state_folder / ".windows"
    folder.mkdir(parents=True)
    for name in ("s", "s~7"):
        path = Path(folder / f"{name}.jsonl")
        path.write_text(to_text(window(client=7), dumps))
        path.chmod(0o600)
    store = box.opened().store
    assert {row.session: row.ended for row in every_window(store, nobody)} == {"s": False, "s~7": True}
    assert not any(row.ended for row in every_window(store, lambda process: process == 7))
    assert is_ended_terminal(("s~7", "main"), window(client=8), lambda process: process == 7)
