"""How many files a gate reads, and what it says of those that it does not."""

from __future__ import annotations

import pytest

from builders import DictWorld
from handbill.library.bundle import Bundle
from handbill.text.document import Document, Refusal

MOST = 200


class Library(DictWorld):
    def load(self, path: str, *, permitted: bool = False) -> Document | Refusal:
        return super().load(path)


@pytest.mark.parametrize(
    "count, more",
    [(1, ""), (2, " (1 more was not read either)"), (1501, " (1,500 more were not read either)")],
)
def test_files_behind_the_last_one_that_is_read_are_counted(count: int, more: str) -> None:
    paths = [f"/p/{number}.md" for number in range(MOST + count)]
    bundle = Bundle(paths, Library(dict.fromkeys(paths, "text")), 10_000)  # type: ignore[arg-type]
    assert list(bundle.sizes) == paths[:MOST]
    assert bundle.refusals() == [
        f"/p/{MOST}.md was not read, because the files before it are too many or too large{more}"
    ]


def test_as_many_files_as_are_read() -> None:
    paths = [f"/p/{number}.md" for number in range(MOST)]
    bundle = Bundle(paths, Library(dict.fromkeys(paths, "text")), 10_000)  # type: ignore[arg-type]
    assert bundle.count == MOST and bundle.refusals() == []
