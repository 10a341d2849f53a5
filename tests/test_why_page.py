"""docs/why.md must agree with the measurements of tests/e2e/test_why.py."""

from __future__ import annotations

import re
from pathlib import Path

from sandbox import MIDDLE, NEW, OLD
from why_rules import PROJECTS
from why_sessions import HEADLESS, ON_SCREEN
from why_table import DATA, columns, expected, leads, put_into

PAGE = (Path(__file__).parents[1] / "docs" / "why.md").read_text()


def test_the_tables_are_the_data() -> None:
    assert put_into(PAGE) == PAGE, "run `make docs`"


def test_every_cell_is_measured() -> None:
    rules = [rule.key for rules in PROJECTS.values() for rule in rules]
    measured = [column for session in (HEADLESS, ON_SCREEN) for names in session.values() for column in names]
    assert sorted(rules) == sorted(DATA["rows"])
    assert sorted(measured) == sorted(columns())


def test_older_versions_are_those_that_are_tested() -> None:
    named = {
        version for row in DATA["rows"].values() for version in re.findall(r"\d+\.\d+\.\d+", " ".join(row.values()))
    }
    assert named <= {OLD, MIDDLE}
    assert {version: expected(version)["agents_root.large"] for version in (OLD, NEW)} == {OLD: "no", NEW: "whole"}


def test_the_sentences_are_about_cells_as_they_are() -> None:
    """Each sentence begins with a cell of the table: `- **row, column: word.** …`"""
    found = [" ".join(lead.split()) for lead in re.findall(r"^- \*\*(.+?)\*\*", PAGE, re.MULTILINE | re.DOTALL)]
    assert len(found) >= 10
    assert [lead for lead in found if lead not in leads()] == []
