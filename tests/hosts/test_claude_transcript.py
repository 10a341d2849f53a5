from __future__ import annotations

import json
from typing import Any

import pytest

from handbill.core.event import PROMPT_SUBMITTED, Event
from handbill.core.pack import block
from handbill.hosts import claude_transcript as transcript
from handbill.hosts.claude_failures import failures
from makers import batch

A = block("/a", "0123abcd", "text\nof a")
B = block("/b", "0123abcd", "text of b", 2, 3)


def line(type: str, uuid: str, parent: str | None = None, **more: Any) -> bytes:
    return (
        json.dumps({"parentUuid": parent, "type": type, "uuid": uuid, **more}, separators=(",", ":")).encode() + b"\n"
    )


def injection(uuid: str, parent: str | None, *texts: str, kind: str = "hook_additional_context") -> bytes:
    return line("attachment", uuid, parent, attachment={"type": kind, "content": list(texts)})


def call(uuid: str, parent: str | None, id: str, **values: Any) -> bytes:
    blocks = [{"type": "tool_use", "id": id, "name": "Read", "input": values}]
    return line("assistant", uuid, parent, message={"content": blocks})


def result(uuid: str, parent: str | None, id: str) -> bytes:
    return line("user", uuid, parent, message={"content": [{"tool_use_id": id, "type": "tool_result"}]})


CLAIM = {"id": 1, "batch": "t1", "offset": 0, "at": 0.0, "items": [["/a", 1]]}
TITLE = ("/a", "0123abcd", 1, 1)


def test_an_injection_is_evidence_and_raw_output_is_not() -> None:
    found = transcript.evidence(injection("1", None, A + "\n\n" + B), [CLAIM], batch("t2"), records=True)
    assert found.arrived == {TITLE, ("/b", "0123abcd", 2, 3)}
    raw = injection("1", None, A, kind="hook_success")
    assert not transcript.evidence(raw, [CLAIM], batch("t2"), records=True).arrived


def test_a_preview_is_a_cut() -> None:
    found = transcript.evidence(injection("1", None, f"<persisted-output>\n{A}"), [CLAIM], batch("t2"), records=True)
    assert found.cut == {TITLE} and not found.arrived


def test_the_preview_of_another_hook_in_the_same_record_is_not_ours() -> None:
    data = injection("1", None, "<persisted-output>\nOutput too large\nsomebody else's", A)
    found = transcript.evidence(data, [CLAIM], batch("t2"), records=True)
    assert found.arrived == {TITLE} and not found.cut


def test_a_title_that_a_page_quotes_is_no_delivery() -> None:
    quoting = block("/doc", "0123abcd", f"as in:\n{A}")
    assert {
        name[0] for name in transcript.evidence(injection("1", None, quoting), [], batch("t2"), records=True).arrived
    } == {"/doc"}


@pytest.mark.parametrize(
    "tail, event, passed",
    [
        (b"", batch("t2"), False),
        (call("1", None, "t1"), batch("t2"), False),  # its own batch, written late
        (call("1", None, "t1") + result("2", "1", "t1"), batch("t2"), False),
        (call("1", None, "t1") + result("2", "1", "t1") + call("3", "2", "t2"), batch("t2"), True),
        (result("2", None, "t1") + line("assistant", "3", "2", message={}), Event(PROMPT_SUBMITTED, "s"), True),
        (call("1", None, "t1") + result("2", "1", "t1"), Event(PROMPT_SUBMITTED, "s"), False),
        (call("3", "2", "t2")[:-20], batch("t1"), False),
    ],
)
def test_passed(tail: bytes, event: Event, passed: bool) -> None:
    assert transcript.evidence(tail, [CLAIM], event, records=True).passed == ({1} if passed else set())


