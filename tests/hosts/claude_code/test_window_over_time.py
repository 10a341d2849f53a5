"""What is in a window after compactions, what the model went past, and what cannot be read."""

from __future__ import annotations

from typing import Any

import pytest
from transcript_lines import (
    CHAIN,
    NEW,
    OLD,
    B,
    answer,
    boundary,
    call,
    injection,
    line,
    ours,
    prompt,
    result,
    titles,
    window,
)

from handbill.digest import digest_of
from handbill.hosts.claude_code.chain import Loader
from handbill.hosts.claude_code.failed_hooks import failures
from handbill.hosts.claude_code.transcript import calls
from handbill.hosts.claude_code.window import content
from handbill.ledger.own_rows import OwnRows
from handbill.text.blocks import block, escaped, same_rules

# --- compacted -------------------------------------------------------------------------------------


BEFORE = injection("i", None, B) + prompt("0", "i") + CHAIN[len(prompt("0", None)) :]


@pytest.mark.parametrize("loader", [None, OLD, NEW])
@pytest.mark.parametrize(
    "row, expected",
    [
        (boundary("b", "1", "3"), {"/a"}),
        (boundary("b", "4", "4"), set()),
        (boundary("b", "1", "3", uuids=["1", "2", "3"]), {"/a"}),
        (boundary("b", "1", "3", uuids=["1", "2"]), set()),
        (boundary("b", "i", "0", anchor="b", uuids=["i", "0"]), {"/b"}),  # summarized from here: the beginning stays
        (line("system", "b", None, subtype="compact_boundary") + line("user", "s", "b", message={}), set()),
    ],
)
def test_after_a_compaction_what_it_kept_and_what_follows(
    row: bytes, expected: set[str], loader: Loader | None
) -> None:
    found = titles(BEFORE + row + injection("c", "s", ours("/c", "new")) + answer("z", "c"), loader)
    assert found == expected | {"/c"}


def test_a_running_client_has_what_it_kept_a_new_one_only_what_was_written() -> None:
    data = BEFORE + boundary("b", "1", "only in memory")
    assert titles(data) == {"/a"}
    assert titles(data, OLD) == set()


def test_only_the_newest_of_several_compactions_counts() -> None:
    first = BEFORE + boundary("b", "1", "3") + prompt("5", "s") + injection("6", "5", B) + answer("7", "6")
    second = first + boundary("bb", "7", "7", anchor="s2").replace(b'"uuid":"s"', b'"uuid":"s2"')
    assert titles(first) == {"/a", "/b"} and titles(second) == set()


def test_what_was_kept_may_begin_before_what_was_read() -> None:
    data = BEFORE + boundary("b", "1", "3")
    start = BEFORE.index(b'"uuid":"4"') - 40
    assert content(data[start:], start=start) is None
    found = window(data)
    assert found.boundary == len(BEFORE)


# --- what came before what -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data, batch, passed",
    [
        (b"", "t1", False),
        (call("1", None, "t1"), "t1", False),  # its own batch, written late
        (call("1", None, "t1") + result("2", "1", "t1"), "t1", False),
        (call("1", None, "t1") + result("2", "1", "t1") + call("3", "2", "t2"), "t1", True),
        (call("1", None, "t1") + result("2", "1", "t1") + answer("3", "2", model="<synthetic>"), "t1", False),
        (answer("1", None), "session_started:startup:", True),
        (answer("1", None, model="<synthetic>"), "session_started:resume:", False),
        (prompt("1", None), "session_started:startup:", False),
        (answer("1", None), "session_started:compact:", False),  # may be older, written late
        (answer("1", None) + boundary("b", "1", "1"), "session_started:compact:", False),
        (boundary("b", "", "") + answer("1", "s"), "session_started:compact:", True),
        (prompt("1", None) + answer("2", "1"), "session_started:compact:p-1", False),  # in the middle of a turn
        (prompt("1", None) + answer("2", "1"), "prompt_submitted::p-1", True),
        (prompt("1", None) + answer("2", "1"), "skill_expanded::p-1", True),
        (answer("2", None) + prompt("1", "2"), "prompt_submitted::p-1", False),
        (call("3", "2", "t2")[:-20], "t1", False),
    ],
)
def test_the_model_went_past_a_claim(data: bytes, batch: str, passed: bool) -> None:
    assert window(data).went_past({"batch": batch, "offset": 0}) is passed


def test_parallel_calls_are_passed_together() -> None:
    both = call("1", None, "t1") + call("2", "1", "t2").replace(b'"m-2"', b'"m-1"')
    data = both + result("3", "1", "t1") + result("4", "2", "t2")
    assert window(data).answered == set()
    assert window(data + answer("5", "4")).answered == {"t1", "t2"}


