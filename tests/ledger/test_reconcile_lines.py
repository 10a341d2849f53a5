"""Lines that refer to another file's text, texts under two names, and what another lane of a start sent."""

from __future__ import annotations

import pytest
from test_epochs import record, start
from test_reconcile import content
from test_reconcile_cases import title

from builders import batch, window
from handbill.ledger import reconcile


@pytest.mark.parametrize("sent_as_line, gone", [(True, []), (False, ["/a"])])
def test_a_line_where_there_was_a_text(sent_as_line: bool, gone: list[str]) -> None:
    """The window shows only the line "the same rules as in …" under this title."""
    now = content({title("/a"): 1})
    now.same = {("", title("/a")): "/b"}
    before = window(files={"/a": record(**({"same": "/b"} if sent_as_line else {}))})
    assert reconcile.left(before, now) == gone


def test_a_file_of_the_hosts_that_a_resume_removes_is_wanted_under_its_other_name() -> None:
    shown = record("h", via="host", reason="read by the agent")
    before = window(files={"/a": shown}, flags={"same_text": {"/b": ["1:2", "/a", "why"]}})
    after = reconcile.resumed(before, content(), start("resume"), 9.0)
    assert "/a" not in after.files and after.pending == {"/b": "why"}


@pytest.mark.parametrize("batch_of, waits", [("session_started:resume:", False), ("t1", True)])
def test_what_another_lane_of_the_same_start_sent_is_not_judged(batch_of: str, waits: bool) -> None:
    event = start("resume")
    before = window(files={"/a": record("s", batch=event.batch if not waits else batch_of, at=8.0)})
    after = reconcile.resumed(before, content(), event, 9.0)
    assert ("/a" in after.pending) is waits


def test_a_line_without_its_text_does_not_wait_either() -> None:
    before = window(files={"/x": record(), "/y": record(".", same="/x")}, pending={"/y": "why"})
    after = reconcile.rewound(before, content(), batch("t9"))
    assert "/y" not in after.files and "/y" not in after.pending
    carried = window(from_last_epoch={"/x": record("kk"), "/y": record("kk", same="/x")})
    after = reconcile.inherited(carried, content({title("/x", 1, 2): 1, title("/y", 1, 2): 1}), records=True)
    assert list(after.pending) == ["/x"]
