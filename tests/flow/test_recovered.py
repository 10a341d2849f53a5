"""What a rebuilt ledger takes up again."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from builders import DictWorld, batch, config, window
from handbill.event import COMPACTING, Event, Inbox
from handbill.flow.recovered import found_again
from handbill.paths import SHIPPED_SKILLS
from handbill.plan import Plan
from handbill.store import sessions


@pytest.mark.parametrize("typed, expected", [("", "second"), ("third", "third")])
def test_the_skill_that_was_begun_last_goes_on(typed: str, expected: str) -> None:
    event = batch()
    inbox, event.skill = Inbox(), typed
    inbox.skills = ["/skills/first", "/skills/second"]
    turn = SimpleNamespace(event=event, inbox=inbox, plan=Plan(), store=SimpleNamespace(linked=lambda _: ""))
    found_again(turn, window())  # type: ignore[arg-type]
    assert event.skill == expected


@pytest.mark.parametrize("held_by, found", [("s", True), ("another", False), (None, False)])
def test_only_a_session_that_this_client_still_holds_goes_on(
    monkeypatch: pytest.MonkeyPatch, held_by: str | None, found: bool
) -> None:
    state = {"sessionId": held_by, "skill": "implement", "currentPhase": "2: Plan"}
    monkeypatch.setattr(sessions, "read", lambda folder: state)
    turn = SimpleNamespace(
        event=batch(), inbox=Inbox(), plan=Plan(), store=SimpleNamespace(linked=lambda _: "/p/sessions/X")
    )
    ledger = window()
    found_again(turn, ledger)  # type: ignore[arg-type]
    work = {"session": "/p/sessions/X", "skill": "implement", "phase": "2"}
    assert ledger.work == (work if found else {}) and turn.plan.work == (work if found else None)


@pytest.mark.parametrize("folder", ["/p/.claude/skills", ""])
def test_only_a_skill_that_the_client_knows_was_begun(folder: str) -> None:
    """Found at a compaction: a command of the project may have the name of a shipped skill."""
    world = DictWorld({f"{folder or SHIPPED_SKILLS}/x/SKILL.md": "# x"})
    event = Event(COMPACTING, "s", project="/p", cwd="/p")
    inbox = Inbox()
    inbox.skills = ["/some/x"]
    turn = SimpleNamespace(
        event=event, inbox=inbox, plan=Plan(), store=SimpleNamespace(linked=lambda _: ""), world=world,
        settings=config(),
    )  # fmt: skip
    ledger = window()
    found_again(turn, ledger)  # type: ignore[arg-type]
    assert ledger.work.get("skill", "") == ("x" if folder else "")
