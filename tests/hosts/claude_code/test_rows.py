"""Rows of a transcript, one function at a time. What they make together: test_claude_chain, test_claude_window."""

from __future__ import annotations

import json
from typing import Any

import pytest

from handbill.hosts.claude_code import rows

U1, U2, U3 = (f"{number}1111111-1111-1111-1111-111111111111" for number in (1, 2, 3))


def line(**values: Any) -> bytes:
    return json.dumps(values, separators=(",", ":")).encode() + b"\n"


def row(uuid: str, parent: str | None = None, type: str = "user", **values: Any) -> bytes:
    return line(parentUuid=parent, type=type, uuid=uuid, **values)


@pytest.mark.parametrize(
    "text, expected",
    [(b'{"a":1}', {"a": 1}), (b'{"a":', None), (b"[1]", None), (b"5", None), (b"[" * 100_000, None), (b'{"a":"\xff"}', {"a": "\ufffd"})],
)  # fmt: skip
def test_a_record(text: bytes, expected: dict[str, Any] | None) -> None:
    assert rows.record_of(text) == expected


@pytest.mark.parametrize(
    "data, found",
    [
        (b'{"x":1}\n{"x":2}\n', [1, 2]),
        (b'{"x":1}\n{"y":2}\n{"x":3}\n', [1, 3]),
        (b'{"x":1}\n{"x":2}', [1]),  # being written
        (b'{"x":1', []),
        (b'{"x":1,\n{"x":2}\n', [2]),  # half of one
        (b'{"x":{"x":4}}\n', [{"x": 4}]),  # once per line
        (b"", []),
    ],
)
def test_records_with_a_marker(data: bytes, found: list[Any]) -> None:
    assert [record["x"] for record in rows.records_with(data, b'"x"')] == found


def test_a_marker_at_the_very_beginning() -> None:
    assert list(rows.records_with(b'{"x":1}\n', b'{"x"')) == [{"x": 1}]


@pytest.mark.parametrize(
    "message, blocks",
    [
        ({"content": "words"}, [{"type": "text", "text": "words"}]),
        ({"content": [{"type": "text", "text": "a"}, "odd", 5, {"type": "image"}]}, [{"type": "text", "text": "a"}, {"type": "image"}]),
        ({"content": None}, []), ({"content": 5}, []), ({}, []), ("words", []), (None, []),
    ],
)  # fmt: skip
def test_blocks_of_a_message(message: Any, blocks: list[Any]) -> None:
    assert rows.blocks_of({"message": message}) == blocks


@pytest.mark.parametrize(
    "message, id", [({"id": "m1"}, "m1"), ({"id": 5}, ""), ({}, ""), ("words", ""), (None, "")]
)  # fmt: skip
def test_the_id_of_a_message(message: Any, id: str) -> None:
    assert rows.message_id({"message": message}) == id


RESULT = {"content": [{"type": "tool_result"}]}
CALL = {"type": "tool_use", "id": "t1"}


@pytest.mark.parametrize(
    "values, expected",
    [
        ({"type": "user", "message": RESULT}, True), ({"type": "assistant", "message": RESULT}, False),
        ({"type": "user", "message": {"content": "x"}}, False), ({"type": "user"}, False),
    ],
)  # fmt: skip
def test_a_result(values: dict[str, Any], expected: bool) -> None:
    assert rows.has_result(values) is expected


@pytest.mark.parametrize(
    "values, expected",
    [
        ({"type": "assistant", "message": {"model": "m"}}, True), ({"type": "assistant", "message": "odd"}, True),
        ({"type": "assistant", "message": {"model": "<synthetic>"}}, False), ({"type": "user", "message": {}}, False),
    ],
)  # fmt: skip
def test_an_answer_of_the_model(values: dict[str, Any], expected: bool) -> None:
    assert rows.is_answer(values) is expected


@pytest.mark.parametrize(
    "attachment, expected",
    [
        ({"type": "queued_command", "commandMode": "prompt", "prompt": "see @a"}, ("u1", "see @a")),
        ({"type": "queued_command", "commandMode": "task-notification", "prompt": "see @a"}, ("", "")),
        ({"type": "queued_command", "commandMode": "prompt", "prompt": ["see @a"]}, ("", "")),
        ({"type": "file", "commandMode": "prompt", "prompt": "see @a"}, ("", "")),
        ("odd", ("", "")),
    ],
)
def test_a_prompt_that_joined_the_running_turn(attachment: Any, expected: tuple[str, str]) -> None:
    assert rows.joined_prompt({"type": "attachment", "uuid": "u1", "attachment": attachment}) == expected
    assert rows.joined_prompt({"type": "attachment", "uuid": 5, "attachment": attachment}) == ("", "")


