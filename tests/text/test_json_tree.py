from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handbill.text.json_tree import NotJson, Value, parse, without_gaps

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)


def rebuilt(text: str, value: Value) -> Any:
    """The value that a tree describes."""
    if value.kind == "{":
        return {item.key: rebuilt(text, item.value) for item in value.items}
    if value.kind == "[":
        return [rebuilt(text, item.value) for item in value.items]
    return json.loads(text[value.start : value.end])


@given(value=values, indent=st.sampled_from([None, 0, 3, "\t"]), ascii_only=st.booleans())
def test_the_tree_describes_the_value(value: Any, indent: Any, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert rebuilt(text, parse(text)) == value
    assert without_gaps(text) == json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"))


@given(text=st.text(alphabet='{}[]",:\\ \n01-.eEtrufalsn/x', max_size=14))
def test_what_is_accepted_is_what_python_accepts(text: str) -> None:
    """But for the names of numbers that JSON does not have, which this alphabet cannot spell."""
    try:
        wanted = json.loads(text)
    except ValueError:
        with pytest.raises(NotJson):
            parse(text)
    else:
        assert rebuilt(text, parse(text)) == wanted


@pytest.mark.parametrize(
    "text, place, why",
    [
        ("", (1, 1), "expected a value, but the file ends"),
        ("// mine\n{}", (1, 1), "a comment, which JSON does not have"),
        ('{\n  "a": 1, /* x */\n  "b": 2}', (2, 11), "a comment, which JSON does not have"),
        ('{"a": 1 // x\n}', (1, 9), "a comment, which JSON does not have"),
        ('{"a": [1,\n]}', (2, 1), "a comma before ], which JSON does not allow"),
        ('{"a": 1, }', (1, 10), "a comma before }, which JSON does not allow"),
        ('{"a" 1}', (1, 6), "expected a colon"),
        ("{a: 1}", (1, 2), "expected a key in double quotes"),
        ('{"a": 1 "b": 2}', (1, 9), "expected a comma or }"),
        ("[1", (1, 3), "expected a comma or ], but the file ends"),
        ("[NaN]", (1, 2), "expected a value"),
        ("[01]", (1, 3), "expected a comma or ]"),
        ("[-]", (1, 3), "expected a digit"),
        ("[1.]", (1, 4), "expected a digit"),
        ('["a', (1, 2), "a string without an end"),
        ('["a\tb"]', (1, 4), "a line break or another control character in a string"),
        ('["\\x"]', (1, 3), "an escape that JSON does not have (\\x)"),
        ('["\\u12g4"]', (1, 3), "an escape that JSON does not have (\\u)"),
        ("{}\n{}", (2, 1), "expected the end of the file"),
        ("\f{}", (1, 1), "expected a value"),
    ],
)
def test_what_a_client_does_not_read_is_refused_with_its_place(text: str, place: tuple[int, int], why: str) -> None:
    with pytest.raises(NotJson) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column, caught.value.why) == (*place, why)


def test_what_a_client_reads_although_it_is_odd() -> None:
    text = '\ufeff\r\n { "\\u0068oo\\u006bs" : [ ] ,"n":' + "9" * 5000 + ',"hooks":1,"s":"\\ud800" }\t'
    root = parse(text)
    assert [item.key for item in root.items] == ["hooks", "n", "hooks", "s"]
    last = root.member("hooks")
    assert last is not None and text[last.start : last.end] == "1", "the last one counts"
    assert root.member("gone") is None


def test_no_depth_is_too_deep() -> None:
    text = "[" * 50_000 + "]" * 50_000
    assert parse(text).end == len(text)
    with pytest.raises(NotJson):
        parse("[" * 50_000)
