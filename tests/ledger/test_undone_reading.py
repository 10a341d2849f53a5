"""Files whose text is elsewhere, or that the agent saw itself: what becomes of them when that changes."""

from __future__ import annotations

import pytest
from test_epochs import record
from test_reconcile import content

from builders import batch, window
from handbill.ledger import reconcile
from handbill.ledger.host_files import compared, want_dependents, with_shown_rules
from handbill.ledger.window import ELSEWHERE, MENTIONED, OWN, READ_ITSELF, see

A, B, C = (f"/p/{name}/.directives/AGENTS.md" for name in "abc")


def test_only_those_that_depend_on_a_file_are_wanted_again() -> None:
    lines = {B: record(same=A, reason="line b"), C: record(same="/other", reason="line c")}
    skipped = {"/x": ["1", A, "why x"], "/y": ["1", "/other", "why y"]}
    after = window(files={A: record(), **lines}, flags={ELSEWHERE: skipped}, pending={})
    want_dependents(after, A)
    assert after.pending == {B: "line b", "/x": "why x"} and sorted(after.files) == [A, C]
    assert after.flags[ELSEWHERE] == {"/y": ["1", "/other", "why y"]}


def test_what_was_granted_with_it_depends_on_its_new_text() -> None:
    skipped = {"/x": ["1", A, "why x"]}
    after = window(files={A: record(), B: record(same=A)}, flags={ELSEWHERE: skipped}, pending={"/x": "before"})
    want_dependents(after, A, [B, "/x"])
    assert B in after.files and after.flags[ELSEWHERE] == skipped and after.pending == {"/x": "before"}


@pytest.mark.parametrize("updated, shown", [(False, True), (True, False)])
def test_a_rule_in_parts_that_the_host_shows_whole(updated: bool, shown: bool) -> None:
    """Unless a newer state is being delivered: what is shown may be the old one."""
    before = window(files={A: record("k.", updated=updated)}, pending={A: "why"})
    after = with_shown_rules(before, content(files={A: "text"}), READ_ITSELF, 9.0)
    assert after.holds(A) is shown and (A in after.pending) is not shown


@pytest.mark.parametrize(
    "before, kept", [(record("k."), True), (record(".."), False), (record("h", "host"), False), (None, False)]
)
def test_parts_that_we_delivered_are_not_forgotten_when_the_host_shows_the_file(
    before: dict[str, object] | None, kept: bool
) -> None:
    after = see(window(files={A: before} if before else {}), A, "", READ_ITSELF, 9.0)
    assert ("ours" in after.files[A]) is kept


def test_prompts_that_the_host_dropped() -> None:
    """Of three files that it mentions: parts of ours come back, a file is gone, a newer state was not seen."""
    held = {
        A: record("h", "host", reason=READ_ITSELF, ours=record("k.")),
        B: record("h", "host", reason=READ_ITSELF),
        C: record(**{OWN: ["d", "prompt_submitted::p1", 1.0], "stamp": "new"}),
    }
    mention = {MENTIONED: {"prompt": "prompt_submitted::p1", "at": 7, "files": [A, B, C]}}
    after, gone = compared(window(files=held, flags=mention), content(), batch(), 9.0, whole=False)
    assert gone == [A, B] and after.files[A]["parts"] == "k." and A in after.pending and B not in after.files
    assert OWN not in after.files[C] and after.files[C]["stamp"] not in ("", "new")


@pytest.mark.parametrize(
    "batch_id, at, forgotten",
    [("t5", 1.0, True), ("t2", 1.0, False), ("t1", 1.0, False), ("t5", 8.0, False), ("prompt_submitted::p1", 1.0, False)],
)  # fmt: skip
def test_what_the_agent_saw_itself_and_where(batch_id: str, at: float, forgotten: bool) -> None:
    """t1 is the event at hand, t2 and p1 are in the window."""
    held = {name: record(**{OWN: ["d", batch_id, at], "stamp": "new"}) for name in (A, B)}
    before = window(files={**held, C: record(stamp="x")})
    there = content(calls=["t2"], typed={"p1"})
    after = reconcile.without_undone_reading(before, there, batch("t1"), 9.0, 2.0)
    assert [(OWN in after.files[name], after.files[name]["stamp"]) for name in (A, B)] == [
        (not forgotten, "" if forgotten else "new")
    ] * 2
    assert after.files[C]["stamp"] == "x" and (after is before) is not forgotten


@pytest.mark.parametrize(
    "reason, batch_id, at, gone",
    [
        ("nested, read by the host", "t5", 1.0, True), ("nested, read by the host", "t2", 1.0, False),
        ("nested, read by the host", "", 1.0, False), ("nested, read by the host", "t5", 8.0, False),
        ("session_start", "t5", 1.0, False),
    ],
)  # fmt: skip
def test_a_file_that_the_host_brought_with_a_call(reason: str, batch_id: str, at: float, gone: bool) -> None:
    held = {A: {**record("h", "host", reason=reason), "batch": batch_id, "at": at}}
    assert reconcile.left(window(files=held), content(calls=["t2"]), 9.0, 2.0) == ([A] if gone else [])


@pytest.mark.parametrize("calls, files, kept", [(["t1"], {}, True), ([], {A: "text"}, True), ([], {}, False)])
def test_a_nested_file_and_a_compaction(calls: list[str], files: dict[str, str], kept: bool) -> None:
    """It stays with its call, or if the host shows it."""
    carried = {A: record("h", "host", reason="nested, read by the host"), B: record("h", "host", reason="other")}
    after = reconcile.inherited(window(from_last_epoch=carried), content(calls=calls, files=files), records=True)
    assert after.holds(A) is kept and not after.holds(B)
