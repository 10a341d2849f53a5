"""What is in a window, by its transcript: live, and as each kind of loader rebuilds it."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from transcript_lines import (
    CHAIN,
    DIGEST,
    NEW,
    OLD,
    TITLE,
    A,
    B,
    answer,
    boundary,
    call,
    denied,
    injection,
    line,
    ours,
    prompt,
    result,
    titles,
    window,
)

from handbill.hosts.claude_code.chain import Loader
from handbill.hosts.claude_code.transcript import prompts
from handbill.text.blocks import block

# --- what counts as ours ---------------------------------------------------------------------------


def test_an_injection_is_evidence_and_raw_output_is_not() -> None:
    assert set(window(injection("1", None, A + "\n\n" + B)).blocks) == {TITLE, ("/b", DIGEST, 2, 3)}
    assert not window(injection("1", None, A, kind="hook_success")).blocks


def test_results_of_a_prompt_are_not_the_prompt() -> None:
    found = window(prompt("1", None) + line("user", "2", "1", promptId="p-9", message={"content": [
        {"type": "tool_result", "tool_use_id": "t1", "content": "x"}
    ]}))  # fmt: skip
    assert found.typed == {"p-1"} and set(found.prompts) == {"p-1", "p-9"}


@pytest.mark.parametrize("hook, started", [("SessionStart", True), ("SubagentStart", True), ("PostToolBatch", False)])
def test_what_came_with_a_start(hook: str, started: bool) -> None:
    attachment = {"type": "hook_additional_context", "content": [A], "hookEvent": hook}
    assert (TITLE in window(line("attachment", "1", None, attachment=attachment)).started) is started


def test_a_preview_is_a_cut() -> None:
    found = window(injection("1", None, f"<persisted-output>\n{A}"))
    assert found.cut == {TITLE} and not found.blocks


def test_the_preview_of_another_hook_in_the_same_row_is_not_ours() -> None:
    found = window(injection("1", None, "<persisted-output>\nOutput too large\nsomebody else's", A))
    assert set(found.blocks) == {TITLE} and not found.cut


def test_a_title_that_a_page_quotes_is_no_delivery() -> None:
    assert titles(injection("1", None, ours("/doc", f"as in:\n\n{A}"))) == {"/doc"}


@pytest.mark.parametrize(
    "row, expected",
    [
        (denied("2", "1", "t1", A), {"t1"}),
        (denied("2", "1", "t1", A, before="PreToolUse:Write hook error: "), {"t1"}),
        (
            result("2", "1", "t1", f"Exit code 3\n[Held by Handbill] x\n\n{A}", is_error=True),
            set(),
        ),  # a failing command
        (result("2", "1", "t1", f"[Held by Handbill] x\n\n{A}"), set()),  # no error: a tool that ran
        (result("2", "1", "t1", f"tool said PreToolUse:X hook error: [Held by Handbill]\n\n{A}", is_error=True), set()),
        (result("2", "1", "t1", "[Held by Handbill] without any page", is_error=True), set()),
    ],
)
def test_what_reads_like_a_denial_of_ours(row: bytes, expected: set[str]) -> None:
    found = window(call("1", None, "t1", "Write") + row)
    assert set(found.denials) == expected
    assert not found.blocks and found.file_calls == {"t1"}
    assert set(found.titles({"another"})) == set()


@pytest.mark.parametrize("is_denied", [True, False])
def test_false_parts_are_nowhere(is_denied: bool) -> None:
    """All of them are there, and make another text than their titles promise: also in the reason of a held call."""
    parts = "\n\n".join(block("/x", DIGEST, text, part, 2) for part, text in enumerate(("one", "two"), 1))
    row = denied("2", "1", "t1", parts) if is_denied else injection("2", "1", parts)
    found = window(call("1", None, "t1", "Write") + row)
    assert not found.titles({"t1"}) and found.untrue == {("/x", DIGEST)}


# --- live ------------------------------------------------------------------------------------------


def test_parts_are_checked_in_linear_time() -> None:
    """A page may consist of thousands of blocks that call themselves parts of one file."""

    def work(number: int) -> int:
        parts = [block("/x", DIGEST, "a", n, number) for n in range(1, number + 1)]
        row = injection("i", None, *parts)
        count = [0]
        sys.setprofile(lambda *_: count.__setitem__(0, count[0] + 1))
        try:
            window(row)
        finally:
            sys.setprofile(None)
        return count[0]

    assert work(400) < 2.5 * work(200)


def test_a_live_window_holds_what_was_written() -> None:
    found = window(CHAIN)
    assert set(found.blocks) == {TITLE} and found.calls == ["t1"] and found.whole
    assert titles(CHAIN + injection("5", "1", B)) == {"/a", "/b"}  # beside the chain


def test_a_rewind_takes_what_came_after_it() -> None:
    went_on = CHAIN + prompt("5", "4") + injection("6", "5", B) + answer("7", "6")
    assert titles(went_on) == {"/a", "/b"}
    assert titles(went_on + prompt("8", "4")) == {"/a"}
    assert titles(went_on + prompt("8", None)) == set()


def test_a_rewind_to_before_a_compaction() -> None:
    """What is older than the newest compaction is read as well, because the chain leads there."""
    row = line("system", "b", None, subtype="compact_boundary", compactMetadata={})
    summary = line("user", "s", "b", isCompactSummary=True, message={"content": "sum"})
    assert titles(CHAIN + row + summary) == set()
    found = window(CHAIN + row + summary + prompt("5", "4"))
    assert set(found.blocks) == {TITLE} and found.whole


@pytest.mark.parametrize("loader, expected", [(None, {"/a"}), (OLD, set()), (NEW, set())])
def test_a_rewind_to_before_a_compaction_that_kept_messages(loader: Loader | None, expected: set[str]) -> None:
    """A client that resumes applies the newest compaction all the same."""
    data = CHAIN + boundary("b", "1", "2", uuids=["1", "2"]) + prompt("5", "4")
    assert titles(data, loader) == expected


@pytest.mark.parametrize("loader, expected", [(None, set()), (NEW, {"/a"})])
def test_a_parent_that_was_never_written(loader: Loader | None, expected: set[str]) -> None:
    """A client that resumes takes the row that was written just before."""
    at = {"timestamp": "2026-01-01T00:00:00Z"}
    shown = {"type": "hook_additional_context", "content": [A]}
    data = line("attachment", "1", None, attachment=shown, **at)
    assert (
        titles(data + line("assistant", "2", "missing", message={"id": "m", "content": []}, **at), loader) == expected
    )


@pytest.mark.parametrize("loader", [None, OLD, NEW])
def test_a_lost_row_behind_a_compaction_costs_only_what_was_before_it(loader: Loader | None) -> None:
    found = window(CHAIN + boundary("b", "x", "x") + prompt("6", "missing") + injection("7", "6", B), loader)
    assert {title[0] for title in found.blocks} == {"/b"}


def test_a_row_that_only_mentions_a_compaction() -> None:
    quoting = line("user", "5", "4", toolUseResult={"x": "compact_boundary"}, message={"content": "x"})
    found = window(CHAIN + quoting)
    assert set(found.blocks) == {TITLE} and found.whole


def test_a_summary_is_not_what_the_user_typed() -> None:
    """It carries the id of the prompt that was being answered, and may quote what the user mentioned before."""
    asked = prompt("0", None, "see @web/app.js")
    summary = line(
        "user", "s", "b", promptId="p-0", isCompactSummary=True, message={"content": "They named @web/app.js"}
    )
    row = line("system", "b", None, subtype="compact_boundary", compactMetadata={})
    assert window(asked).typed == {"p-0"} and window(asked + row + summary).typed == set()
    assert prompts(asked + row + summary) == [("p-0", "see @web/app.js")]


@pytest.mark.parametrize("loader", [None, OLD, NEW])
def test_results_of_calls_made_at_once_are_all_there(loader: Loader | None) -> None:
    """Only the last one is an ancestor of what follows; the client takes every call's result."""
    data = (
        call("a1", None, "t1") + call("a2", "a1", "t2") + denied("r1", "a1", "t1", A) + denied("r2", "a2", "t2", B)
        + call("a3", "r2", "t3")
        + prompt("old", "a1", "a prompt that was taken back")
        + injection("i", "old", ours("/gone", "x")) + call("a4", "a3", "t4")
    )  # fmt: skip
    assert titles(data, loader) == {"/a", "/b"}


