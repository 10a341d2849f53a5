"""What is in a window, by its transcript: live, and as each kind of loader rebuilds it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from handbill.core.content import Content
from handbill.core.pack import block
from handbill.hosts.claude_chain import Loader
from handbill.hosts.claude_failures import failures
from handbill.hosts.claude_transcript import calls
from handbill.hosts.claude_window import content

DIGEST = "0123456789abcdef"
A = block("/a", DIGEST, "text\nof a")
B = block("/b", DIGEST, "text of b", 2, 3)
TITLE = ("/a", DIGEST, 1, 1)
OLD, NEW = Loader(siblings=False), Loader(siblings=True)


def line(type: str, uuid: str, parent: str | None = None, **more: Any) -> bytes:
    return (
        json.dumps({"parentUuid": parent, "type": type, "uuid": uuid, **more}, separators=(",", ":")).encode() + b"\n"
    )


def injection(uuid: str, parent: str | None, *texts: str, kind: str = "hook_additional_context") -> bytes:
    return line("attachment", uuid, parent, attachment={"type": kind, "content": list(texts)})


def call(uuid: str, parent: str | None, id: str, name: str = "Read", **values: Any) -> bytes:
    blocks = [{"type": "tool_use", "id": id, "name": name, "input": values}]
    return line("assistant", uuid, parent, message={"id": f"m-{uuid}", "content": blocks})


def answer(uuid: str, parent: str | None, **message: Any) -> bytes:
    return line("assistant", uuid, parent, message={"id": f"m-{uuid}", "content": [], **message})


def result(uuid: str, parent: str | None, id: str, text: str = "", **more: Any) -> bytes:
    found = {"tool_use_id": id, "type": "tool_result", "content": text, **more}
    return line("user", uuid, parent, message={"content": [found]})


def prompt(uuid: str, parent: str | None, text: str = "go") -> bytes:
    return line("user", uuid, parent, promptId=f"p-{uuid}", message={"content": text})


def denied(uuid: str, parent: str, id: str, text: str, before: str = "") -> bytes:
    return result(uuid, parent, id, f"{before}[Held by Handbill] x\n\n{text}", is_error=True)


def window(data: bytes, loader: Loader | None = None, **more: Any) -> Content:
    found = content(data, loader, **more)
    assert found is not None
    return found


def titles(data: bytes, loader: Loader | None = None) -> set[str]:
    found = window(data, loader)
    return {name[0] for name in found.titles(found.denials)}


# --- what counts as ours ---------------------------------------------------------------------------


def test_an_injection_is_evidence_and_raw_output_is_not() -> None:
    assert set(window(injection("1", None, A + "\n\n" + B)).blocks) == {TITLE, ("/b", DIGEST, 2, 3)}
    assert not window(injection("1", None, A, kind="hook_success")).blocks


def test_a_preview_is_a_cut() -> None:
    found = window(injection("1", None, f"<persisted-output>\n{A}"))
    assert found.cut == {TITLE} and not found.blocks


def test_the_preview_of_another_hook_in_the_same_row_is_not_ours() -> None:
    found = window(injection("1", None, "<persisted-output>\nOutput too large\nsomebody else's", A))
    assert set(found.blocks) == {TITLE} and not found.cut


def test_a_title_that_a_page_quotes_is_no_delivery() -> None:
    assert titles(injection("1", None, block("/doc", DIGEST, f"as in:\n\n{A}"))) == {"/doc"}


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


# --- live ------------------------------------------------------------------------------------------

CHAIN = prompt("0", None) + call("1", "0", "t1") + result("2", "1", "t1") + injection("3", "2", A) + answer("4", "3")


def test_a_live_window_holds_what_was_written() -> None:
    found = window(CHAIN)
    assert set(found.blocks) == {TITLE} and found.calls == ["t1"] and found.whole
    assert titles(CHAIN + injection("5", "1", B)) == {"/a", "/b"}  # beside the chain


def test_a_rewind_takes_what_came_after_it() -> None:
    went_on = CHAIN + prompt("5", "4") + injection("6", "5", B) + answer("7", "6")
    assert titles(went_on) == {"/a", "/b"}
    assert titles(went_on + prompt("8", "4")) == {"/a"}
    assert titles(went_on + prompt("8", None)) == set()


@pytest.mark.parametrize("loader", [None, OLD, NEW])
def test_results_of_calls_made_at_once_are_all_there(loader: Loader | None) -> None:
    """Only the last one is an ancestor of what follows; the client takes every call's result."""
    data = (
        call("a1", None, "t1") + call("a2", "a1", "t2") + denied("r1", "a1", "t1", A) + denied("r2", "a2", "t2", B)
        + call("a3", "r2", "t3")
        + prompt("old", "a1", "a prompt that was taken back")
        + injection("i", "old", block("/gone", DIGEST, "x")) + call("a4", "a3", "t4")
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


# --- compacted -------------------------------------------------------------------------------------


def boundary(uuid: str, head: str, tail: str, anchor: str = "s", uuids: list[str] | None = None) -> bytes:
    metadata: dict[str, Any] = {"preservedSegment": {"headUuid": head, "anchorUuid": anchor, "tailUuid": tail}}
    if uuids is not None:
        metadata["preservedMessages"] = {"anchorUuid": anchor, "uuids": uuids}
    row = line("system", uuid, None, subtype="compact_boundary", compactMetadata=metadata)
    return row + line("user", "s", uuid, isCompactSummary=True, message={"content": "summary"})


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
    found = titles(BEFORE + row + injection("c", "s", block("/c", DIGEST, "new")) + answer("z", "c"), loader)
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
    + prompt("a5", "4") + call("a6", "a5", "ta") + result("a7", "a6", "ta") + injection("a8", "a7", block("/first", DIGEST, "x"))
    + prompt("b5", "4") + call("b6", "b5", "tb") + result("b7", "b6", "tb") + injection("b8", "b7", block("/second", DIGEST, "x"))
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
    found = window(BOTH, own=own)
    assert {name[0] for name in found.blocks} == expected
