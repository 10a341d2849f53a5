"""A delivered file that changed is delivered once more; not when the agent itself knows."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from builders import DictWorld, config, window
from handbill.event import PROMPT_SUBMITTED, Event, Inbox
from handbill.fast_json import dumps, loads
from handbill.handlers.freshness import MOST, handle
from handbill.ledger.records import Records
from handbill.ledger.window import UNDELIVERABLE
from simulated_project import SimulatedProject


def updated(box: SimulatedProject) -> list[str]:
    return [path.rsplit("/", 1)[1] for path in box.log("updated")]


def change(box: SimulatedProject, name: str, text: str) -> None:
    """As an editor does it; the time differs however fast the test is."""
    path = box.project / name
    before = path.stat().st_mtime_ns if path.exists() else 0
    box.write(name, text)
    os.utime(path, ns=(before + 10_000_000, before + 10_000_000))


PAGE = "one/.directives/AGENTS.md"


def begun(box: SimulatedProject) -> SimulatedProject:
    box.sim.start()
    box.sim.read("one/f.py")
    box.sim.read("two/f.py")
    return box


def test_with_the_next_prompt(make_project: Callable[..., SimulatedProject]) -> None:
    box = begun(make_project())
    change(box, PAGE, "new rules\n")
    moment = box.sim.prompt("go on")
    assert moment.texts[0].startswith("[Updated: ") and moment.texts[0].endswith("new rules")
    box.sim.prompt("and on")
    box.sim.read("one/f.py")
    assert updated(box) == ["AGENTS.md"]


def test_when_its_directory_is_touched_again(make_project: Callable[..., SimulatedProject]) -> None:
    box = begun(make_project())
    change(box, PAGE, "new rules\n")
    assert box.sim.read("two/f.py").texts == []
    assert "new rules" in box.sim.read("one/f.py").texts[0]
    assert updated(box) == ["AGENTS.md"]


def test_not_what_the_agent_read_or_changed_itself(make_project: Callable[..., SimulatedProject]) -> None:
    box = begun(make_project())
    for tool in ("Read", "Edit", "Write"):
        change(box, PAGE, f"by {tool}\n")
        box.sim.batch((tool, {"file_path": str(box.project / PAGE)}))
        box.sim.prompt("go on")
        box.sim.read("one/f.py")
    assert updated(box) == []
    change(box, PAGE, "by somebody else\n")
    box.sim.read("one/f.py")
    assert updated(box) == ["AGENTS.md"]


@pytest.mark.parametrize(
    "tool, values",
    [
        ("Bash", {"command": f"sed -i s/a/b/ {PAGE}"}),
        ("Bash", {"command": f"head -1 {PAGE}"}),
        ("Bash", {"command": f"ls -l {PAGE} 2>/dev/null"}),
        ("Read", {"file_path": "{project}/" + PAGE, "limit": 1}),
    ],
)
def test_a_call_that_only_names_a_changed_file(
    make_project: Callable[..., SimulatedProject], tool: str, values: dict[str, Any]
) -> None:
    """It may have shown a part of the file, or nothing of it."""
    box = begun(make_project())
    change(box, PAGE, "new rules\n")
    named = {
        name: value.replace("{project}", str(box.project)) if name == "file_path" else value
        for name, value in values.items()
    }
    box.sim.batch((tool, named, "x"))
    box.sim.prompt("go on")
    box.sim.read("one/f.py")
    assert updated(box) == ["AGENTS.md"]


def test_not_what_was_only_touched(make_project: Callable[..., SimulatedProject]) -> None:
    box = begun(make_project())
    os.utime(box.project / PAGE, (1, 1))
    assert box.sim.prompt("x").texts == []
    assert box.sim.read("one/f.py").texts == []


def test_changed_and_changed_back_before_it_could_be_delivered(make_project: Callable[..., SimulatedProject]) -> None:
    box = begun(make_project())
    change(box, "two/.directives/AGENTS.md", "y" * 9300 + "\n")
    change(box, PAGE, "x" * 9300 + "\n")
    box.sim.read("two/f.py", "one/f.py")  # only the first of them fits
    assert list(box.state()["pendingPreloads"]) == [str(box.project / PAGE)]
    change(box, PAGE, "rules of one\n")
    box.sim.prompt("x")
    assert len(updated(box)) == 1, "the window holds what the file says again"
    assert set(box.sim.copies().values()) == {1} and box.state()["pendingPreloads"] == {}


def test_a_page_that_went_away_is_no_update(make_project: Callable[..., SimulatedProject]) -> None:
    box = begun(make_project())
    (box.project / PAGE).unlink()
    assert box.sim.prompt("x").texts == []
    assert box.errors() == []


def test_a_directive_added_to_a_directory_that_was_looked_at(make_project: Callable[..., SimulatedProject]) -> None:
    box = begun(make_project())
    box.write("one/.directives/INVARIANTS.md", "added later\n")
    moment = box.sim.read("one/f.py")
    assert [path.rsplit("/", 1)[1] for path, *_ in moment.titles] == ["INVARIANTS.md"]
    assert box.sim.read("one/f.py").texts == []


def test_another_windows_edit_is_news_to_this_one(make_project: Callable[..., SimulatedProject]) -> None:
    box = begun(make_project())
    box.sim.subagent("a1")
    box.sim.read("one/f.py", agent="a1")
    change(box, PAGE, "by the subagent\n")
    box.sim.batch(("Edit", {"file_path": str(box.project / PAGE)}), agent="a1")
    box.sim.read("one/f.py")
    assert updated(box) == ["AGENTS.md"]
    assert "by the subagent" not in box.seen("a1")


def test_a_page_that_was_empty_when_its_turn_came_is_looked_for_again(
    make_project: Callable[..., SimulatedProject],
) -> None:
    box, two = make_project(), "two/.directives/AGENTS.md"
    box.write("one/.directives/AGENTS.md", "y" * 9300 + "\n")
    box.write(two, "x" * 9300 + "\n")
    box.sim.start()
    box.sim.read("one/f.py", "two/f.py")
    box.write(two, "")
    box.sim.read("one/f.py")
    assert box.state()["pendingPreloads"] == {}
    box.write(two, "rules of two\n")
    assert "rules of two" in "".join(box.sim.read("two/f.py").texts)


def test_many_files_are_compared_in_turns() -> None:
    files = {f"/p/{number}": "x" for number in range(250)}
    world, asked = DictWorld(files), list[str]()
    stored = Records.of("path", {path: {"stamp": "1:1", "parts": "k"} for path in files}).written(dumps)
    held = window()
    held.files = Records("path", stored, loads, dumps)
    world.stamp = lambda path: asked.append(path) or "1:1"  # type: ignore[method-assign,func-returns-value]
    seen: set[str] = set()
    for at in range(3):
        world.now = lambda at=at: float(at)  # type: ignore[method-assign,misc]
        asked.clear()
        handle(Event(PROMPT_SUBMITTED, "s"), Inbox(), held, world, config())  # type: ignore[arg-type]
        assert 0 < len(asked) <= MOST
        seen |= set(asked)
    assert seen == set(files)


@pytest.mark.parametrize("number", [0, 29])
def test_each_of_many_undeliverable_files_gets_its_turn(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """20 are read at a prompt, and others at the next one; only one of the 30 was corrected."""
    path = f"/p/{number}/AGENTS.md"
    world = DictWorld({path: "corrected"})
    entries = {f"/p/{at}/AGENTS.md": ["old", f"reason {at}", "/page.md"] for at in range(30)}
    before = window(flags={UNDELIVERABLE: entries})
    found = []
    for second in range(30):
        monkeypatch.setattr(world, "now", lambda at=second: 1000.0 + at)
        plan = handle(Event(PROMPT_SUBMITTED, "s"), Inbox(), before, world, config())  # type: ignore[arg-type]
        found += plan.reasons if plan is not None else []
    assert found == [(path, f"reason {number}")] * 20
