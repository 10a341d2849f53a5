"""The lines of the delivery log: which are meant, and what they add up to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest

from handbill.reports.deliveries import Chosen, newest, summary
from handbill.reports.store_files import delivery_log
from simulated_project import SimulatedProject

LINE = {"window": "abc.main", "file": "/p/one/AGENTS.md", "event": "claim-deliver"}


@pytest.mark.parametrize(
    "chosen, included",
    [
        (Chosen(), True), (Chosen(session="ab"), True), (Chosen(session="bc"), False), (Chosen(session="abc.a1"), False),
        (Chosen(file="one/"), True), (Chosen(file="two/"), False), (Chosen(decisions=["claim-deliver"]), True),
        (Chosen(decisions=["delivered"]), True), (Chosen(decisions=["lost"]), False),
        (Chosen(decisions=["lost", "delivered"]), True), (Chosen("abc", "one", ["lost"]), False),
    ],
)  # fmt: skip
def test_which_lines_are_meant(chosen: Chosen, included: bool) -> None:
    assert chosen.includes(LINE) is included


@pytest.mark.parametrize("line", [{}, {"event": "of-a-newer-version"}])
def test_a_line_without_the_usual_fields(line: dict[str, Any]) -> None:
    assert Chosen().includes(line) and not Chosen(decisions=["delivered"]).includes(line)
    assert not Chosen(session="s").includes(line) and not Chosen(file="f").includes(line)


def test_the_newest_lines(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    box.sim.read("two/f.py")
    store = box.opened().store
    every = newest(store, Chosen(), 0)
    assert every == list(delivery_log(store)) and len(every) > 3
    assert newest(store, Chosen(), 3) == every[-3:]
    (rules,) = newest(store, Chosen(file="two/", decisions=["delivered"]), 5)
    assert rules["source"].startswith("directive of ") and rules["handler"] == "tool_batch_finished"


def test_the_newest_lines_are_in_the_order_of_time(make_project: Callable[..., SimulatedProject]) -> None:
    """Not in the order of the file: several hooks write to it."""
    box = make_project()
    log = box.state_folder / ".engine" / "deliveries.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text('{"ts":3,"event":"lost"}\n{"ts":1,"event":"lost"}\n{"ts":2,"event":"lost"}\n')
    assert [line["ts"] for line in newest(box.opened().store, Chosen(), 2)] == [2, 3]


def log_line(event: str, **more: Any) -> dict[str, Any]:
    return {"window": "w.main", "file": "/a", "event": event, "handler": "tool_called", "chars": 10, **more}


NOTHING = {
    "lines": 0, "deliveries": 0, "files": 0, "windows": 0, "characters": 0, "skipped": 0, "confirmed": 0, "assumed": 0,
    "lost": 0, "refused": 0, "without_session": 0, "per_handler": {},
}  # fmt: skip


@pytest.mark.parametrize(
    "lines, expected",
    [
        ([], {}),
        (
            [log_line("direct-deliver", session=False), log_line("updated", session=True)],
            {"lines": 2, "deliveries": 2, "files": 1, "windows": 1, "characters": 20, "without_session": 1,
             "per_handler": {"tool_called": 2}},
        ),
        (
            [log_line("claim-deliver", window="w.a1", file="/b", handler="x"), log_line("claim-deliver")],
            {"lines": 2, "deliveries": 2, "files": 2, "windows": 2, "characters": 20,
             "per_handler": {"x": 1, "tool_called": 1}},
        ),
        (
            [log_line(name) for name in ("skip-dedup", "skip-inode", "skip-content", "confirmed", "assumed", "lost", "refused", "seed")],
            {"lines": 8, "skipped": 3, "confirmed": 1, "assumed": 1, "lost": 1, "refused": 1},
        ),
        ([log_line("claim-deliver", chars=None)], {"lines": 1, "deliveries": 1, "files": 1, "windows": 1, "per_handler": {"tool_called": 1}}),
    ],
    ids=["nothing", "one file twice", "two windows", "other decisions", "no length"],
)  # fmt: skip
def test_what_the_lines_add_up_to(lines: list[dict[str, Any]], expected: dict[str, Any]) -> None:
    assert asdict(summary(lines)) == {**NOTHING, **expected}
