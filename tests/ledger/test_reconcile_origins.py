"""The ledger against the content: who brought a file, and what follows from that."""

from __future__ import annotations

import pytest
from test_epochs import record, start
from test_reconcile import content
from test_reconcile_cases import title

from builders import batch, window
from handbill.ledger import reconcile

RULE = "/p/.directives/AGENTS.md"


def test_a_rule_that_is_kept_and_shown_by_the_client_is_still_ours() -> None:
    after = reconcile.inherited(
        window(from_last_epoch={RULE: record()}), content({title(RULE): 5}, files={RULE: ""}), records=True
    )
    assert after.files[RULE]["via"] == "tool_batch_finished"
    after = reconcile.inherited(window(from_last_epoch={"/x": record()}), content(files={RULE: ""}), records=True)
    assert after.files[RULE]["via"] == "host", "the agent had read it itself"


def test_a_file_that_waits_and_that_the_client_restores() -> None:
    before = window(from_last_epoch={"/a": record()}, pending={"/a": "why"})
    assert reconcile.inherited(before, content(files={"/a": ""}), records=True).holds("/a")


def test_the_newer_state_that_the_ledger_knows_is_not_forgotten_for_an_older_one() -> None:
    older, newer = ("/a", "0" * 16, 1, 1), ("/a", "f" * 16, 1, 1)
    before = window(files={"/a": record(hash=newer[1])})
    both = content({older: 5, newer: 5}, order={("", older): 1, ("", newer): 2})
    assert reconcile.found(before, both, 9.0) is before


@pytest.mark.parametrize(
    "batch, survives", [("t1", True), ("prompt_submitted::p1", True), ("t2", False), ("prompt_submitted::p2", False), ("", True)]
)  # fmt: skip
def test_a_nested_file_of_the_client_survives_a_resume_with_its_call(batch: str, survives: bool) -> None:
    before = window(files={"/sub/CLAUDE.md": {**record("h", "host", reason="nested_traversal"), "batch": batch}})
    there = content(calls=["t1"], prompts={"p1": 1, "p2": 2}, typed={"p1"})
    assert reconcile.resumed(before, there, start("resume"), 9.0).holds("/sub/CLAUDE.md") is survives


def test_an_unknown_window_with_a_line_whose_text_is_gone() -> None:
    after = reconcile.adopted(batch(), None, content({title("/a"): 5}, same={("", title("/a")): "/b"}), 9.0)
    assert "/a" not in after.files and not after.pending


def test_a_file_that_the_agent_read_since_is_not_delivered_again_after_a_resume() -> None:
    title = ("/whole", "0123456789abcdef", 1, 1)
    before = window(files={"/shown": record(), "/whole": record(), "/gone": record(), "/other": record()})
    shown = content({title: 5}, files={"/shown": "text", "/whole": "text"})
    after = reconcile.resumed(before, shown, start("resume"), 9.0)
    assert after.files["/shown"]["via"] == "host" and after.files["/whole"]["via"] == "tool_batch_finished"
    assert sorted(after.pending) == ["/gone", "/other"]


def test_a_rewind_takes_several_files_of_the_host() -> None:
    nested = record("h", "host", reason="nested, read by the host")
    before = window(files={"/deep": nested, "/deeper": nested}, flags={"host_once": ["/of the rewind before"]})
    after = reconcile.rewound(before, content({}), batch("now"))
    assert after.flags["host_once"] == ["/of the rewind before", "/deep", "/deeper"]


def test_a_rule_in_parts_that_the_agent_read_since_needs_no_other_parts_after_a_resume() -> None:
    shown = content({("/a", "0123456789abcdef", 1, 2): 5}, files={"/a": "text"})
    after = reconcile.resumed(window(files={"/a": record("kk")}), shown, start("resume"), 9.0)
    assert after.files["/a"]["via"] == "host" and not after.pending
