from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handbill.text.references import candidates, page_name, references


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Execute §CMD_REAL_REF to start.\nSee `§CMD_MENTION_ONLY` for details.", ["CMD_REAL_REF"]),
        ("```\n§CMD_X\n```\n§FMT_Y", ["FMT_Y"]),
        ("~~~json\n§CMD_X\n~~~\n§INV_Y", ["INV_Y"]),
        ("   ```\n   §CMD_X\n   ```\n§CMD_Y", ["CMD_Y"]),
        ("1. step\n\n        ~~~\n        §CMD_X\n        ~~~\n§CMD_Y", ["CMD_Y"]),
        ("- ```\n  §CMD_X\n  ```\n- §CMD_Y", ["CMD_Y"]),
        ("> ```\n> §CMD_X\n> ```\n> §CMD_Y", ["CMD_Y"]),
        ("````\n```\n§CMD_X\n```\n§CMD_Z\n````\n§CMD_Y", ["CMD_Y"]),  # a longer fence holds shorter ones
        ("```\n~~~\n§CMD_X\n```\n§CMD_Y", ["CMD_Y"]),
        ("1. ```sh\n   §CMD_X\n   ```\n\n2. §CMD_Y", ["CMD_Y"]), ("12) ~~~\n§CMD_X\n~~~\n§CMD_Y", ["CMD_Y"]),
        ("> ```\n> §CMD_X\n\n§CMD_Y", ["CMD_Y"]),  # the quote ends, and its fence with it
        ("a \\` b §CMD_X c \\` d", ["CMD_X"]),
        ("```\n§CMD_X", []),  # never closed
        ("a `span\nover §CMD_X lines` b §CMD_Y", ["CMD_Y"]),
        ("a `lonely tick §CMD_X\n\nb §CMD_Y", ["CMD_X", "CMD_Y"]),
        ("``a ` §CMD_X`` §CMD_Y", ["CMD_Y"]),
        ("```inline §CMD_X``` §CMD_Y", ["CMD_Y"]),
        ("§CMD_A §CMD_B §CMD_A", ["CMD_A", "CMD_B"]),
        ("§CMD_GENERATE_DEBRIEF_file", ["CMD_GENERATE_DEBRIEF"]),
        ("## PROOF FOR §CMD_X", ["CMD_X"]),
        ("¶CMD_X §CMD_ §XYZ_A §CMD §cmd_a §FEED_X §CMD_1", []),
        ("(§CMD_X), “§FMT_Y”. §INV_Z's", ["CMD_X", "FMT_Y", "INV_Z"]),
        ("", []),
    ],
)  # fmt: skip
def test_references(text: str, expected: list[str]) -> None:
    assert references(text) == expected


@pytest.mark.parametrize(
    "word, expected",
    [
        ("§CMD_X", "CMD_X"), ("CMD_X", "CMD_X"), ("§CMD_GENERATE_DEBRIEF_file", "CMD_GENERATE_DEBRIEF"),
        ("§CMD_X_file2", "CMD_X"), ("§FMT_A_B", "FMT_A_B"), ("depthChosen", ""), ("§CMD_../../etc/passwd", ""),
        ("/etc/passwd", ""), ("§CMD_X/../../secret", ""), ("CMD_X.md", ""), ("§CMD_X and more", ""), ("§CMD_", ""),
        ("§CMD_X\0", ""), ("", ""), ("§CMD_" + "A" * 500, ""),
    ],
)  # fmt: skip
def test_page_name(word: str, expected: str) -> None:
    assert page_name(word) == expected


def test_the_nearest_comes_first() -> None:
    found = list(candidates("CMD_X", "/p/a/b", "/p", ["/lib", "/shipped"]))
    assert found == [
        "/p/a/b/.directives/commands/CMD_X.md", "/p/a/.directives/commands/CMD_X.md", "/p/.directives/commands/CMD_X.md",
        "/lib/commands/CMD_X.md", "/shipped/commands/CMD_X.md",
    ]  # fmt: skip
    assert list(candidates("INV_X", "", "", ["/lib"])) == ["/lib/invariants/INV_X.md"]


@given(st.text(alphabet="§CMD_XY` ~\n>-#a", max_size=200))
def test_any_text_is_read_and_only_bare_names_are_found(text: str) -> None:
    for name in references(text):
        assert f"§{name}" in text


@given(st.text(alphabet="ab §CMD_X\n~", max_size=60))
def test_what_is_fenced_is_inert(text: str) -> None:
    assert references(f"```\n{text}\n```") == []


def test_odd_text_of_a_megabyte_is_read_in_no_time() -> None:
    """Every pass is linear: a page cannot stop a hook."""
    runs = "x".join("`" * size for size in range(1, 1400))
    for text in (
        "§" * (1 << 20),
        "`" * (1 << 20),
        "` `` " * (1 << 18),
        runs + "§CMD_X",
        "```\n" * (1 << 18),
        "> - " * (1 << 18),
    ):
        references(text + "§")
    assert references("`a``b" * 1000 + "§CMD_X") == ["CMD_X"]
