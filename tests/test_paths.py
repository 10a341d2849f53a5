from __future__ import annotations

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handbill import paths

words = st.lists(st.sampled_from(["a", "b c", ".", "..", "", "x.md", "🙂", "..."]), max_size=8)


@given(words=words)
def test_normal_agrees_with_posixpath(words: list[str]) -> None:
    path = "/" + "/".join(words)
    expected = posixpath.normpath(path)
    assert paths.normal(path) == (expected[1:] if expected.startswith("//") else expected)


@given(base=words, path=words)
def test_join_and_parent(base: list[str], path: list[str]) -> None:
    root = paths.normal("/" + "/".join(base))
    joined = paths.join(root, "/".join(path) or ".")
    assert joined == paths.normal(joined)
    assert paths.parent(joined) == posixpath.dirname(joined)
    assert paths.name(joined) == posixpath.basename(joined)


@pytest.mark.parametrize(
    "path, root, inside, rest",
    [
        ("/a/b", "/a", True, ["b"]), ("/a", "/a", True, []), ("/ab", "/a", False, None), ("/x", "/", True, ["x"]),
        ("/", "/", True, []), ("/a/b/c", "/a", True, ["b", "c"]), ("/", "/a", False, None),
        # The target is unknown.
        ("", "/", False, None), ("/a", "", False, None), ("", "", False, None),
    ],
)  # fmt: skip
def test_under_and_below(path: str, root: str, inside: bool, rest: list[str] | None) -> None:
    assert paths.under(path, root) is inside
    if rest is not None:
        assert paths.below(path, root) == rest
