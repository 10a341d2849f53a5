from __future__ import annotations

import pytest
from command import engine, run

from handbill.reports.deliveries import duplicates_of


@pytest.mark.once
def test_demo_delivers_everything_once() -> None:
    data = engine("demo", "--fast")["data"]
    assert data["once"] is True and len(data["events"]) == 20
    assert "every file exactly once per window" in run("demo", "--fast").stdout


def test_an_update_is_no_duplicate() -> None:
    lines = [
        {"window": "w", "file": "/f", "event": name, "source": ""} for name in ("claim-deliver", "updated", "updated")
    ]
    assert duplicates_of(lines) == []
    assert len(duplicates_of([*lines, lines[0]])) == 1
