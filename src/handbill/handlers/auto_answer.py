"""For tests without a person: questions to the user are answered by a rule of the user's own settings."""

from __future__ import annotations

from handbill.fast_json import dumps
from handbill.plan import BLOCK, Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handbill.event import Event
    from handbill.ledger.window import Window
    from handbill.settings import Settings
    from handbill.world import World

_RECOMMENDED = "(Recommended)"


def handle(event: Event, window: Window, world: World, settings: Settings) -> Plan | None:
    if not settings.auto_answer:
        return None
    for tool in event.tools:
        if tool.name == "AskUserQuestion":
            questions = tool.values.get("questions")
            chosen = [
                {"question": str(one.get("question", "")), "selected": chosen_label(one, settings.auto_answer, world)}
                for one in (questions if isinstance(questions, list) else ())
                if isinstance(one, dict)
            ]
            plan = Plan()
            plan.gate(
                BLOCK,
                f"[E2E Auto-Answer] User selections (auto): {dumps(chosen)}. "
                "Treat these as the user's choices and continue.",
            )
            return plan
    return None


def chosen_label(question: dict[str, Any], rule: str, world: World) -> str:
    options = question.get("options")
    labels = (
        [str(one.get("label", "")) for one in options if isinstance(one, dict)] if isinstance(options, list) else []
    )
    if not labels:
        return ""
    if rule == "random":
        return labels[world.random(len(labels))]
    if rule == "recommended":
        return next((label for label in labels if _RECOMMENDED in label), labels[0])
    return labels[0]
