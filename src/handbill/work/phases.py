"""Phases of a skill: their order, their possible successors, and the proof that each requires."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Key = tuple[tuple[int, int, str], ...]


MOST_PHASES = 200  # of one skill
MOST_PAGES = 500  # of one phase
_MOST_SEGMENTS, _MOST_LETTERS = 10, 3  # limits of a label


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
        self.proof = proof  # names of fields, and pages whose own proof counts
        self.gate = gate
        self.invariants = invariants

    def __str__(self) -> str:
        return f"{self.label}: {self.name}" if self.name else self.label

    @property
    def pages(self) -> tuple[str, ...]:
        """Return the names of pages in this phase, in the order of use."""
        return (*self.steps, *self.commands, *self.proof, *self.invariants)[:MOST_PAGES]

    def as_dict(self) -> dict[str, Any]:
        """Return the phase as a session's state stores it."""
        plain: dict[str, Any] = {"label": self.label, "name": self.name, "gate": self.gate}
        for field in ("steps", "commands", "proof", "invariants"):
            if getattr(self, field):
                plain[field] = list(getattr(self, field))
        return plain


def key(label: str) -> Key:
    """Return a sort key: numbers precede letters. Raise ValueError if `label` is not a label."""
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
    """Whether this is a number, up to three capitals, or a number with one capital.

    The first segment of a label must be a number.
    """
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
    """Split `"3.A: Build"` into ("3.A", "Build"); the name may be missing."""
    label, _, name = text.partition(":")
    return label.strip().removeprefix("Phase ").strip(), name.strip()


def ordered(phases: Iterable[Phase]) -> list[Phase]:
    return sorted(phases, key=lambda phase: key(phase.label))


def _branches(path: Key) -> list[Key]:
    """Return the beginnings of a label that end in a letter: each is a choice between branches."""
    return [path[:size] for size in range(1, len(path) + 1) if path[size - 1][0] == 1]


def following(labels: Iterable[str], current: str) -> list[str]:
    """Return the labels that may follow: one, or the first of each branch.

    Branches with letters (3.A, 3.B) are alternatives: after one is taken, the others do not follow.
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
            break  # no branch avoids this phase
    return [label for _, label in found]


def _together(one: Key, other: Key) -> bool:
    """Whether one run can pass both phases, because they are not on different branches."""
    taken = {branch[:-1]: branch for branch in _branches(one)}
    return all(taken.get(way[:-1], way) == way for way in _branches(other))


def is_alternative(current: str, target: str) -> bool:
    """Whether the target is on another branch than the current phase."""
    taken = {branch[:-1]: branch for branch in _branches(key(current))}
    return any(taken.get(way[:-1], way) != way for way in _branches(key(target)))


def passed_over(labels: Iterable[str], current: str, target: str) -> list[str]:
    """Return the declared phases that a move skips, without alternatives."""
    here, there = key(current), key(target)
    taken = {branch[:-1]: branch for branch in (*_branches(here), *_branches(there))}
    between = sorted({key(label): label for label in labels if here < key(label) < there}.items())
    return [name for path, name in between if all(taken.get(way[:-1], way) == way for way in _branches(path))]