@pytest.mark.parametrize(
    "values, texts",
    [
        ({"type": "user", "message": {"content": "words"}}, ["words"]),
        ({"type": "system", "message": {"content": "words"}}, ["words"]),
        ({"type": "user", "isMeta": True, "message": {"content": "a command's body"}}, []),
        ({"type": "user", "isMeta": False, "message": {"content": "words"}}, ["words"]),
        ({"type": "user", "isCompactSummary": True, "message": {"content": "a summary"}}, []),
        ({"type": "assistant", "message": {"content": "words"}}, []),
        ({"type": "user", "message": {"content": [{"text": "a"}, {"text": 5}, {"text": "b"}]}}, ["a", "b"]),
    ],
)
def test_what_the_user_typed(values: dict[str, Any], texts: list[str]) -> None:
    assert rows.typed_in(values) == texts


@pytest.mark.parametrize(
    "values, boundary, message",
    [
        ({"type": "system", "subtype": "compact_boundary"}, True, False),
        ({"type": "user", "subtype": "compact_boundary"}, False, True),
        ({"type": "system", "subtype": "turn_duration"}, False, False),
        ({"type": "assistant"}, False, True), ({"type": "attachment"}, False, False),
    ],
)  # fmt: skip
def test_kinds_of_rows(values: dict[str, Any], boundary: bool, message: bool) -> None:
    assert (rows.is_boundary(values), rows.is_message(values)) == (boundary, message)


@pytest.mark.parametrize(
    "type, blocks, ids",
    [
        ("assistant", [CALL, {"type": "tool_use", "id": 5}, {"type": "tool_use"}, {"type": "text", "id": "x"}], ["t1"]),
        ("user", [CALL], []),
        ("assistant", [CALL, {**CALL, "id": "t2"}], ["t1", "t2"]),
    ],
)
def test_calls_in_a_row(type: str, blocks: list[Any], ids: list[str]) -> None:
    assert [one["id"] for one in rows.calls_in({"type": type, "message": {"content": blocks}})] == ids


@pytest.mark.parametrize("value, expected", [({"a": 1}, {"a": 1}), ("odd", {}), (None, {})])
def test_an_attachment(value: Any, expected: dict[str, Any]) -> None:
    assert rows.attachment_of({"attachment": value}) == expected


def test_rows_have_a_place_and_a_parent() -> None:
    first, second = row(U1), row(U2, U1)
    found = rows.read(first + second)
    assert list(found.by_id) == [U1, U2] and found.parent == {U1: "", U2: U1} and found.last == U2
    assert found.at == {U1: 0, U2: len(first)}


def test_the_first_copy_of_a_row_has_the_place_and_the_last_one_the_content() -> None:
    found = rows.read(row(U1, kind="old") + row(U2, U1) + row(U1, kind="new"))
    assert found.at[U1] == 0 and found.by_id[U1]["kind"] == "new" and list(found.by_id) == [U1, U2]


@pytest.mark.parametrize("start, places", [(0, {U1: 0}), (500, {U2: 500})])
def test_a_part_of_a_file_begins_with_a_line_that_is_cut(start: int, places: dict[str, int]) -> None:
    first = row(U1)
    found = rows.read(first + row(U2, U1) if start else first, start)
    assert found.at == ({U2: start + len(first)} if start else places)


@pytest.mark.parametrize(
    "data, ids",
    [
        (row(U1) + row(U2, U1)[:-1], [U1]),  # being written
        (row(U1) + b"\n" + row(U2, U1), [U1, U2]),
        (b'{"type":"api-request","uuid":"' + U1.encode() + b'"}\n' + row(U2), [U2]),
        (line(type="user", uuid=5) + row(U2), [U2]),
        (b"", []),
    ],
)
def test_lines_that_are_passed_over(data: bytes, ids: list[str]) -> None:
    assert list(rows.read(data).by_id) == ids


def test_the_conversation_leads_through_rows_of_other_types() -> None:
    found = rows.read(row(U1) + row("p1", U1, "progress") + row("p2", "p1", "progress") + row(U2, "p2"))
    assert list(found.by_id) == [U1, U2] and found.parent[U2] == U1


@pytest.mark.parametrize(
    "damage, kept",
    [
        (lambda text: text.replace(b'"x"', b'"x'), True),  # not JSON any more
        (lambda text: text.replace(U2.encode(), b"short").replace(b'"x"', b'"x'), False),
    ],
)
def test_of_a_row_that_cannot_be_read_its_place_in_the_chain_is_kept(damage: Any, kept: bool) -> None:
    found = rows.read(row(U1) + damage(row(U2, U1, "assistant", message="x")) + row(U3, U2))
    assert (found.parent.get(U2) == U1) is kept and found.parent[U3] == U2
    if kept:
        assert found.by_id[U2]["type"] == "assistant" and found.by_id[U2]["isSidechain"] is False


