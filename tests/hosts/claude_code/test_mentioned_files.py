"""Files that a prompt names with `@`."""

from __future__ import annotations

import pytest

from handbill.event import MENTIONS
from handbill.hosts.claude_code.mentioned_files import in_command, mentioned, mentions

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
    assert (whole.does, whole.id, whole.paths, whole.whole) == (MENTIONS, "prompt", ("/p/a",), True)
    assert (part.paths, part.whole) == (("/p/b",), False)


@pytest.mark.parametrize(
    "body, words, expected",
    [
        ("@a and @b.", "", ["/p/a", "/p/b"]),
        ("@$ARGUMENTS", "a b", ["/p/a"]),
        ("@$1 @$2 @$3", "a b", ["/p/a", "/p/b"]),
        ("@src/$1/x.py", "a", ["/p/src/a/x.py"]),
        ("@$10", "a b c d e f g h i j", ["/p/j"]),
        ("@$1", "$2 b", ["/p/$2"]),  # what an argument contains is not filled in
        ("@$x @$", "a", ["/p/$x", "/p/$"]),
        ("@$0", "a", []),
        ("@$100", "a", ["/p/$100"]),
        ("$1", "@a", []),  # the client attaches that as a part of the typed prompt
        (" ".join(f"@f{number}" for number in range(60)), "", [f"/p/f{number}" for number in range(40)]),
    ],
)
def test_what_the_body_of_a_command_mentions(body: str, words: str, expected: list[str]) -> None:
    found = in_command(body, words, "/p")
    assert [tool.paths for tool in found] == [(path,) for path in expected]
    assert all((tool.does, tool.id, tool.whole) == (MENTIONS, "", False) for tool in found)


@pytest.mark.parametrize("body, words", [("@$ARGUMENTS " * 5000, "x" * 100_000), ("@$1", "$2" * 12 + " " + "$3" * 12)])
def test_arguments_do_not_multiply(body: str, words: str) -> None:
    assert sum(len(path) for tool in in_command(body, words, "/p") for path in tool.paths) < 5000
