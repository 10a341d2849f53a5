"""A gate is one declaration, one file of messages and one module, which the program discovers."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from builders import window
from handbill import gates, handlers
from handbill.cli.needed_hooks import needed
from handbill.event import TOOL_CALLED
from handbill.gates import ARMED, DONE, TOLD, Gate
from handbill.library.messages import say
from handbill.library.needs import EVERY, Needs
from handbill.plan import BLOCK, WARN, Plan
from handbill.reports.gates import statuses
from handbill.settings.toml_files import checked
from simulated_project import SimulatedProject

ROOT = Path(__file__).parents[1]


@pytest.fixture
def lunch_gate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Gate]:
    """Add a gate in a temporary module that holds every call until lunch is over."""
    messages = tmp_path / "lunch_gate.json"
    text = {"facts": {"wait": ["minutes"]}, "factual": {"wait": "Lunch: wait {minutes:minute}."}}
    messages.write_text(json.dumps({**text, "mandatory": {"wait": "STOP. Wait {minutes:minute}."}}))
    gate = Gate(
        "lunch_gate", "lunch", (TOOL_CALLED,), lambda event, inbox, window: bool(event.tools), flag="lunch",
        settings={"minutes": (5, int), **gates.WORDING}, limits={"minutes": 60}, messages=str(messages),
    )  # fmt: skip

    def handle(event: object, inbox: object, window: object, world: object, settings: object) -> Plan:
        plan = Plan()
        minutes = settings.gate("lunch_gate")["minutes"]  # type: ignore[attr-defined]
        plan.gate(BLOCK, say("lunch_gate", "wait", world, settings, minutes=minutes))  # type: ignore[arg-type]
        plan.flags["lunch"] = {"epoch": 0, "state": TOLD}
        return plan

    module = ModuleType("handbill.handlers.lunch_gate")
    module.handle, module.needs = handle, lambda *_, exact: Needs(0, (EVERY,))  # type: ignore[attr-defined]
    module.status = lambda state: f"waits: {state.get('state')}"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "handbill.handlers.lunch_gate", module)
    monkeypatch.setattr(gates, "ALL", (*gates.ALL, gate))
    monkeypatch.setattr(handlers, "HANDLERS", (*handlers.HANDLERS, handlers.row_of(gate)))
    yield gate


def test_a_new_gate_is_seen_everywhere(
    lunch_gate: Gate, make_project: Callable[..., SimulatedProject], tmp_path: Path
) -> None:
    box = make_project()
    settings = tmp_path / "project" / ".handbill.toml"
    settings.write_text('[lunch_gate]\nminutes = 90\nnope = 1\nwording = "mandatory"\n')
    box.sim.start()
    held = box.sim.write("one/new.py")
    assert "rules of one" in held.denied, "the other gates do their work"
    held = box.sim.write("one/new.py")
    assert "STOP. Wait 60 minutes." in held.denied, "a project may not set more than the limit"
    rows = statuses(window(flags={"lunch": {"epoch": 0, "state": TOLD}}), box.opened(), lambda: True)
    assert [(row.gate, row.state) for row in rows][-1] == ("lunch", "waits: told")
    values, problems = checked(str(settings))
    assert values["lunch_gate"]["minutes"] == 90 and any("lunch_gate.nope is unknown" in line for line in problems)


def test_registration_asks_every_gate(lunch_gate: Gate, make_project: Callable[..., SimulatedProject]) -> None:
    from handbill.cli.project import at

    project = at(str(make_project().project))
    assert needed(project.world(), project.settings).every


@pytest.mark.parametrize("gate", gates.ALL, ids=lambda gate: gate.name)
def test_a_gate_is_complete(gate: Gate) -> None:
    module = __import__(f"handbill.handlers.{gate.name}", fromlist=("handle",))
    assert callable(module.handle) and callable(module.needs)
    texts = json.loads(Path(gate.messages).read_text(encoding="utf-8"))
    assert all(set(texts[style]) == set(texts["facts"]) for style in gates.STYLES)
    assert handlers.row_of(gate) in handlers.HANDLERS
    assert set(gate.paths) | set(gate.limits) <= set(gate.settings)


@pytest.mark.parametrize("gate", gates.ALL, ids=lambda gate: gate.name)
def test_the_settings_of_every_gate_are_documented(gate: Gate) -> None:
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8") + (ROOT / "docs" / "gates.md").read_text(
        encoding="utf-8"
    )
    assert f"[{gate.name}]" in text
    assert [field for field in gate.settings if f"`{field}" not in text and f"{field} =" not in text] == []


def test_a_state_goes_from_armed_to_told_to_done() -> None:
    empty = window()
    assert gates.armed(empty, [])["state"] == DONE
    state = gates.armed(empty, ["/p/a", "/p/b"], role="lead")
    assert state["state"] == ARMED and gates.is_open(state) and state["role"] == "lead"
    state = gates.told(state, "with the first results")
    assert state["state"] == TOLD and gates.is_open(state)
    assert not gates.is_open({**state, "state": DONE})


@pytest.mark.parametrize("epoch, known", [(0, True), (1, False)])
def test_a_state_ends_with_its_epoch(epoch: int, known: bool) -> None:
    state = {"epoch": 0, "state": TOLD}
    assert gates.LOAD.state_of(window(flags={"context": state}, epoch=epoch)) == (state if known else {})


def test_several_verdicts_keep_their_own_texts() -> None:
    plan, other = Plan(), Plan()
    plan.gate(WARN, "slow down")
    plan.gate(BLOCK, "read this")
    other.gate(BLOCK, "and that")
    plan.add(other)
    assert plan.blocks and plan.texts(BLOCK) == ["read this", "and that"] and plan.texts(WARN) == ["slow down"]
    plan.let_go()
    assert not plan.blocks and plan.texts(WARN) == ["slow down"]
