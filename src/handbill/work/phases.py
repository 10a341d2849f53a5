"""Phases of a skill: their order, what may follow what, and what leaving one asks for."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Key = tuple[tuple[int, int, str], ...]


MOST_PHASES = 200  # of one skill
MOST_PAGES = 500  # that one phase may name
_MOST_SEGMENTS, _MOST_LETTERS = 10, 3  # of a label


class Phase:
    __slots__ = ("commands", "gate", "invariants", "label", "name", "proof", "steps")

    def __init__(
        self,
        label: str,
        name: str = "",
        *,
        steps: tuple[str, ...] = (),
        commands: tuple[str, ...] = (),
        proof: tuple[str, ...] = (),
        gate: bool | str = True,
        invariants: tuple[str, ...] = (),
    ) -> None:
        self.label = label
        self.name = name
        self.steps = steps
        self.commands = commands
        self.proof = proof  # fields, and pages whose own proof counts
        self.gate = gate
        self.invariants = invariants

    def __str__(self) -> str:
        return f"{self.label}: {self.name}" if self.name else self.label

    @property
    def pages(self) -> tuple[str, ...]:
        """What is named as a page by this phase, in the order of use."""
        return (*self.steps, *self.commands, *self.proof, *self.invariants)[:MOST_PAGES]

    def as_dict(self) -> dict[str, Any]:
        """As it stands in a session's state."""
        plain: dict[str, Any] = {"label": self.label, "name": self.name, "gate": self.gate}
        for field in ("steps", "commands", "proof", "invariants"):
            if getattr(self, field):
                plain[field] = list(getattr(self, field))
        return plain


def key(label: str) -> Key:
    """Sorts labels: by numbers, then letters. Raises ValueError when this is no label."""
    found = []
    segments = label.split(".", _MOST_SEGMENTS)
    for number, segment in enumerate(segments):
        letters = segment.lstrip("0123456789")
        digits = segment[: len(segment) - len(letters)]
        if len(segments) > _MOST_SEGMENTS or not _is_segment(digits, letters, is_first=number == 0):
            raise ValueError(f"{label[:50]!r} is not a phase label; use one like 0, 3, 3.A or 4.1")
        found.append((0 if digits else 1, int(digits or 0), letters))
    return tuple(found)


def _is_segment(digits: str, letters: str, *, is_first: bool) -> bool:
    """A number, a word of capitals, or a number with one capital; the first segment of a label is a number."""
    if len(digits) > 6 or not (digits + letters).isascii():
        return False
    if not letters:
        return bool(digits)
    is_word = letters.isalpha() and letters.isupper() and len(letters) <= (1 if digits else _MOST_LETTERS)
    return is_word and not is_first


def is_label(text: str) -> bool:
    try:
        return bool(key(text))
    except ValueError:
        return False


def split(text: str) -> tuple[str, str]:
    """`"3.A: Build"` -> ("3.A", "Build"); the name may be missing."""
    label, _, name = text.partition(":")
    return label.strip().removeprefix("Phase ").strip(), name.strip()


def ordered(phases: Iterable[Phase]) -> list[Phase]:
    return sorted(phases, key=lambda phase: key(phase.label))


def _branches(path: Key) -> list[Key]:
    """The beginnings of a label that end in a letter: where one of several ways was taken."""
    return [path[:size] for size in range(1, len(path) + 1) if path[size - 1][0] == 1]


def following(labels: Iterable[str], current: str) -> list[str]:
    """What comes next: one label, or the first of each way where the road parts.

    Ways with letters (3.A, 3.B) are alternatives: having taken one, the others are not ahead.
    """
    here = key(current)
    taken = {branch[:-1]: branch for branch in _branches(here)}
    ahead = [
        (path, label)
        for path, label in sorted({key(label): label for label in labels}.items())
        if path > here and all(taken.get(way[:-1], way) == way for way in _branches(path))
    ]
    found: list[tuple[Key, str]] = []
    for path, label in ahead:
        if not any(_together(earlier, path) for earlier, _ in found):
            found.append((path, label))
        if all(here[: len(way)] == way for way in _branches(path)):
            break  # no way leads around this one
    return [label for _, label in found]


def _together(one: Key, other: Key) -> bool:
    """May both be passed in one run, or do they stand on different ways?"""
    taken = {branch[:-1]: branch for branch in _branches(one)}
    return all(taken.get(way[:-1], way) == way for way in _branches(other))


def is_alternative(current: str, target: str) -> bool:
    """Does the target stand on another of the ways where the current one was taken?"""
    taken = {branch[:-1]: branch for branch in _branches(key(current))}
    return any(taken.get(way[:-1], way) != way for way in _branches(key(target)))


def passed_over(labels: Iterable[str], current: str, target: str) -> list[str]:
    """Declared phases that a move from one to the other leaves out, alternatives not counted."""
    here, there = key(current), key(target)
    taken = {branch[:-1]: branch for branch in (*_branches(here), *_branches(there))}
    between = sorted({key(label): label for label in labels if here < key(label) < there}.items())
    return [name for path, name in between if all(taken.get(way[:-1], way) == way for way in _branches(path))]
