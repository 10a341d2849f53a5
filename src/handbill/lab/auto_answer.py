"""A hook for tests without a person: it answers the agent's questions by a rule.

Register it manually, for AskUserQuestion only: `python -m handbill.lab.auto_answer
first|recommended|random`.
"""

from __future__ import annotations

import json
import random
import sys
from typing import Any

RULES = ("first", "recommended", "random")
_RECOMMENDED = "(Recommended)"


def main() -> int:
    rule = sys.argv[1] if len(sys.argv) > 1 else RULES[0]
    try:
        raw = json.loads(sys.stdin.read())
    except ValueError as error:
        print(f"auto_answer: the event is not JSON: {error}", file=sys.stderr)
        return 0
    text = answered(raw.get("tool_input") if isinstance(raw, dict) else None, rule)
    denial = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": text}
    print(json.dumps({"hookSpecificOutput": denial}))
    return 0


def answered(values: object, rule: str) -> str:
    questions = values.get("questions") if isinstance(values, dict) else None
    chosen = [
        {"question": str(one.get("question", "")), "selected": chosen_label(one, rule)}
        for one in (questions if isinstance(questions, list) else ())
        if isinstance(one, dict)
    ]
    return (
        f"[E2E Auto-Answer] User selections (auto): {json.dumps(chosen, ensure_ascii=False)}. "
        "Treat these as the user's choices and continue."
    )


def chosen_label(question: dict[str, Any], rule: str) -> str:
    options = question.get("options")
    labels = (
        [str(one.get("label", "")) for one in options if isinstance(one, dict)] if isinstance(options, list) else []
    )
    if not labels:
        return ""
    if rule == "random":
        return random.choice(labels)
    if rule == "recommended":
        return next((label for label in labels if _RECOMMENDED in label), labels[0])
    return labels[0]


if __name__ == "__main__":
    sys.exit(main())
