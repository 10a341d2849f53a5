"""Every cell of docs/why.md is what the real client sends to the model."""

from __future__ import annotations

import os

import pytest
from sandbox import MIDDLE, NEW, OLD
from why_rules import PROJECTS, fill
from why_sessions import HEADLESS, ON_SCREEN, Session
from why_table import expected

from conftest import Make

VERSIONS = (OLD, MIDDLE, NEW) if os.environ.get("EVERY_VERSION") else (NEW,)


@pytest.mark.parametrize("project", PROJECTS)
@pytest.mark.parametrize("session", HEADLESS, ids=lambda session: session.__name__)
def test_in_print_mode(make: Make, version: str, session: Session, project: str) -> None:
    _compare(make, version, session, project, HEADLESS[session])


@pytest.mark.long
@pytest.mark.parametrize("project", PROJECTS)
@pytest.mark.parametrize("session", ON_SCREEN, ids=lambda session: session.__name__)
def test_on_the_clients_screen(make: Make, version: str, session: Session, project: str) -> None:
    _compare(make, version, session, project, ON_SCREEN[session])


def _compare(make: Make, version: str, session: Session, project: str, columns: tuple[str, ...]) -> None:
    """A difference is a change of the client: correct why.toml, then run `make docs`."""
    box = make(version, install=project == "handbill")
    fill(box, project)
    cells = [f"{rule.key}.{column}" for rule in PROJECTS[project] for column in columns]
    data = expected(version)
    assert session(box, project) == {cell: data[cell] for cell in cells}
