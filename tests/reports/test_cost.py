"""What is in a window, and what was delivered to a session, in tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from builders import window
from handbill.reports.cost import Cost, SessionCost, kind_of, session_cost, window_cost
from handbill.reports.deliveries import summary
from handbill.reports.store_files import delivery_log
from handbill.text.blocks import same_rules
from simulated_project import SimulatedProject


def record(parts: str, chars: int = 400, reason: str = "standard", **more: Any) -> dict[str, Any]:
    return {"parts": parts, "chars": chars, "reason": reason, "at": 5.0, "via": "session_started", **more}


LINE = same_rules("/b")


@pytest.mark.parametrize(
    "found, characters",
    [
        (record("k"), 400), (record("s"), 400), (record("k."), 200), (record("k.t."), 100), (record("."), 0),
        (record("k", same="/b"), len(LINE)), (record("h", 0, via="host"), 0), (record("h", 800, via="host"), 800),
    ],
)  # fmt: skip
def test_how_much_of_a_file_is_there(found: dict[str, Any], characters: int) -> None:
    cost = window_cost(window(files={"/a": found}))
    assert cost.total == (Cost(1, characters, round(characters / 4)) if characters else Cost(0, 0, 0))
    assert cost.unmeasured == (0 if characters else 1)


def test_what_a_window_costs_by_reason() -> None:
    files = {
        "/1": record("k", 4000, "directive of /p/one"), "/2": record("k", 400, "directive of /p/two, for fix"),
        "/3": record("k", 200, "skill fix"), "/4": record("h", 0, "project", via="host"),
    }  # fmt: skip
    cost = window_cost(window(files=files, pending={"/5": "standard"}))
    assert cost.total == Cost(3, 4600, 1150) and cost.unmeasured == 1
    assert cost.by_reason == {"directive": Cost(2, 4400, 1100), "skill fix": Cost(1, 200, 50)}


@pytest.mark.parametrize(
    "reason, kind",
    [
        ("directive of /p", "directive"), ("directives of /p", "directive"), ("named by CMD_A", "named by a page"),
        ("standard", "standard"), ("fix, phase 1: Build", "fix, phase 1: Build"), ("", ""),
    ],
)  # fmt: skip
def test_reasons_that_add_up(reason: str, kind: str) -> None:
    assert kind_of(reason) == kind


def line(window: str, event: str = "claim-deliver", file: str = "/a", **more: Any) -> dict[str, Any]:
    return {"window": window, "event": event, "file": file, "chars": 40, "handler": "tool_called", **more}


def test_what_a_session_costs() -> None:
    lines = [
        line("s.main"), line("s.main", "updated"), line("s.a1", handler="subagent_started"),
        line("s~7.main", "same-rules", "/b"), line("s2.main"), line("s.main", "skip-dedup"), line("s.main", "lost"),
    ]  # fmt: skip
    assert session_cost(lines, "s") == SessionCost(
        Cost(2, 160, 40),
        {"tool_called": Cost(2, 120, 30), "subagent_started": Cost(1, 40, 10)},
        {"s.main": Cost(1, 80, 20), "s.a1": Cost(1, 40, 10), "s~7.main": Cost(1, 40, 10)},
    )
    assert session_cost(lines, "x") == SessionCost(Cost(0, 0, 0), {}, {})


@pytest.mark.parametrize(
    "broken", [{}, {"window": None}, {"window": "s.main", "event": "claim-deliver", "chars": None}]
)
def test_lines_without_the_usual_fields(broken: dict[str, Any]) -> None:
    assert session_cost([broken], "s").total.characters == 0


def test_the_ledger_and_the_log_agree(make_project: Callable[..., SimulatedProject]) -> None:
    """The log counts each block with its title, the ledger counts the text alone."""
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py", "two/f.py")
    store = box.opened().store
    found = store.read((box.sim.session, "main"))
    assert found is not None
    now, so_far = window_cost(found), session_cost(delivery_log(store), box.sim.session)
    assert now.total.files == so_far.total.files == len(found.files) and now.unmeasured == 0
    assert so_far.total.characters == summary(delivery_log(store)).characters
    assert 0 < so_far.total.characters - now.total.characters < 200 * len(found.files)
    assert now.by_reason["directive"].files == 2 == so_far.by_handler["tool_batch_finished"].files
