from __future__ import annotations

import pytest
from command import engine, run


@pytest.mark.once
def test_demo_delivers_everything_once() -> None:
    data = engine("demo", "--fast")["data"]
    assert data["once"] is True and len(data["events"]) == 20
    assert "every file exactly once per window" in run("demo", "--fast").stdout