# --- records that cannot be read -------------------------------------------------------------------


def test_half_written_and_foreign_lines_are_passed_over() -> None:
    data = b'{"cut off' + b"\n" + b"\xff\xfe\n" + b"[1]\n" + CHAIN + injection("9", "4", B)[:-30]
    assert titles(data) == {"/a"}


def test_a_record_that_is_too_deep_costs_only_itself() -> None:
    uuid = "12345678-1234-1234-1234-123456789abc"
    deep = f'{{"parentUuid":"3","isSidechain":false,"type":"user","uuid":"{uuid}","toolUseResult":{"[" * 90000}{"]" * 90000}}}\n'
    data = CHAIN[: CHAIN.index(b'{"parentUuid":"3"')] + deep.encode() + injection("4", uuid, B)
    assert titles(data) == {"/a", "/b"}
    assert titles(data, OLD) == {"/a", "/b"}


def test_calls_since_the_last_compaction() -> None:
    data = call("1", None, "t1", file_path="/x") + boundary("b", "1", "1") + call("2", "s", "t2", file_path="/y")
    assert [found["id"] for found in calls(data)] == ["t2"]


def test_failures_of_our_hooks_only() -> None:
    def failed(uuid: str, kind: str, command: str, **more: Any) -> bytes:
        return line(
            "attachment", uuid, attachment={"type": kind, "command": command, "hookEvent": "PostToolBatch", **more}
        )

    data = (
        failed("1", "hook_non_blocking_error", "python -c handbill.hook", exitCode=1)
        + failed("2", "hook_cancelled", "python -c handbill.hook", timedOut=True, durationMs=3000)
        + failed("3", "hook_cancelled", "somebody else's")
        + failed("5", "hook_success", "python -c handbill.hook", exitCode=0)
        + failed("6", "hook_success", "python -c handbill.hook", exitCode=1)
        + line("user", "4", message={"content": "hook_cancelled handbill.hook"})
    )
    found = failures(data, b"handbill.hook")
    assert [(uuid, event) for uuid, event, _ in found] == [(name, "PostToolBatch") for name in "126"]
    assert "exit code 1" in found[0][2] and "3000 ms" in found[1][2]


# --- a second client writes to the same file ---------------------------------------------------------

BOTH = (
    CHAIN
    + prompt("a5", "4") + call("a6", "a5", "ta") + result("a7", "a6", "ta") + injection("a8", "a7", ours("/first", "x"))
    + prompt("b5", "4") + call("b6", "b5", "tb") + result("b7", "b6", "tb") + injection("b8", "b7", ours("/second", "x"))
)  # fmt: skip


@pytest.mark.parametrize(
    "own, expected",
    [
        ((), {"/a", "/second"}),
        ((["p-b5"],), {"/a", "/second"}),
        ((["ta"],), {"/a", "/first"}),
        ((["p-a5"],), {"/a", "/first"}),
        (([], ["ta"]), {"/a", "/first"}),
        ((["not written yet"], ["ta"]), {"/a", "/first"}),
        ((["tb"], ["ta"]), {"/a", "/second"}),
        ((["t1"],), {"/a", "/second"}),  # common to both: the newest row speaks
    ],
)
def test_a_window_is_the_branch_of_its_own_calls(own: tuple[list[str], ...], expected: set[str]) -> None:
    found = window(BOTH, own=OwnRows(own))
    assert {name[0] for name in found.blocks} == expected


# --- another hook's text ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, foreign",
    [
        (block("/a", digest_of("rules"), "rules"), False),
        (block("/a", digest_of("rules"), "other"), True),
        (block("/a", digest_of("x\n[Preloaded: y"), escaped("x\n[Preloaded: y")), False),
        (block("/a", digest_of("\\[Preloaded: y"), escaped("\\[Preloaded: y")), False),
        (block("/a", digest_of("rules"), same_rules("/b")), True),
        (block("/b", digest_of("rules"), "rules") + "\n\n" + block("/a", digest_of("rules"), same_rules("/b")), False),
        (block("/a", digest_of("rules"), "part", 1, 2), False),  # of a part nobody can tell
    ],
)
def test_a_block_whose_text_is_not_what_its_title_says(text: str, foreign: bool) -> None:
    found = content(prompt("p", None, "id") + injection("i", "p", text))
    assert found is not None and bool(found.blocks) is not foreign


def test_skills_that_the_client_puts_back_are_there() -> None:
    skills = [{"name": "x", "content": "Base directory for this skill: /s/x\n\n# x"}, "odd", {"content": 5}]
    row = line("attachment", "i", "p", attachment={"type": "invoked_skills", "skills": skills})
    found = content(prompt("p", None, "id") + row)
    assert found is not None and found.skills == ["/s/x"]
