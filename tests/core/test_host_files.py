"""Files that the host itself shows in a window. Of compactions and resumes: test_reconcile."""

from __future__ import annotations

import pytest

from handbill.core.content import Content
from handbill.core.host_files import hidden, without_hidden_rules
from handbill.core.window import READ_ITSELF, RESTORED
from makers import window

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
    content.files = shown
    assert hidden(before, content) == ([RULE] if gone else [])
    after = without_hidden_rules(before, content)
    assert (after is before) is not gone and (RULE in after.files) is not gone
    assert [*after.touched] == (["/p"] if gone else ["/p/one", "/p"])


def test_a_rule_of_a_directory_that_nobody_touched() -> None:
    before = window(files={RULE: {"via": "host", "reason": READ_ITSELF, "parts": "h"}}, touched={})
    assert RULE not in without_hidden_rules(before, Content()).files
