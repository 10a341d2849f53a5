from __future__ import annotations

import json

import pytest

from builders import window
from handbill.fast_json import dumps, loads
from handbill.ledger.window import SCHEMA, TooNew, Window, from_text, to_text


def read(text: str) -> Window:
    return from_text(text, loads, dumps)


def test_there_and_back() -> None:
    record = {"parts": "k", "via": "x"}
    before = window(
        files={"/a": record, '/b\n"': record}, pending={"/b": "why"}, touched={"/p": ["AGENTS.md"]}, epoch=3
    )
    after = read(to_text(before, dumps))
    assert all(getattr(before, slot) == getattr(after, slot) for slot in Window.__slots__)
    assert to_text(after, dumps) == to_text(before, dumps)


def test_one_line_of_fields_with_the_names_of_the_source_documents_then_one_per_file() -> None:
    text = to_text(window(files={"/a": {"parts": "k", "via": "x"}}, touched={"/p": ["AGENTS.md"]}), dumps)
    head, *files, gap, touched = text.splitlines()
    assert gap == "" and json.loads(touched) == {"dir": "/p", "found": ["AGENTS.md"]}
    assert json.loads(head)["v"] == SCHEMA
    assert {"pendingPreloads", "lifecycle"} <= json.loads(head).keys()
    assert [json.loads(line)["path"] for line in files] == ["/a"]


@pytest.mark.parametrize("files", [{}, {"/a": {"parts": "k", "via": "x"}}])
@pytest.mark.parametrize("touched", [{}, {"/p": []}, {"/p": ["x"], "/q": []}])
def test_empty_parts(files: dict[str, dict[str, str]], touched: dict[str, list[str]]) -> None:
    before = window(files=files, touched=touched)
    after = read(to_text(before, dumps))
    assert after.files == before.files and after.touched == before.touched


WHOLE = to_text(window(files={"/a": {"parts": "k", "via": "x"}, "/b": {"parts": "k", "via": "x"}}), dumps)


@pytest.mark.parametrize(
    "text", ["", "null", "[]", '"x"', "7", "{}\n\n\n", '{"v":0}\n\n\n', '{"v":"1"}\n', '{"v":-1}\n', '{"v":true}\n', '{"v":1,"epoch":"x"}\n', '{"v":1}',
             '{"v":1}\ngarbage\n', '{"v":1}\n{"path":"/a"\n', WHOLE[:-1], WHOLE[:-9], WHOLE[: WHOLE.rfind('{"path"') + 3] + "\n", '{"v":1}\n'],
)  # fmt: skip
def test_what_is_no_window_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read(text)


def test_a_newer_schema_is_not_touched() -> None:
    with pytest.raises(TooNew):
        read(dumps({"v": SCHEMA + 1}) + "\n")
