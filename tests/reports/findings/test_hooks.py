"""Findings about what the hooks have done lately."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest

from handbill.reports.findings import Finding, hooks
from handbill.reports.store_files import forget_errors
from simulated_project import SimulatedProject


@pytest.fixture
def box(make_project: Callable[..., SimulatedProject]) -> SimulatedProject:
    made = make_project()
    made.sim.start()
    return made


def log(box: SimulatedProject, *errors: tuple[str, float]) -> None:
    path = box.state_folder / ".engine" / "errors.jsonl"
    lines = [{"ts": time.time() - age, "where": "hook X", "error": error, "window": "w"} for error, age in errors]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_nothing_was_delivered(make_project: Callable[..., SimulatedProject]) -> None:
    assert list(hooks.receipts(make_project().opened())) == [Finding("receipts", "note", "nothing was delivered yet")]


def test_receipts_of_the_last_windows(box: SimulatedProject) -> None:
    box.sim.read("one/f.py")
    box.sim.clear()
    assert list(hooks.receipts(box.opened())) == [Finding("receipts", "ok", "last 2 windows: 13 confirmed")]


def test_receipts_that_prove_nothing_yet(box: SimulatedProject) -> None:
    open(box.sim.transcript, "w").close()
    (found,) = hooks.receipts(box.opened())
    assert found.state == "note" and found.text == "last 1 window: 6 sent (none confirmed yet: the next event checks)"


def test_a_delivery_that_the_host_cut(box: SimulatedProject) -> None:
    ledger = next((box.state_folder / ".windows").glob("*.jsonl"))
    head, _, rest = ledger.read_text().partition("\n")
    ledger.write_text(
        json.dumps({**json.loads(head), "openClaims": []}) + "\n" + rest.replace('"parts":"s"', '"parts":"t"', 1)
    )
    (found,) = hooks.receipts(box.opened())
    assert (found.state, found.fix) == ("bad", "engine window") and "1 truncated" in found.text


def test_a_log_without_errors(box: SimulatedProject) -> None:
    assert list(hooks.trace(box.opened())) == [Finding("errors", "ok", "no errors in the last 7 days")]
    log(box, ("it broke", 8 * 86400))
    assert [one.state for one in hooks.trace(box.opened())] == ["ok"], "that was long ago"


def test_errors_with_their_fix(box: SimulatedProject) -> None:
    log(box, ("it broke", 100), ("another", 50), ("it broke", 0))
    first, second = hooks.trace(box.opened())
    assert first.text.endswith("hook X: it broke (2×)") and second.text.endswith("hook X: another")
    assert first.state == "bad" and first.fix == "once it is fixed: engine doctor --forget"
    forget_errors(box.opened().store)
    assert [one.state for one in hooks.trace(box.opened())] == ["ok"]


def test_more_errors_than_anybody_reads(box: SimulatedProject) -> None:
    log(box, *((f"e{number}", 0) for number in range(25)))
    first, *rest = hooks.trace(box.opened())
    assert first.text == "25 different errors; the newest 20 follow"
    assert [one.text.rpartition(" ")[2] for one in rest] == [f"e{number}" for number in range(5, 25)]