@pytest.mark.parametrize("agent, last", [(False, U1), (True, U2)])
def test_the_newest_row_of_a_window_is_not_of_a_side_chain(agent: bool, last: str) -> None:
    assert rows.read(row(U1) + row(U2, U1, isSidechain=True), agent=agent).last == last


def leaf(**values: Any) -> bytes:
    return line(type="last-prompt", **values)


BOUNDARY = row("b", None, "system", subtype="compact_boundary")


@pytest.mark.parametrize(
    "data, checkpoint, explicit, cleared",
    [
        (leaf(leafUuid="x"), "x", False, False),
        (leaf(leafUuid="x", explicit=True), "x", True, False),
        (leaf(leafUuid="x", explicit=True) + leaf(leafUuid="x"), "x", True, False),  # said again
        (leaf(leafUuid="x", explicit=True) + leaf(leafUuid="y"), "y", False, False),
        (leaf(leafUuid="x", explicit=True) + row(U1), "x", False, False),
        (leaf(leafUuid="x", explicit=True) + row(U1, isSidechain=True), "x", True, False),
        (leaf(leafUuid="x") + BOUNDARY, "", False, False),
        (leaf(explicit=True), "", False, True),
        (leaf(leafUuid="x") + leaf(explicit=True), "", False, True),
        (leaf(explicit=True) + leaf(leafUuid="x"), "x", False, False),
        (leaf(explicit=True) + row(U1), "", False, False),
        (leaf(leafUuid="x") + leaf(), "x", False, False),
        (leaf(leafUuid="") + leaf(leafUuid=5), "", False, False),
        (line(type="other", leafUuid="x", text='"last-prompt"'), "", False, False),
    ],
)
def test_the_leaf_that_the_client_wrote_down(data: bytes, checkpoint: str, explicit: bool, cleared: bool) -> None:
    found = rows.read(data)
    assert (found.checkpoint, found.explicit, found.cleared) == (checkpoint, explicit, cleared)


DATA = b'{"uuid":"a","parentUuid":"x"}\n{"uuid":"b","text":"\\"uuid\\":\\"c\\""}\n{"uuid":"c"}\n'


@pytest.mark.parametrize(
    "uuids, end, found",
    [
        (["a"], len(DATA), DATA.find(b'"uuid":"a')), (["c", "b"], len(DATA), DATA.find(b'"uuid":"b')),
        (["c"], len(DATA), DATA.rfind(b'"uuid":"c')), (["c"], 10, 10), (["x"], len(DATA), len(DATA)), ([], 7, 7),
    ],
)  # fmt: skip
def test_the_first_of_some_rows(uuids: list[str], end: int, found: int) -> None:
    assert rows.first_of(DATA, uuids, end) == found


NOTED = b'{"type":"last-prompt","leafUuid":"x"}\n'


@pytest.mark.parametrize(
    "data, checkpoint, explicit, cleared",
    [
        (NOTED, "x", False, False),
        (NOTED * 2, "x", False, False),  # noted again, and still by the client itself
        (b'{"type":"last-prompt","leafUuid":"x","explicit":true}\n' + NOTED, "x", True, False),
        (b'{"type":"last-prompt","leafUuid":"","explicit":true}\n', "", False, True),
        (b'{"type":"last-prompt","leafUuid":"x\n', "", False, False),  # half of a row
        (b'{"type":"other","note":"last-prompt","leafUuid":"x"}\n', "", False, False),
    ],
)
def test_the_leaf_that_a_client_notes(data: bytes, checkpoint: str, explicit: bool, cleared: bool) -> None:
    found = rows.read(data)
    assert (found.checkpoint, found.explicit, found.cleared) == (checkpoint, explicit, cleared)


def test_a_row_without_a_name_of_its_own() -> None:
    assert not rows.read(b'{"type":"user","toolUseResult":{"uuid":"inner"}}\n').by_id


@pytest.mark.parametrize("kept, before", [(["k"], "k"), (["gone"], "logical"), ([], "logical")])
def test_what_a_compaction_follows(kept: list[str], before: str) -> None:
    first = b'{"type":"user","uuid":"k"}\n'
    metadata = {"preservedMessages": {"uuids": kept}}
    row = {"type": "system", "subtype": "compact_boundary", "compactMetadata": metadata, "logicalParentUuid": "logical"}
    data = first + json.dumps({**row, "uuid": "b"}, separators=(",", ":")).encode() + b"\n"
    assert rows.read(data).before == {"b": before}
