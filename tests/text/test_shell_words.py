from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handbill.text.shell_words import LONGEST, MOST, looks_like_path, plain_arguments


@pytest.mark.parametrize(
    "command, words",
    [
        ("cat src/a.py", ["cat", "src/a.py"]),
        ("cat 'with space/a.py' \"b c/d\"", ["cat", "with space/a.py", "b c/d"]),
        ("cat with\\ space/a.py", ["cat", "with space/a.py"]),
        ("ls -la --color=x src", ["ls", "src"]),
        ("cd src && make test; ls ../x|wc", ["cd", "src", "make", "test", "ls", "../x", "wc"]),
        ("cat $HOME/x `pwd`/y *.py a{b,c} ~/z", ["cat"]),
        ("cat \"$X/y\" '$X/y'", ["cat", "$X/y"]),
        ("echo hi > out/file.txt", ["echo", "hi", "out/file.txt"]),
        ("(cd sub\nls)", ["cd", "sub", "ls"]),
        ("cat 'unclosed", []),
        ("", []),
    ],
)
def test_plain_arguments(command: str, words: list[str]) -> None:
    found = plain_arguments(command)
    assert found == (["cat"] if command == "cat 'unclosed" else words)


def test_what_no_system_starts_is_not_read_to_the_end() -> None:
    assert plain_arguments("x" * (LONGEST - 4) + " a/b c/d") == ["x" * (LONGEST - 4), "a/b"]


@given(command=st.text())
def test_any_command_ends(command: str) -> None:
    assert len(plain_arguments(command)) <= MOST


@pytest.mark.parametrize(
    "word, is_path", [("src/a", True), ("a.py", True), (".", True), ("make", False), (".x", False)]
)
def test_looks_like_path(word: str, is_path: bool) -> None:
    assert looks_like_path(word) is is_path
