"""Files that the host itself shows in a window. Of compactions and resumes: test_reconcile."""

from __future__ import annotations

from typing import Any

import pytest

from builders import batch, window
from handbill.event import PROMPT_SUBMITTED, Event
from handbill.ledger.content import Content
from handbill.ledger.host_files import compared, hidden, host_has
from handbill.ledger.window import MENTIONED, OWN, READ_ITSELF, RESTORED

RULE = "/p/one/.directives/AGENTS.md"


@pytest.mark.parametrize(
    "via, reason, shown, gone",
    [
        ("host", READ_ITSELF, set(), True),
        ("host", RESTORED, set(), True),
        ("host", READ_ITSELF, {RULE}, False),
        ("host", "nested, read by the host", set(), False),  # its own rules apply: see rewound
        ("host", "session_start", set(), False),
        ("tool_batch_finished", READ_ITSELF, set(), False),
    ],
)
def test_rules_that_the_host_shows_no_more(via: str, reason: str, shown: set[str], gone: bool) -> None:
    before = window(files={RULE: {"via": via, "reason": reason, "parts": "h"}}, touched={"/p/one": {}, "/p": {}})
    content = Content()
    content.files = dict.fromkeys(shown, "")
    assert hidden(before, content) == ([RULE] if gone else [])
    after, lost = compared(before, content, batch(), 5.0, whole=True)
    assert lost == hidden(before, content) and (after is before) is not gone and (RULE in after.files) is not gone
    assert [*after.touched] == (["/p"] if gone else ["/p/one", "/p"])


def test_a_rule_of_a_directory_that_nobody_touched() -> None:
    before = window(files={RULE: {"via": "host", "reason": READ_ITSELF, "parts": "h"}}, touched={})
    assert RULE not in compared(before, Content(), batch(), 5.0, whole=True)[0].files


@pytest.mark.parametrize("whole", [True, False])
def test_a_rule_that_the_host_shows_again(whole: bool) -> None:
    """A rewind went back to before the compaction that had removed it."""
    content = Content()
    content.files = {RULE: "", "/p/one/f.py": ""}
    after, _ = compared(window(pending={RULE: "directive of /p/one"}), content, batch(), 5.0, whole=whole)
    assert list(after.files) == ([RULE] if whole else []) and (RULE in after.pending) is not whole


MENTION = {MENTIONED: {"prompt": "prompt_submitted::p1", "at": 7, "files": [RULE]}}


@pytest.mark.parametrize(
    "prompt, shown, gone, is_open",
    [("p1", set(), [], True), ("p2", set(), [RULE], False), ("p2", {RULE}, [], False), ("p1", {RULE}, [], True)],
)
@pytest.mark.parametrize("whole", [True, False])
def test_a_prompt_that_mentions_a_rule(
    prompt: str, shown: set[str], gone: list[str], is_open: bool, whole: bool
) -> None:
    """The host takes it, or another hook blocks it: the next event knows."""
    files = {path: {"via": "host", "reason": READ_ITSELF, "parts": "h"} for path in (RULE, "/p/other.md")}
    before = window(files=files, flags=MENTION)
    content = Content()
    content.files = dict.fromkeys({*shown, "/p/other.md"} if whole else shown, "")
    event = Event(PROMPT_SUBMITTED, "s", prompt_id=prompt)
    after, lost = compared(before, content, event, 5.0, whole=whole)
    assert lost == gone and (MENTIONED in after.flags) is is_open
    assert sorted(after.files) == sorted({RULE, "/p/other.md"} - {*gone}) and MENTIONED in before.flags


SKILL, FOLDER = "/p/.claude/skills/x/SKILL.md", "/p/.claude/skills/x"


@pytest.mark.parametrize(
    "record, shown, expected",
    [
        ({"reason": "skill x", "chars": 5}, {"skills": [FOLDER]}, True),
        ({"reason": "skill x", "chars": 50_000}, {"skills": [FOLDER]}, True),  # whole, as long as nothing is compacted
        ({"reason": "skill x", "chars": 5}, {"skills": []}, False),
        ({"reason": "session_start"}, {}, True),  # it precedes the conversation
        ({"reason": "session_start", "via": "tool_batch_finished"}, {}, False),
        ({"reason": READ_ITSELF}, {"files": {SKILL: ""}}, True),
        ({"reason": READ_ITSELF}, {"files": {}}, False),
        ({"reason": "nested, read by the host", "batch": "t1"}, {"calls": ["t1"]}, True),
        ({"reason": "nested, read by the host", "batch": "t1"}, {"calls": ["t2"]}, False),
        ({"reason": "nested, read by the host", "batch": "t1"}, {"files": {SKILL: ""}}, True),
        ({"reason": "nested, read by the host", "batch": ""}, {"calls": ["t1"]}, False),
    ],
)
def test_whether_the_host_has_a_file(record: dict[str, object], shown: dict[str, Any], expected: bool) -> None:
    content = Content()
    for name, value in shown.items():
        setattr(content, name, value)
    usual = {"via": "host", "parts": "h", "batch": "", "chars": 5}
    assert host_has(SKILL, {**usual, **record}, content) is expected


@pytest.mark.parametrize("is_taken", [True, False])
def test_a_changed_rule_that_a_mention_shows_again(is_taken: bool) -> None:
    """An earlier message shows its older state: the newer one is known only if the host took the prompt."""
    record = {"via": "host", "reason": READ_ITSELF, "parts": "h", "stamp": "7:1", OWN: ["d2", "p1", 4.0]}
    mention = {MENTIONED: {**MENTION[MENTIONED], "before": [RULE]}}
    content = Content(whole=False)
    content.typed = {"p1"} if is_taken else set()
    content.files = {RULE: "newer"} if is_taken else {}
    after, lost = compared(window(files={RULE: record}, flags=mention), content, batch(), 5.0, whole=False)
    found = after.files[RULE]
    assert lost == [] and (OWN in found, found["stamp"]) == ((True, "7:1") if is_taken else (False, ""))
