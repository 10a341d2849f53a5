"""A warning about a call that is not held reaches the agent with the results of that call, once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest

from handbill import gates, handlers
from handbill.event import RUNS, TOOL_CALLED, Event
from handbill.gates import Gate
from handbill.plan import BLOCK, WARN, Plan
from simulated_project import NEW, OLD, SimulatedProject

Make = Callable[..., SimulatedProject]


def ran(event: Event) -> str:
    return " ".join(tool.command for tool in event.tools if tool.does == RUNS)


@pytest.fixture(autouse=True)
def guards(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One that warns of `slow`, and one that never lets `rm` pass."""

    def handle(event: Event, *_: object) -> Plan:
        plan = Plan()
        if "slow" in ran(event):
            plan.gate(WARN, "WARNING-SLOW: this takes long")
        if "rm " in ran(event):
            plan.gate(BLOCK, "NEVER-REMOVE")
        return plan

    guard = Gate("guard", "guard", (TOOL_CALLED,), lambda event, *_: bool(ran(event)), flag="guard", settings={})
    module = ModuleType("handbill.handlers.guard")
    module.handle = handle  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "handbill.handlers.guard", module)
    monkeypatch.setattr(gates, "ALL", (*gates.ALL, guard))
    monkeypatch.setattr(handlers, "HANDLERS", (*handlers.HANDLERS, handlers.row_of(guard)))
    yield


def started(box: SimulatedProject) -> SimulatedProject:
    box.sim.held_tools = ""  # hooks run before every call
    box.sim.start()
    return box


def warnings(box: SimulatedProject, window: str = "main") -> int:
    return box.seen(window).count("WARNING-SLOW")


@pytest.mark.parametrize("version", [OLD, NEW])
@pytest.mark.parametrize("agent", ["", "a1"])
def test_a_warning_comes_with_the_results_once(make_project: Make, version: str, agent: str) -> None:
    box = make_project(version)
    started(box)
    if agent:
        box.sim.subagent(agent)
    moment = box.sim.batch(("Bash", {"command": "slow"}), agent=agent)
    assert moment.denied == "" and "WARNING-SLOW" in "".join(moment.texts)
    for _ in range(4):
        box.sim.batch(("Bash", {"command": "true"}), agent=agent)
    assert warnings(box, agent or "main") == 1
    assert warnings(box, "main" if agent else "a1") == 0
    assert box.errors() == []


def test_a_warning_takes_no_rule_along(make_project: Make) -> None:
    """What waits is delivered with the results, not lost in an answer that carries nothing."""
    box = make_project()
    box.write("big/.directives/AGENTS.md", "rules of big " + "x" * 12_000)
    box.write("big/f.py", "x")
    started(box)
    box.sim.read("big/f.py")
    assert box.state()["pendingPreloads"]
    box.sim.batch(("Bash", {"command": "slow"}))
    assert not box.state()["pendingPreloads"] and warnings(box) == 1
    assert "lost" not in [line["event"] for line in box.deliveries.lines]


def test_a_block_without_pages_holds_each_time_also_beside_a_warning(make_project: Make) -> None:
    box = started(make_project())
    denied = [box.sim.batch(("Bash", {"command": "rm x; slow"})).denied for _ in range(4)]
    assert all("NEVER-REMOVE" in text for text in denied)


def test_a_warning_before_a_compaction_is_not_lost(make_project: Make) -> None:
    box = started(make_project())
    call = {
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "slow"},
        "tool_use_id": "t9",
    }
    box.sim.send(call)
    box.sim.compact()
    box.idle(2)
    assert warnings(box) == 1
