"""What the agent must know first is delivered first, whatever its size."""

from __future__ import annotations

import json
from collections.abc import Callable

from simulated_project import SimulatedProject

Make = Callable[..., SimulatedProject]


def order(box: SimulatedProject, *marks: str) -> list[str]:
    text = box.seen()
    assert [text.count(mark) for mark in marks] == [1] * len(marks), {mark: text.count(mark) for mark in marks}
    return sorted(marks, key=text.index)


def words(begin: str, end: str, size: int) -> str:
    return f"{begin} " + "word " * (size // 5) + f" {end}"


def test_a_handover_larger_than_one_message(make_project: Make) -> None:
    box = make_project()
    box.sim.start()
    box.write("one/small.txt", "MARK-SMALL\n")
    box.write("one/large.txt", words("MARK-LARGE", "END-LARGE", 12_000) + "\n")
    box.shell('echo \'{"taskSummary": "x"}\' | engine session activate LOGIN do')
    context = {
        "summary": words("MARK-SUMMARY", "END-SUMMARY", 9_000), "lastAction": words("MARK-LAST", "END-LAST", 9_000),
        "nextSteps": ["MARK-STEP"], "handoverInstructions": words("MARK-HOW", "END-HOW", 9_000),
        "requiredFiles": ["one/large.txt", "one/small.txt"],
    }  # fmt: skip
    box.write("context.json", json.dumps(context))
    box.shell("engine session dehydrate LOGIN < context.json")
    box.sim.clear()
    box.sim.read("one/f.py")  # directives of a directory must not push in between for ever
    box.idle(8)
    marks = (
        "MARK-SUMMARY",
        "END-SUMMARY",
        "MARK-LAST",
        "MARK-STEP",
        "END-HOW",
        "MARK-LARGE",
        "END-LARGE",
        "MARK-SMALL",
    )
    assert order(box, *marks) == list(marks)


def test_a_constitution_in_parts_comes_before_smaller_files(make_project: Make) -> None:
    box = make_project()
    box.write(".context/CONSTITUTION.md", words("MARK-CONSTITUTION", "END-CONSTITUTION", 14_000) + "\n")
    box.write(".context/TASKS.md", "MARK-TASKS\n")
    box.sim.start()
    box.idle(4)
    marks = ("MARK-CONSTITUTION", "END-CONSTITUTION", "MARK-TASKS")
    assert order(box, *marks) == list(marks)
