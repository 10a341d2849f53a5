from __future__ import annotations

import pytest

from handbill.core.budget import taken, tokens


@pytest.mark.parametrize(
    "text, expected", [("", 0), ("a" * 43, 10), ("é" * 20, 17), ("🚨" * 10, 8), ("a" * 43 + "é" * 20, 27)]
)
def test_tokens(text: str, expected: int) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    "sizes, budget, expected",
    [
        ([("a", 5), ("b", 5)], 10, ["a", "b"]),
        ([("a", 5), ("b", 6), ("c", 5)], 10, ["a", "c"]),
        ([("a", 11), ("b", 1)], 10, ["b"]),
        ([("a", 0)], 0, ["a"]),
        ([], 10, []),
    ],
)
def test_the_most_important_first_and_what_still_fits(
    sizes: list[tuple[str, int]], budget: int, expected: list[str]
) -> None:
    assert taken(sizes, budget) == expected
