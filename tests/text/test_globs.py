from __future__ import annotations

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import DictWorld
from handbill.text.globs import MOST, expand, matches

FILES = dict.fromkeys(
    ("/p/a.md", "/p/b.txt", "/p/docs/one.md", "/p/docs/deep/two.md", "/p/.hidden/x.md", "/p/docs/.draft.md", "/q/a.md"), "x"
)  # fmt: skip


def found(pattern: str, files: dict[str, str] = FILES) -> list[str]:
    world = DictWorld(files)
    return expand([pattern], "/p", world.names, world.is_file).paths


@pytest.mark.parametrize(
    "pattern, expected",
    [
        ("a.md", ["/p/a.md"]),
        ("*.md", ["/p/a.md"]),
        ("docs/*.md", ["/p/docs/one.md"]),
        ("**/*.md", ["/p/a.md", "/p/docs/one.md", "/p/docs/deep/two.md"]),
        ("docs/**/t?o.md", ["/p/docs/deep/two.md"]),
        (".hidden/*.md", ["/p/.hidden/x.md"]),
        ("docs/.*.md", ["/p/docs/.draft.md"]),
        ("./a.md", ["/p/a.md"]),
        ("../q/a.md", []),
        ("docs/../../q/*.md", []),
        ("none/*", []),
        ("", []),
        ("docs", []),
    ],
)
def test_what_a_pattern_means(pattern: str, expected: list[str]) -> None:
    assert found(pattern) == expected


def test_there_is_an_end() -> None:
    assert len(found("*", {f"/p/{number:04}": "x" for number in range(1000)})) == MOST


@given(st.text("ab*?", max_size=8), st.text("ab", max_size=10))
def test_one_name_as_the_standard_library_matches_it(pattern: str, name: str) -> None:
    assert matches(name, pattern) == fnmatch.fnmatchcase(name, pattern)
