"""hotjson and json agree on which texts are valid JSON."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handbill import fast_json

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=30)
BOTH = [fast_json._build(), fast_json._fallback()]


@pytest.mark.parametrize("loads, dumps", BOTH)
@given(value=values)
def test_what_is_written_is_read(loads, dumps, value) -> None:  # type: ignore[no-untyped-def]
    assert json.loads(dumps(value)) == value
    assert loads(json.dumps(value)) == value
    assert loads(dumps(value)) == value


@given(value=values)
def test_both_write_the_same(value) -> None:  # type: ignore[no-untyped-def]
    (_, one), (_, other) = BOTH
    assert one(value) == other(value)


@given(text=st.text(alphabet='{}[]",:0123456789.eE+-truefalsn \n\\u', max_size=30))
def test_both_refuse_the_same(text: str) -> None:
    answers = []
    for loads, _ in BOTH:
        try:
            answers.append(repr(loads(text)))
        except ValueError:
            answers.append("refused")
    assert answers[0] == answers[1]


BROKEN = [
    "",
    " ",
    "{",
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,',
    '["x',
    '"\\u12',
    '{"v":1,"preloadedFi',
    "nul",
    "[1]x",
    "[" * 100_000,
]


@pytest.mark.parametrize("text", BROKEN)
def test_broken_text_in_a_process_without_json(text: str) -> None:
    """Here the C code lacks an exception class. A SystemError would lose the event."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\nfrom handbill.fast_json import loads\n"
        "assert 'json' not in sys.modules\n"
        "try: loads(sys.stdin.read())\nexcept (ValueError, RecursionError): print('refused')"
    )
    source = fast_json.__file__.rpartition("/handbill/")[0]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, source], input=text, capture_output=True, text=True, check=False
    )
    assert done.stdout == "refused\n", done.stderr
