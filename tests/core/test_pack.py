from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handbill.core import pack

texts = st.text(alphabet=st.sampled_from(["a", "b", "\n", "é", "🙂", "ਊ", "Ā", " "]), max_size=1500)


def utf16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


@given(text=st.text())
def test_units_are_utf16_code_units(text: str) -> None:
    assert pack.units(text) == utf16(text)


@given(text=texts, room=st.integers(4, 700))
def test_split_loses_nothing_and_fits(text: str, room: int) -> None:
    pieces = pack.split(text, room)
    assert "".join(pieces) == text
    assert all(utf16(piece) <= room for piece in pieces)


@given(lines=st.lists(st.text(alphabet="abc ", max_size=60), max_size=300), room=st.integers(130, 900))
def test_split_makes_the_fewest_pieces(lines: list[str], room: int) -> None:
    text = "x" + "\n".join(lines)
    assert len(pack.split(text, room)) == -(-len(text) // room)


def test_split_cuts_at_line_ends_and_leaves_the_first_piece_small() -> None:
    text = "".join(f"line {number:04d} with some words in it\n" for number in range(400))
    pieces = pack.split(text, 5000)
    assert all(piece.endswith("\n") for piece in pieces)
    assert len(pieces[0]) < len(pieces[1])


@pytest.mark.parametrize(
    "path",
    ["/a/b.md", "/with space/x.md", "/a · b/c · 12345678.md", "/new\nline", '/q"uote', "/emoji🙂.md", "/back\\slash", "/part 1/2]"],
)  # fmt: skip
@pytest.mark.parametrize("part, parts", [(1, 1), (2, 7)])
def test_a_title_is_one_line_and_reads_back(path: str, part: int, parts: int) -> None:
    title = pack.title(path, "0123abcd", part, parts)
    assert "\n" not in title
    assert pack.read_title(title) == (pack.shown(path), "0123abcd", part, parts)


@given(path=st.text(min_size=1), part=st.integers(1, 50), more=st.integers(0, 50))
def test_every_title_reads_back(path: str, part: int, more: int) -> None:
    title = pack.title("/" + path, "0123abcd", part, part + more, pack.UPDATED)
    assert pack.read_title(title) == (pack.shown("/" + path), "0123abcd", part, part + more)


@pytest.mark.parametrize(
    "line", ["", "[Preloaded: ]", "[Preloaded: /a]", "[Preloaded: /a · zz]", "Preloaded: /a · 0123abcd", "[x: /a · 0123abcd]",
             "[Preloaded: /a · 0123abcd · part 3/2]", "[Preloaded: C:\\new\\x · 12345678]", "[Preloaded: /a · 1234567x]",
             "[Preloaded: /a · 12345678 · part 1/999999999999]"],
)  # fmt: skip
def test_other_lines_are_no_titles(line: str) -> None:
    assert pack.read_title(line) is None


def test_a_line_that_only_looks_escaped() -> None:
    assert pack.meant("/x\\new\\é") == "/x\\new\\é"


@given(text=texts.filter(bool), room=st.integers(400, 2000))
def test_parts_with_their_titles_fit(text: str, room: int) -> None:
    parts = pack.parts_of("/some/path.md", "0123abcd", text, room)
    for number, part in enumerate(parts, 1):
        whole = pack.block("/some/path.md", "0123abcd", part, number, len(parts), pack.UPDATED)
        assert utf16(whole) <= room


def test_a_name_that_leaves_no_room_is_refused() -> None:
    with pytest.raises(ValueError, match="name alone"):
        pack.parts_of("/" + "x" * 9400, "0123abcd", "y" * 9000, 9500)
