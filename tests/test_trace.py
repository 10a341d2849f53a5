from __future__ import annotations

import re

from handbill.trace import describe


def deep(levels: int) -> None:
    if levels:
        deep(levels - 1)
    raise ValueError("no")


def test_a_failure_is_described_by_its_innermost_places() -> None:
    try:
        deep(6)
    except ValueError as error:
        said = describe(error)
    first = deep.__code__.co_firstlineno
    assert said.startswith("ValueError: no (")
    assert re.findall(r":(\d+)", said) == [str(first + line) for line in (2, 2, 2, 3)]
