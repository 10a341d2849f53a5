from __future__ import annotations

import json
import subprocess
import sys

import pytest

from handbill.lab import auto_answer


def question(*labels: str) -> dict[str, object]:
    return {"question": "Q?", "options": [{"label": label} for label in labels]}


def chosen(text: str) -> object:
    return json.loads(text.partition("(auto): ")[2].rpartition(". Treat")[0])


@pytest.mark.parametrize("rule, expected", [("first", "A"), ("1", "A"), ("recommended", "B (Recommended)")])
def test_automatic_answers(rule: str, expected: str) -> None:
    text = auto_answer.answered({"questions": [question("A", "B (Recommended)", "C"), question()]}, rule)
    assert chosen(text) == [{"question": "Q?", "selected": expected}, {"question": "Q?", "selected": ""}]


@pytest.mark.parametrize("values", [None, {}, {"questions": "no"}, {"questions": [7]}, {"questions": [{"options": 3}]}])
def test_odd_questions(values: object) -> None:
    assert "Auto-Answer" in auto_answer.answered(values, "first")


@pytest.mark.parametrize("event, denied", [({"tool_input": {"questions": [question("A")]}}, True), ("broken", False)])
def test_the_hook_process(event: object, denied: bool) -> None:
    sent = json.dumps(event) if isinstance(event, dict) else "{"
    command = [sys.executable, "-m", "handbill.lab.auto_answer", "random"]
    done = subprocess.run(command, input=sent, capture_output=True, text=True, check=True)
    assert ('"permissionDecision": "deny"' in done.stdout and '"A"' in done.stdout.replace("\\", "")) is denied
