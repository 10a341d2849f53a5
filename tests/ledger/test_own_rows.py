from __future__ import annotations

from typing import Any

import pytest

from builders import window
from handbill.ledger.epochs import BOUNDARY, DUE
from handbill.ledger.own_rows import own_rows
from handbill.ledger.window import JOINED, OWN_ROWS


@pytest.mark.parametrize(
    "flags, suspect, expected",
    [
        ({}, -1, ((["now"],), (), -1)),
        ({JOINED: [7], OWN_ROWS: ["a", "b"]}, -1, ((["now"], ["a"], ["b"]), (7,), -1)),
        ({JOINED: [7], BOUNDARY: 20}, -1, ((["now"],), (7,), 20)),
        ({JOINED: [7], BOUNDARY: 20, DUE: 30}, -1, ((["now"],), (7,), 20)),  # the first one leads to the others
        ({JOINED: [7], BOUNDARY: 2, DUE: 30}, -1, ((["now"],), (7,), 30)),
        ({JOINED: [7], DUE: 7}, 40, ((["now"],), (7,), 7)),
        ({JOINED: [7], DUE: 6}, 40, ((["now"],), (7,), 40)),  # announced
        ({JOINED: [7]}, 0, ((["now"],), (7,), -1)),  # before that
    ],
)
def test_how_a_window_knows_its_rows(flags: dict[str, Any], suspect: int, expected: tuple[Any, ...]) -> None:
    own = own_rows(window(flags=flags, maybe_compacted_from=suspect), ["now"])
    assert (tuple(own.marks), tuple(own.joined), own.compacted_at) == expected


def test_a_window_that_nobody_knows() -> None:
    own = own_rows(None, ["now"])
    assert (tuple(own.marks), tuple(own.joined), own.compacted_at) == ((["now"],), (), -1)
