"""What Handbill costs in tokens, for one window now and for a session so far.

Hosts do not report how many tokens a text takes, so every number of tokens is an estimate by
length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from handbill.ledger.claim import DIRECTIVE
from handbill.ledger.window import CUT, NAMED_BY, NOT_SENT
from handbill.project import session_of
from handbill.reports.deliveries import DELIVERED
from handbill.text.blocks import same_rules, units
from handbill.text.tokens import of_length

if TYPE_CHECKING:
    from collections.abc import Iterable

    from handbill.ledger.window import Record, Window
    from handbill.reports.store_files import Line

    Size = tuple[str, str, int]  # group, file, characters

_BROUGHT = (*DELIVERED, "same-rules")  # decisions that put text into a window


@dataclass
class Cost:
    files: int  # each file counts once
    characters: int  # UTF-16 units, as hosts count them
    tokens: int  # estimated


@dataclass
class WindowCost:
    """The cost of the files in a window or on their way, without the titles of the deliveries."""

    total: Cost
    by_reason: dict[str, Cost]  # grouped by the reason for the delivery
    unmeasured: int  # files that the client itself shows, in an amount that Handbill does not know


@dataclass
class SessionCost:
    """The cost of everything delivered, even if a compaction or a rewind has removed it since."""

    total: Cost
    by_handler: dict[str, Cost]  # grouped by the kind of event that delivered it
    by_window: dict[str, Cost]  # SESSION.AGENT


def window_cost(window: Window) -> WindowCost:
    sizes = {path: _present(record) for path, record in window.files.items()}
    measured = [(kind_of(window.files[path]["reason"]), path, size) for path, size in sizes.items() if size]
    return WindowCost(_cost(measured), _by_group(measured), len(sizes) - len(measured))


def session_cost(lines: Iterable[Line], session: str) -> SessionCost:
    """Return the logged cost of a session with its subagents and its other terminals."""
    brought = [line for line in lines if line.get("event") in _BROUGHT and _session_in(line) == session]
    sizes = [(str(line.get("file")), int(line.get("chars") or 0)) for line in brought]
    by_handler = [(str(line.get("handler", "")), *size) for line, size in zip(brought, sizes)]
    by_window = [(str(line.get("window", "")), *size) for line, size in zip(brought, sizes)]
    return SessionCost(_cost(by_handler), _by_group(by_handler), _by_group(by_window))


def kind_of(reason: str) -> str:
    """Return a reason without its directory or page, so that equal reasons add up."""
    if reason.startswith((DIRECTIVE, "directives of ")):
        return "directive"
    return "named by a page" if reason.startswith(NAMED_BY) else reason


def _session_in(line: Line) -> str:
    return session_of((str(line.get("window", "")).rpartition(".")[0], ""))


def _present(record: Record) -> int:
    """Return how many characters of a file are in the window.

    Some of its parts may be missing, or one line may replace its text.
    """
    parts = record["parts"]
    missing = parts.count(NOT_SENT) + parts.count(CUT)
    size = units(same_rules(record["same"])) if record.get("same") else record["chars"]
    return round(size * (len(parts) - missing) / len(parts)) if parts else 0


def _by_group(sizes: list[Size]) -> dict[str, Cost]:
    groups: dict[str, list[Size]] = {}
    for size in sizes:
        groups.setdefault(size[0], []).append(size)
    return {group: _cost(found) for group, found in groups.items()}


def _cost(sizes: list[Size]) -> Cost:
    characters = sum(size for _, _, size in sizes)
    return Cost(len({file for _, file, _ in sizes}), characters, of_length(characters))
