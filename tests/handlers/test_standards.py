from __future__ import annotations

import pytest

from builders import DictWorld, config, window
from handbill.event import SESSION_STARTED, Event, Inbox
from handbill.handlers.standards import handle, standard_names
from handbill.paths import SHIPPED
from handbill.settings import Settings

EVENT = Event(SESSION_STARTED, "s", source="startup")
SHIPPED_FILES = {f"{SHIPPED}/{name}": "x" for name in standard_names(DictWorld({}), config(), subagent=False)}  # type: ignore[arg-type]


def test_the_six_standards_once_per_epoch() -> None:
    plan = handle(EVENT, Inbox(), window(), DictWorld(SHIPPED_FILES), config())  # type: ignore[arg-type]
    assert plan is not None and len(plan.wants) == 6
    assert plan.flags == {"standards": 0}
    assert handle(EVENT, Inbox(), window(flags={"standards": 0}), DictWorld(SHIPPED_FILES), config()) is None  # type: ignore[arg-type]
    again = handle(EVENT, Inbox(), window(flags={"standards": 0}, epoch=1), DictWorld(SHIPPED_FILES), config())  # type: ignore[arg-type]
    assert again is not None and again.flags == {"standards": 1}


def test_the_users_own_page_goes_before_the_shipped_one() -> None:
    mine = "/home/u/.claude/.directives/COMMANDS.md"
    plan = handle(EVENT, Inbox(), window(), DictWorld({**SHIPPED_FILES, mine: "mine"}), config())  # type: ignore[arg-type]
    assert plan is not None
    paths = [want.path for want in plan.wants]
    assert mine in paths and f"{SHIPPED}/COMMANDS.md" not in paths


@pytest.mark.parametrize("name", ["AGENTS.md", "INVARIANTS.md", "ARCHITECTURE.md"])
@pytest.mark.parametrize("agent", ["main", "a1"])
def test_the_users_own_directives_are_added_and_shadow_nothing(name: str, agent: str) -> None:
    mine = f"/home/u/.claude/.directives/{name}"
    plan = handle(EVENT, Inbox(), window(agent=agent), DictWorld({**SHIPPED_FILES, mine: "mine"}), config())  # type: ignore[arg-type]
    assert plan is not None
    paths = [want.path for want in plan.wants]
    assert paths[-1] == mine and f"{SHIPPED}/INVARIANTS.md" in paths


def test_a_subagent_gets_a_slice() -> None:
    plan = handle(EVENT, Inbox(), window(agent="a1"), DictWorld(SHIPPED_FILES), config())  # type: ignore[arg-type]
    assert plan is not None
    assert [want.path for want in plan.wants] == [f"{SHIPPED}/INVARIANTS.md"]


def test_configured_standards_and_one_that_is_nowhere() -> None:
    settings = Settings({"standards": {"files": ["./docs/rules.md", "/abs/x.md", "MISSING.md"]}}, "/home/u")
    plan = handle(EVENT, Inbox(), window(), DictWorld({}), settings)  # type: ignore[arg-type]
    assert plan is not None
    assert [want.path for want in plan.wants] == ["/p/docs/rules.md", "/abs/x.md"]
    assert "MISSING.md" in plan.notes[0]