@pytest.mark.parametrize(
    "made_at, tail, passed",
    [
        ("session_started:startup:", line("assistant", "1"), True),
        ("session_started:startup:", line("user", "1"), False),
        ("session_started:compact:", line("assistant", "1"), False),  # may be older, flushed late
        ("prompt_submitted::p9", line("user", "1", promptId="p9") + line("assistant", "2", "1"), True),
        ("prompt_submitted::p9", line("assistant", "2") + line("user", "1", promptId="p9"), False),
    ],
)
def test_passed_for_claims_without_a_tool_call(made_at: str, tail: bytes, passed: bool) -> None:
    found = transcript.evidence(tail, [{**CLAIM, "batch": made_at}], Event(PROMPT_SUBMITTED, "s"), records=True)
    assert found.passed == ({1} if passed else set())


CHAIN = (
    call("1", None, "t1") + result("2", "1", "t1") + injection("3", "2", A) + line("assistant", "4", "3", message={})
)


def titles(data: bytes, siblings: bool = False) -> set[str]:
    return {name[0] for name in transcript.survivors(data, siblings=siblings, complete=True).titles}


@pytest.mark.parametrize("siblings", [True, False])
def test_results_of_calls_made_at_once_all_survive(siblings: bool) -> None:
    """Only the last one is an ancestor of what follows; the client takes every call's result."""

    def denied(uuid: str, parent: str, id: str, text: str) -> bytes:
        content = [
            {
                "tool_use_id": id,
                "type": "tool_result",
                "is_error": True,
                "content": f"[Held by Handbill] x\n\n{text}",
            }
        ]
        return line("user", uuid, parent, message={"content": content})

    data = (
        call("a1", None, "t1") + call("a2", "a1", "t2") + denied("r1", "a1", "t1", A) + denied("r2", "a2", "t2", B)
        + call("a3", "r2", "t3")
        + line("user", "old", "a1", message={"content": "a prompt that was taken back"})
        + injection("i", "old", block("/gone", "0123abcd", "x")) + call("a4", "a3", "t4")
    )  # fmt: skip
    assert titles(data, siblings) == {"/a", "/b"}


def test_survivors_are_on_the_chain_of_the_newest_leaf() -> None:
    assert titles(CHAIN) == {"/a"}
    rewound = CHAIN + line("user", "9", "2", message={})  # the person went back to before the injection
    assert titles(rewound) == set()
    beside = injection("5", "1", B) + CHAIN
    assert titles(beside) == {"/a"}
    assert titles(CHAIN + injection("5", "4", B), siblings=True) == {"/a", "/b"}


def boundary(head: str, tail: str) -> bytes:
    metadata = {"preservedSegment": {"headUuid": head, "tailUuid": tail}}
    return line("system", "b", None, subtype="compact_boundary", compactMetadata=metadata) + line(
        "user", "s", "b", message={}
    )


def test_after_a_compaction_only_the_preserved_tail_and_what_follows() -> None:
    before = injection("0", None, B) + CHAIN
    assert titles(before + boundary("1", "3")) == {"/a"}
    assert titles(before + boundary("1", "3"), siblings=True) == {"/a"}
    assert titles(before + boundary("1", "only in memory")) == set()
    assert titles(before + boundary("4", "4")) == set()
    kept = transcript.kept_tail(before + boundary("1", "3"), 0)
    assert kept is not None and set(kept.titles) == {TITLE} and kept.tools == ("t1",)


def test_no_boundary_no_judgement() -> None:
    assert transcript.kept_tail(CHAIN, 0) is None
    data = CHAIN + boundary("1", "3")
    assert transcript.kept_tail(data, len(data)) is None
    quoted = call("7", "s", "t7", text="compact_boundary")
    assert transcript.kept_tail(data + quoted, len(data)) is None


def test_a_tail_that_begins_before_what_was_read_is_not_complete() -> None:
    kept = transcript.kept_tail(CHAIN + boundary("long before", "3"), 0)
    assert kept is not None and not kept.complete


def test_calls_since_the_last_compaction() -> None:
    data = call("1", None, "t1", file_path="/x") + boundary("1", "1") + call("2", "s", "t2", file_path="/y")
    assert [found["id"] for found in transcript.calls(data)] == ["t2"]


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


def test_half_written_and_foreign_lines_are_passed_over() -> None:
    data = b'{"cut off' + b"\n" + b"\xff\xfe\n" + b"[1]\n" + CHAIN + injection("9", "4", B)[:-30]
    assert titles(data) == {"/a"}
