"""Tests never see the real home folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REAL_HOME = os.path.expanduser("~")


@pytest.fixture(autouse=True)
def no_real_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "CLAUDE_PROJECT_DIR", "CLAUDE_CODE_SESSION_ID", "AI_AGENT"):
        monkeypatch.delenv(name, raising=False)
