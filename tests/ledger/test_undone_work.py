"""Skills that are begun and undone: what is at work in a window."""

from __future__ import annotations

from typing import Any

import pytest
from test_epochs import record, start
from test_reconcile import content

from builders import batch, window
from handbill.event import PROMPT_SUBMITTED, Event
from handbill.ledger import reconcile
from handbill.ledger.window import begun

A = {"skill": "a", "begun": "t1"}
B = {"skill": "b", "begun": "skill_expanded::p2"}


@pytest.mark.parametrize(
    "before, name, after",
    [
        ({}, "t1", {"begun": "t1", "before": []}),
        (A, "t2", {"skill": "a", "begun": "t2", "before": [A]}),
        ({**B, "before": [A]}, "t3", {**B, "begun": "t3", "before": [B, A]}),
        ({**B, "before": [A, A, A]}, "t3", {**B, "begun": "t3", "before": [B, A, A]}),  # not without end
        ({**A, "before": [B]}, "t1", {**A, "before": [B]}),  # another lane of the same event
        ({"skill": "a", "begun": "x::"}, "x::", {"skill": "a", "begun": "x::", "before": [{"skill": "a", "begun": "x::"}]}),
    ],
)  # fmt: skip
def test_what_a_skill_begins_with(before: dict[str, Any], name: str, after: dict[str, Any]) -> None:
    kept = {**before}
    assert begun(before, name) == after and before == kept


@pytest.mark.parametrize(
    "work, typed, calls, left",
    [
        ({**B, "before": [A]}, {"p2"}, ["t1"], {**B, "before": [A]}),
        ({**B, "before": [A]}, set(), ["t1"], {**A, "before": []}),
        ({**B, "before": [A]}, set(), [], {}),
        (A, set(), ["t1"], A),
        (A, set(), [], {}),
        ({**A, "session": "/s"}, set(), [], {**A, "session": "/s"}),  # it goes on, whatever is undone
        ({"skill": "c"}, set(), [], {}),  # its body is not there, either
        ({}, set(), [], {}),
    ],
)
def test_what_is_left_of_it(work: dict[str, Any], typed: set[str], calls: list[str], left: dict[str, Any]) -> None:
    before = window(work=work)
    after = reconcile.without_undone_work(before, content(typed=typed, calls=calls), batch("t9"))
    assert after.work == left and before.work == work
    assert (after is before) is (left == work)


def test_what_begins_in_this_very_event_is_not_undone() -> None:
    """The host has not recorded it yet."""
    before = window(work={**B, "before": [A]})
    event = Event(PROMPT_SUBMITTED, "s", prompt_id="p2")
    assert reconcile.without_undone_work(before, content(), event) is before


@pytest.mark.parametrize(
    "reason, calls, shown, via",
    [
        ("nested, read by the host", ["t1"], False, "host"),
        ("nested, read by the host", [], False, ""),
        ("why", ["t1"], False, ""),  # of ours, and not kept
        ("why", ["t1"], True, "host"),
    ],
)
def test_what_came_with_a_call_that_an_unnoticed_compaction_kept(
    reason: str, calls: list[str], shown: bool, via: str
) -> None:
    path = "/p/sub/AGENTS.md"
    carried = {path: {**record("h", "host", reason=reason), "batch": "t1"}} if "nested" in reason else {path: record()}
    there = content(calls=calls, files={path: ""} if shown else {})
    after = reconcile.resumed(window(from_last_epoch=carried, pending={path: "why"}), there, start("resume"), 9.0)
    found = after.files.get(path)
    assert (found["via"] if found is not None else "") == via and not after.from_last_epoch


def test_a_nested_rule_of_ours_that_was_kept_stays_ours() -> None:
    path, digest = "/p/sub/AGENTS.md", "0123456789abcdef"
    kept = {**record("k", hash=digest, reason="nested"), "batch": "t1"}
    there = content({(path, digest, 1, 1): 5}, calls=["t1"])
    after = reconcile.resumed(window(from_last_epoch={path: kept}), there, start("resume"), 9.0)
    assert after.files[path]["parts"] == "k" and after.files[path]["via"] != "host"
