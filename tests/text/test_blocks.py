from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handbill.text import blocks

DIGEST = "0123456789abcdef"
texts = st.text(alphabet=st.sampled_from(["a", "b", "\n", "é", "🙂", "ਊ", "Ā", " "]), max_size=1500)


def utf16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


@given(text=st.text())
def test_units_are_utf16_code_units(text: str) -> None:
    assert blocks.units(text) == utf16(text)


@given(text=texts, room=st.integers(4, 700))
def test_split_loses_nothing_and_fits(text: str, room: int) -> None:
    pieces = blocks.split(text, room)
    assert "".join(pieces) == text
    assert all(utf16(piece) <= room for piece in pieces)


@given(lines=st.lists(st.text(alphabet="abc ", max_size=60), max_size=300), room=st.integers(130, 900))
def test_split_makes_the_fewest_pieces(lines: list[str], room: int) -> None:
    text = "x" + "\n".join(lines)
    assert len(blocks.split(text, room)) == -(-len(text) // room)


def test_split_cuts_at_line_ends_and_leaves_the_first_piece_small() -> None:
    text = "".join(f"line {number:04d} with some words in it\n" for number in range(400))
    pieces = blocks.split(text, 5000)
    assert all(piece.endswith("\n") for piece in pieces)
    assert len(pieces[0]) < len(pieces[1])


@pytest.mark.parametrize(
    "path",
    ["/a/b.md", "/with space/x.md", "/a · b/c · 12345678.md", "/new\nline", '/q"uote', "/emoji🙂.md", "/back\\slash", "/part 1/2]"],
)  # fmt: skip
@pytest.mark.parametrize("part, parts", [(1, 1), (2, 7)])
def test_a_title_is_one_line_and_reads_back(path: str, part: int, parts: int) -> None:
    title = blocks.title(path, DIGEST, 12, part, parts)
    assert "\n" not in title
    assert blocks.read_title(title) == (blocks.shown(path), DIGEST, part, parts)


@given(path=st.text(min_size=1), part=st.integers(1, 50), more=st.integers(0, 50))
def test_every_title_reads_back(path: str, part: int, more: int) -> None:
    title = blocks.title("/" + path, DIGEST, 0, part, part + more, blocks.UPDATED)
    assert blocks.read_title(title) == (blocks.shown("/" + path), DIGEST, part, part + more)


@pytest.mark.parametrize(
    "line", ["", "[Preloaded: ]", "[Preloaded: /a]", "[Preloaded: /a · zz]", f"Preloaded: /a · {DIGEST} · 3", f"[x: /a · {DIGEST} · 3]",
             f"[Preloaded: /a · {DIGEST} · 3 · part 3/2]", f"[Preloaded: C:\\new\\x · {DIGEST} · 3]", f"[Preloaded: /a · {DIGEST[1:]}x · 3]",
             f"[Preloaded: /a · {DIGEST} · 3 · part 1/999999999999]", f"[Preloaded: /a · {DIGEST}]", f"[Preloaded: /a · {DIGEST} · three]",
             "[Preloaded: /a · 0123abcd · 3]"],
)  # fmt: skip
def test_other_lines_are_no_titles(line: str) -> None:
    assert blocks.read_title(line) is None


def test_a_line_that_only_looks_escaped() -> None:
    assert blocks.meant("/x\\new\\é") == "/x\\new\\é"


@given(text=texts.filter(bool), room=st.integers(400, 2000))
def test_parts_with_their_titles_fit(text: str, room: int) -> None:
    parts = blocks.parts_of("/some/path.md", DIGEST, text, room)
    for number, part in enumerate(parts, 1):
        whole = blocks.block("/some/path.md", DIGEST, part, number, len(parts), blocks.UPDATED)
        assert utf16(whole) <= room


def test_a_name_that_leaves_no_room_is_refused() -> None:
    with pytest.raises(ValueError, match="path is too long"):
        blocks.parts_of("/" + "x" * 9400, DIGEST, "y" * 9000, 9500)


TEXTS = [("/a", "one"), ("/b", "two\n\n[Preloaded: /c · 0123456789abcdef · 1]\nx"), ("/d", "")]


def joined(texts: list[tuple[str, str]]) -> str:
    return blocks.BETWEEN.join(blocks.block(path, DIGEST, text) for path, text in texts)


def test_blocks_are_read_by_their_length() -> None:
    """Nothing that a page says makes a block of its own, even where nobody escaped it."""
    found = blocks.bodies_in(joined(TEXTS))
    assert [(title[0], text) for title, text in found] == TEXTS


@pytest.mark.parametrize(
    "text, found",
    [
        ("", 0), ("text\n\n" + joined(TEXTS), 0), (joined(TEXTS)[:-1], 2), (joined(TEXTS[:1])[:-1], 0),
        (joined(TEXTS[:1]) + "x\n\n" + joined(TEXTS[2:]), 1),
    ],
)  # fmt: skip
def test_what_is_cut_off_or_stands_elsewhere_is_no_block(text: str, found: int) -> None:
    assert len(blocks.bodies_in(text)) == found


@given(pages=st.lists(st.text(alphabet="[]Prelodated: /·\n0123456789abcdef", max_size=80), max_size=4))
def test_any_pages_read_back(pages: list[str]) -> None:
    made = [blocks.block(f"/{number}", DIGEST, page) for number, page in enumerate(pages)]
    found = blocks.bodies_in(blocks.BETWEEN.join(made))
    assert [title[0] for title, _ in found] == [f"/{number}" for number in range(len(pages))]


@pytest.mark.parametrize(
    "text, shown",
    [
        ("plain [Preloaded: x", "plain [Preloaded: x"), ("[Preloaded: x", "\\[Preloaded: x"),
        ("a\n  [Updated: x\nb", "a\n\\  [Updated: x\nb"), ("[Other: x", "[Other: x"),
    ],
)  # fmt: skip
def test_lines_that_look_like_a_title_are_escaped(text: str, shown: str) -> None:
    assert blocks.escaped(text) == shown
    assert blocks.parts_of("/a", DIGEST, text, 9500) == [shown]


def test_a_cut_before_a_backslash() -> None:
    """Only the backslash that a cut has added is taken away again."""
    text = "\\" * 3000
    parts = blocks.parts_of("/a", DIGEST, text, 400)
    assert len(parts) > 2 and blocks.joined(parts) == text


@pytest.mark.parametrize("end", ["\n", "\r", "\v", "\u2028"])
def test_a_cut_at_the_end_of_a_line_adds_no_backslash(end: str) -> None:
    """What looks like a title there has one already, whatever a reader takes for the end of a line."""
    found = 0
    for length in range(900, 1250):
        text = f"{'z' * length}{end}[Preloaded: /b\n{'y' * 900}"
        parts = blocks.parts_of("/a", DIGEST, text, 1200)
        assert blocks.joined(parts) == blocks.escaped(text)
        if any(part.endswith(end) for part in parts[:-1]):
            found += 1
            assert "".join(parts) == blocks.escaped(text)
    assert found, "the cut never fell there: this test shows nothing"


@pytest.mark.parametrize("text", ["\u2714\ufe0f done", "1\ufe0f\u20e3"])
def test_an_emoji_stays_as_it_is(text: str) -> None:
    assert blocks.harmless(text) == text


@pytest.mark.parametrize("letter", "\u034f\u115f\u17b4\u17b5\u180b\u180f\u2800\u3164\uffa0")
def test_letters_that_nobody_sees_are_spelled_out(letter: str) -> None:
    assert blocks.harmless(f"a{letter}b") == f"a\\u{ord(letter):04x}b"


def test_a_row_of_unseen_signs_is_spelled_out() -> None:
    assert blocks.harmless("a\ufe0f\ufe0fb") == "a\\ufe0f\\ufe0fb"
