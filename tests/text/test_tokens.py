from __future__ import annotations

from pathlib import Path

import pytest

from handbill.text.tokens import taken, tokens

TEXTS = Path(__file__).parents[2] / "bench" / "texts"


@pytest.mark.parametrize(
    "text, expected", [("", 0), ("   ", 0), ("a" * 10, 3), ("A1.", 3), ("🚨" * 10, 30), ("\ud800", 1)]
)
def test_tokens(text: str, expected: int) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    "name, counted",  # the larger count of two public tokenizers, by bench/run.py tokens
    [
        ("english.txt", 101), ("german.txt", 153), ("polish.txt", 166), ("greek.txt", 344), ("thai.txt", 444),
        ("chinese.txt", 119), ("korean.txt", 158), ("emoji.md", 99), ("table.md", 175), ("python.txt", 200),
        ("minified.txt", 187), ("shell.sh", 133), ("base64.txt", 226), ("data.json", 257),
    ],
)  # fmt: skip
def test_the_estimate_is_not_too_low(name: str, counted: int) -> None:
    assert counted <= tokens((TEXTS / name).read_text(encoding="utf-8")) <= 1.7 * counted


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
