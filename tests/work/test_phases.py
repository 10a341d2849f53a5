from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handbill.work.phases import Phase, following, key, ordered, passed_over, split

ROAD = ["0", "1", "2", "3", "3.A", "3.B", "3.C", "4", "4.1", "4.2", "5"]
NESTED = ["1", "2.A", "2.A.1", "2.A.2", "2.B", "2.B.1", "3.A.X", "3.A.Y", "3.B", "4"]


@pytest.mark.parametrize(
    "labels, current, expected",
    [
        (ROAD, "0", ["1"]),
        (ROAD, "2", ["3"]),
        (ROAD, "3", ["3.A", "3.B", "3.C"]),  # the road parts
        (ROAD, "3.A", ["4"]),  # having taken one way, the others are not ahead
        (ROAD, "3.C", ["4"]),
        (ROAD, "4", ["4.1"]),
        (ROAD, "5", []),
        (NESTED, "1", ["2.A", "2.B"]),
        (NESTED, "2.A", ["2.A.1"]),
        (NESTED, "2.A.2", ["3.A.X", "3.A.Y", "3.B"]),
        (NESTED, "2.B.1", ["3.A.X", "3.A.Y", "3.B"]),
        (NESTED, "3.A.X", ["4"]),
        (["0", "10", "2"], "2", ["10"]),  # by number, not by letter
        (["0", "1.A.X", "1.A.Y", "1.B", "2"], "0", ["1.A.X", "1.A.Y", "1.B"]),
        (["0"], "0", []),
        (["3.A", "3.A"], "3.A", []),
    ],
)
def test_following(labels: list[str], current: str, expected: list[str]) -> None:
    assert following(labels, current) == expected


@pytest.mark.parametrize(
    "current, target, expected",
    [
        ("0", "1", []), ("0", "3", ["1", "2"]), ("2", "4", ["3", "3.A", "3.B", "3.C"]), ("3.A", "5", ["4", "4.1", "4.2"]),
        ("3", "3.B", []), ("2", "3.B", ["3"]),
    ],
)  # fmt: skip
def test_passed_over(current: str, target: str, expected: list[str]) -> None:
    assert passed_over(ROAD, current, target) == expected


_NO_LABELS = ["", "x", "A", "3.a", "3.", ".3", "3..A", "3.A1", "3.1AB", "3 A", "-1", "１", "3/4", "3.Ä"]


@pytest.mark.parametrize("label", [*_NO_LABELS, ".".join("1" * 11), "1.ABCD", "1" + ".A" * 60_000])
def test_no_label(label: str) -> None:
    with pytest.raises(ValueError, match="not a phase label"):
        key(label)


@pytest.mark.parametrize(
    "text, expected",
    [("3.A: Build Loop", ("3.A", "Build Loop")), ("3.A", ("3.A", "")), ("Phase 1: Setup", ("1", "Setup")),
     (" 0 :x: y", ("0", "x: y"))],
)  # fmt: skip
def test_split(text: str, expected: tuple[str, str]) -> None:
    assert split(text) == expected


segment = st.integers(0, 12).map(str)
label = st.builds(lambda a, rest: ".".join([a, *rest]), segment, st.lists(segment | st.sampled_from("ABC"), max_size=2))


@given(st.lists(label, min_size=1, max_size=12, unique=True))
def test_every_way_leads_to_the_end_and_never_back(labels: list[str]) -> None:
    """From any phase, always taking the first offer: each step goes ahead, and none is offered twice."""
    for start in labels:
        here, seen = start, [start]
        while coming := following(labels, here):
            assert all(key(one) > key(here) and one in labels for one in coming)
            here = coming[-1]
            seen.append(here)
        assert len(seen) == len(set(seen))


@given(st.lists(label, min_size=1, max_size=12, unique=True))
def test_order_is_by_key(labels: list[str]) -> None:
    assert [phase.label for phase in ordered(Phase(one) for one in labels)] == sorted(labels, key=key)
