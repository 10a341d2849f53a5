"""Files with more copies in one window than the delivery log explains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from handbill.reports.deliveries import DELIVERED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from handbill.reports.store_files import Line

    Copy = tuple[str, str, str]  # window, file, part


@dataclass
class Duplicate:
    window: str  # SESSION.AGENT
    file: str
    part: str  # "1/2)", if the file is delivered in parts
    copies: int
    handlers: list[str]  # the kind of event that delivered each copy


def duplicates(lines: Iterable[Line]) -> list[Duplicate]:
    """Return the duplicates.

    A copy that was lost or removed by a compaction does not count.
    """
    count: dict[Copy, int] = {}
    handlers: dict[Copy, list[str]] = {}
    for line in lines:
        key = _copy(line)
        if line.get("event") == "updated":  # it replaced the copy before it
            count[key] = 1
            handlers.setdefault(key, []).append(str(line.get("handler")))
        elif line.get("event") in DELIVERED:
            count[key] = count.get(key, 0) + 1
            handlers.setdefault(key, []).append(str(line.get("handler")))
        elif line.get("event") == "lost":
            for other in count:
                if other == key or (other[:2] == key[:2] and not key[2]):
                    count[other] = max(0, count[other] - 1)
        elif line.get("event") in ("new-epoch", "new-window"):
            for other in count:
                if other[0] == key[0]:
                    count[other] = 0
    return [Duplicate(*key, copies, handlers[key]) for key, copies in count.items() if copies > 1]


def _copy(line: Line) -> Copy:
    source = str(line.get("source", ""))
    part = source.rpartition(" (part ")[2] if " (part " in source else ""
    return str(line.get("window")), str(line.get("file")), part
