"""Files that a prompt names with `@`."""

from __future__ import annotations

import pytest

from handbill.core.event import MENTION
from handbill.hosts.claude_mentions import mentioned, mentions

LONGEST = "a" * 4096


@pytest.mark.parametrize(
    "prompt, expected",
    [
        ("", []),
        ("nothing", []),
        ("@a", ["/p/a"]),
        ("see @a and @b", ["/p/a", "/p/b"]),
        ("see\n@a\t@b", ["/p/a", "/p/b"]),
        ("x@a", []),  # an address
        ("see x@a @b", ["/p/b"]),
        ("@ a", []),
        ("@", []),
        ("@a, @b. @c) @d'", ["/p/a", "/p/b", "/p/c", "/p/d"]),
        ("@/abs/a", ["/abs/a"]),
        ("@dir/", ["/p/dir"]),
        ("@/", ["/"]),
        ("@~/a", ["/h/a"]),
        ("@~a", ["/p/~a"]),
        ('@"two words" @b', ["/p/two words", "/p/b"]),
        ('@"a" b', ["/p/a"]),
        ('@"open', []),  # the quote is never closed
        ('@""', []),
        ('@"" "', []),
        ("@a\0b", []),
        ("@a\0b @c", ["/p/c"]),
        (f"@{LONGEST}", [f"/p/{LONGEST}"]),
        (f'@"{LONGEST}a"', []),
        (f'@"{LONGEST}"', [f"/p/{LONGEST}"]),
        ("@a @a", ["/p/a"]),
    ],
)
def test_names(prompt: str, expected: list[str]) -> None:
    assert [path for path, _ in mentioned(prompt, "/p", "/h")] == expected


def test_without_a_home_folder_a_tilde_is_a_name() -> None:
    assert mentioned("@~/a", "/p", "") == [("/p/~/a", False)]


@pytest.mark.parametrize(
    "prompt, path, ranged",
    [
        ("@a#L1-20", "/p/a", True),
        ("@a#L1-L20", "/p/a", True),
        ("@a#L7", "/p/a", True),
        ('@"a b#L7"', "/p/a b", True),
        ("@a#Lx", "/p/a#Lx", False),
        ("@a#L", "/p/a#L", False),
        ("@a#7", "/p/a#7", False),
        ("@7", "/p/7", False),
        ("@a#L1-20 @a", "/p/a", False),  # once in part, once whole: whole
        ("@a @a#L1-20", "/p/a", False),
        ("@a#L1 @a#L2", "/p/a", True),
    ],
)
def test_ranges_of_lines(prompt: str, path: str, ranged: bool) -> None:
    assert mentioned(prompt, "/p", "/h") == [(path, ranged)]


@pytest.mark.parametrize("number, found", [(39, 39), (40, 40), (41, 40)])
def test_the_number_of_names_is_limited(number: int, found: int) -> None:
    prompt = " ".join(f"@f{one}" for one in range(number))
    assert [path for path, _ in mentioned(prompt, "/p", "/h")] == [f"/p/f{one}" for one in range(found)]


def test_as_calls_a_range_reads_a_part() -> None:
    whole, part = mentions("@a @b#L1", "/p", "/h", "prompt")
    assert (whole.name, whole.id, whole.places, whole.values) == (MENTION, "prompt", ("/p/a",), {})
    assert (part.places, part.values) == (("/p/b",), {"limit": True})
