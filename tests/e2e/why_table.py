"""The tables of docs/why.md, and what the tests expect: both from why.toml.

`python tests/e2e/why_table.py docs/why.md` writes the tables into the page.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sandbox import MIDDLE, NEW, OLD

DATA: dict[str, Any] = tomllib.loads(Path(__file__).with_name("why.toml").read_text())
BEGIN, END = "<!-- tables: made from tests/e2e/why.toml by `make docs` -->", "<!-- end of tables -->"
_RAISED = "¹²³⁴⁵⁶⁷⁸⁹"


def columns() -> dict[str, str]:
    return {column: title for table in DATA["tables"] for column, title in table["columns"].items()}


def expected(version: str) -> dict[str, str]:
    """What a client does, as {"row.moment": word}."""
    found = {}
    for name, row in DATA["rows"].items():
        for column in columns():
            word, older = _parts(row[column])
            found[f"{name}.{column}"] = {**_older(row), **older}.get(version, word)
    return found


def leads() -> set[str]:
    """How a sentence about a cell may begin."""
    rows, now = DATA["rows"], expected(NEW)
    return {
        f"{rows[name]['title'].replace('**', '')}, {title}: {now[f'{name}.{column}']}."
        for name in rows
        for column, title in columns().items()
    }


def rendered() -> str:
    """With headings and notes."""
    versions = f"Claude Code {NEW}. A raised number marks what {OLD} or {MIDDLE} does differently."
    tables = [f"### {table['title']}\n\n{_table(table['columns'])}" for table in DATA["tables"]]
    return "\n\n".join([versions, *tables])


def put_into(page: str) -> str:
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{rendered()}\n\n{END}{rest.partition(END)[2]}"


def _table(titles: Mapping[str, str]) -> str:
    notes: list[str] = []

    def noted(word: str, older: Mapping[str, str]) -> str:
        note = _note(older)
        if not note:
            return word
        if note not in notes:
            notes.append(note)
        return word + _RAISED[notes.index(note)]

    lines = [("", *titles.values()), ("---",) * (len(titles) + 1)]
    for row in DATA["rows"].values():
        lines.append((noted(row["title"], _older(row)), *(noted(*_parts(row[column])) for column in titles)))
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return "\n\n".join([table, *(f"{_RAISED[index]} {note}" for index, note in enumerate(notes))])


def _parts(cell: str) -> tuple[str, dict[str, str]]:
    word, *older = cell.split(" | ")
    return word, dict(_versions(older))


def _older(row: Mapping[str, str]) -> dict[str, str]:
    return dict(_versions([row["older"]] if "older" in row else []))


def _versions(cells: list[str]) -> Iterator[tuple[str, str]]:
    for cell in cells:
        versions, _, word = cell.partition(": ")
        yield from ((version, word) for version in versions.split(", "))


def _note(older: Mapping[str, str]) -> str:
    """Versions that do the same are named together."""
    words = {word: " and ".join(v for v in sorted(older) if older[v] == word) for word in older.values()}
    return "; ".join(f"{versions}: {word}" for word, versions in words.items())


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.write_text(put_into(target.read_text()))
