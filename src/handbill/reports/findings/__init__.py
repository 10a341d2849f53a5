"""The problems of a project, and how to fix them. A check is a function that yields findings."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from handbill.errors import HandbillError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from handbill.project import Project

    Check = Callable[[Project], "Iterator[Finding]"]

OK, NOTE, BAD = "ok", "note", "bad"
RECENT = 7 * 86400.0  # seconds during which a fault is worth showing


@dataclass
class Finding:
    check: str  # the name of the check
    state: str  # ok, note or bad
    text: str
    fix: str = ""  # a command, or an action for a person

    def plain(self) -> dict[str, str]:
        return asdict(self)


def collected(checks: Iterable[Check], project: Project) -> list[Finding]:
    return [finding for check in checks for finding in _findings(check, project)]


def _findings(check: Check, project: Project) -> list[Finding]:
    """Return the findings of a check. An error in it must not hide the others.

    The project may have caused the error.
    """
    found = []
    try:
        for finding in check(project):
            found.append(finding)
    except (HandbillError, OSError, ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        name = check.__name__.replace("_", " ")
        found.append(Finding(name, BAD, f"cannot be checked: {error}", "look at the file that it names"))
    return found
