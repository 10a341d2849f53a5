from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from handbill.text.packet import Packet, sections

TEXT = "# Title\nintro\n\n## One\nfirst\n```\n## not a heading\n```\n\n## Two\nsecond\n"


def test_sections_keep_every_line() -> None:
    found = sections("f", TEXT)
    assert [one.title for one in found] == ["", "One", "Two"]
    assert "## not a heading" in found[1].text
    assert "\n\n".join(one.text for one in found) == TEXT.strip("\n")


def test_all_of_it_when_it_fits() -> None:
    packet = Packet([("a.md", TEXT), ("b.md", "short")], 1000)
    assert packet.left == [] and "--- a.md ---" in packet.text() and "left out" not in packet.text()
    assert packet.text().endswith("--- at most 1,000 tokens (estimate) ---")


def test_each_has_its_share_and_what_is_left_out_is_named() -> None:
    long = "".join(f"## S{number}\n{'word ' * 80}\n\n" for number in range(10))
    packet = Packet([("first.md", long), ("second.md", long)], 600)
    assert 400 < packet.size <= 600 and packet.shares == {"first.md": 400, "second.md": 200}
    taken = [section.file for section in packet.sections if section.taken]
    assert taken.count("first.md") > taken.count("second.md") > 0
    assert len(packet.left) == 20 - len(taken)
    lines = packet.left_out().splitlines()
    assert len(lines) == 2 and lines[1].startswith("- second.md: S") and " more (about " in lines[1]


def test_what_one_does_not_need_goes_to_the_others() -> None:
    long = "".join(f"## S{number}\n{'word ' * 80}\n\n" for number in range(4))
    assert Packet([("a.md", "short"), ("b.md", long)], 500).left == []


@given(st.lists(st.text("ab\n# `", max_size=200), max_size=5), st.integers(0, 200))
def test_never_over_the_budget_and_nothing_forgotten(texts: list[str], budget: int) -> None:
    packet = Packet([(f"{number}.md", text) for number, text in enumerate(texts)], budget)
    assert packet.size <= budget or not any(one.taken for one in packet.sections), "too small for anything"
    assert packet.brief or all(one.taken or f"- {one.file}: " in packet.text() for one in packet.sections)
    assert not packet.left or "left out" in packet.text()


def test_the_least_important_goes_first() -> None:
    first = "## First\n" + "word " * 60
    second = "".join(f"## Section number {number} of the second\n{'word ' * 60}\n" for number in range(8))
    packet = Packet([("a.md", first), ("b.md", second)], 500)
    assert packet.left and packet.sections[0].taken


def test_without_room_for_the_list_its_length_is_said() -> None:
    text = "\n".join(
        f"## A very long title of the section number {number} of this file\n" + "word " * 300 for number in range(8)
    )
    packet = Packet([("a.md", text)], 60)
    assert packet.brief and packet.size <= 60 and "8 sections" in packet.text()