def test_rows_that_are_written_twice_count_once() -> None:
    """Older clients write the beginning of a conversation again before the row of a later compaction."""
    again = CHAIN + prompt("5", "4") + CHAIN + boundary("b", "5", "5")
    assert titles(again) == set()


# --- resumed ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("loader", [OLD, NEW])
def test_a_resume_follows_the_chain(loader: Loader) -> None:
    assert titles(CHAIN, loader) == {"/a"}
    assert titles(CHAIN + prompt("9", "0"), loader) == set()  # the person went back to before the injection


def test_what_is_beside_the_chain_is_put_back_by_newer_clients_only() -> None:
    beside = (
        CHAIN[: CHAIN.index(b'{"parentUuid":"1"')] + injection("5", "1", B) + CHAIN[CHAIN.index(b'{"parentUuid":"1"') :]
    )
    assert titles(beside, OLD) == {"/a"}
    assert titles(beside, NEW) == {"/a", "/b"}


@pytest.mark.parametrize("loader", [OLD, NEW])
def test_a_leaf_may_have_attachments_below_it(loader: Loader) -> None:
    """The client died after our hook had answered, before the model did."""
    cut = prompt("0", None) + call("1", "0", "t1") + result("2", "1", "t1")
    assert titles(cut + injection("3", "2", A) + injection("4", "3", B), loader) == {"/a", "/b"}


@pytest.mark.parametrize(
    "mark, expected",
    [
        ({"leafUuid": "4"}, {"/a", "/b"}),  # the conversation went on from there
        ({"leafUuid": "6"}, {"/a", "/b"}),
        ({"leafUuid": "x9"}, {"/a", "/b"}),  # names a row that is not there
        ({"leafUuid": "4", "explicit": True}, {"/a"}),
        ({"leafUuid": None, "explicit": True}, set()),  # all was taken back
    ],
)
def test_the_leaf_that_the_client_noted(mark: dict[str, Any], expected: set[str]) -> None:
    data = CHAIN + prompt("5", "4") + injection("6", "5", B) + answer("7", "6")
    noted = json.dumps({"type": "last-prompt", **mark}, separators=(",", ":")).encode() + b"\n"
    assert titles(data + noted, OLD) == expected


def test_a_noted_leaf_on_another_branch_is_taken() -> None:
    """Killed right after a rewind: the client has only noted where the old branch ended."""
    old = CHAIN + prompt("5", "4") + injection("6", "5", B) + answer("7", "6")
    noted = json.dumps({"type": "last-prompt", "leafUuid": "7"}, separators=(",", ":")).encode() + b"\n"
    assert titles(old + noted + prompt("8", "4"), OLD) == {"/a", "/b"}
