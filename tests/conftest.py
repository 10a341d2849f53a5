"""Settings for all tests. Tests never use the real home folder."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from handbill.flow import event_context, findings
from simulated_project import NEW, SimulatedProject

# Only bench/ measures time. A busy machine must not make a test fail.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
# For repeated runs on another Python: --hypothesis-profile=again.
settings.register_profile("again", settings.get_profile("untimed"), max_examples=20)


@pytest.fixture(autouse=True)
def no_real_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in (
        "XDG_STATE_HOME",
        "XDG_CONFIG_HOME",
        "CLAUDE_PROJECT_DIR",
        "CLAUDE_CODE_SESSION_ID",
        "AI_AGENT",
        "HANDBILL_ROLE",
        "HANDBILL_DISPATCH",
        "COLUMNS",  # pytest-xdist sets it, but the output must not depend on it
    ):
        monkeypatch.delenv(name, raising=False)


if "coverage" in sys.modules:  # coverage makes everything several times slower
    event_context.MOST_SECONDS *= 10


@pytest.fixture
def make_project(tmp_path: Path) -> Callable[..., SimulatedProject]:
    def box(version: str = NEW) -> SimulatedProject:
        made = SimulatedProject(tmp_path, version)
        for name in ("one", "two"):
            made.write(f"{name}/.directives/AGENTS.md", f"rules of {name}\n")
            made.write(f"{name}/f.py", "x\n")
        return made

    return box


@pytest.fixture
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behave as if seconds passed between two events."""
    monkeypatch.setattr(findings, "PATIENCE", -1.0)
