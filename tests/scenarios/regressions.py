"""What the tests of former faults share."""

from __future__ import annotations

import json
from typing import Any

from handbill.hook import respond
from simulated_project import SimulatedProject


def lanes(box: SimulatedProject, count: int, *, first: int = 1) -> None:
    """Every start is asked by several handlers, one after the other; `first` is the one that wins."""
    order = [first, *(number for number in range(1, count + 1) if number != first)]
    usual = box.hooks

    def several(name: str, raw: dict[str, Any]) -> list[str]:
        if name != "SessionStart":
            return usual(name, raw)
        data = json.dumps(raw).encode()
        return [respond(data, ["claude-code", "--lane", f"{lane}/{count}"], box.environ) for lane in order]

    box.hooks = several
