"""How findings are collected."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from handbill.errors import HandbillError
from handbill.project import Project
from handbill.reports.findings import BAD, OK, Finding, collected
from simulated_project import SimulatedProject


def test_a_finding_as_a_plain_value() -> None:
    assert Finding("state", OK, "kept").plain() == {"check": "state", "state": "ok", "text": "kept", "fix": ""}


@pytest.mark.parametrize(
    "error", [HandbillError("it broke"), OSError("it broke"), ValueError("it broke"), KeyError("it broke")]
)
def test_a_check_that_fails_hides_no_other(make_project: Callable[..., SimulatedProject], error: Exception) -> None:
    def held_calls(project: Project) -> Iterator[Finding]:
        yield Finding("held calls", OK, "so far")
        raise error

    def others(project: Project) -> Iterator[Finding]:
        yield Finding("others", OK, project.root)

    box = make_project()
    first, failed, last = collected((held_calls, others), box.opened())
    assert (first.text, last.text) == ("so far", str(box.project))
    assert (
        (failed.check, failed.state) == ("held calls", BAD)
        and "cannot be checked" in failed.text
        and "it broke" in failed.text
    )


def test_a_fault_of_the_program_is_not_a_finding(make_project: Callable[..., SimulatedProject]) -> None:
    def faulty(project: Project) -> Iterator[Finding]:
        yield Finding("x", OK, "y")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        collected([faulty], make_project().opened())
