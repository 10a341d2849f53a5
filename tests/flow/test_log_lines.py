from __future__ import annotations

from types import SimpleNamespace

import pytest

from handbill.flow import log_lines


@pytest.mark.parametrize(
    "notes, lines, last", [(3, 3, "note 2"), (20, 20, "note 19"), (5000, 21, "notes omitted for this event: 4,980")]
)
def test_an_event_traces_so_many_notes(notes: int, lines: int, last: str) -> None:
    traces: list[str] = []
    event = SimpleNamespace(kind="prompt_submitted", window=("s", "main"), tools=[], host="x")
    plan = SimpleNamespace(notes=[f"note {number}" for number in range(notes)], seen=[])
    turn = SimpleNamespace(
        event=event, plan=plan, opened="", outcomes=[], now=1.0, has_session=False, traces=[], store=SimpleNamespace(append=lambda *_: None),
        trace=lambda what, hint="": traces.append(what),
    )  # fmt: skip
    log_lines.write(turn, SimpleNamespace(claim=None, message=""))  # type: ignore[arg-type]
    assert len(traces) == lines and traces[-1] == last
