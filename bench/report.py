"""The result of a benchmark, printed for people or as JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from rich import box
from rich.console import Console
from rich.table import Table

Cell = str | int | float | None


@dataclass
class Report:
    title: str
    command: str  # the measured command
    columns: Sequence[str]  # a trailing "|r" aligns a column to the right
    rows: list[list[Cell]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def add(self, *cells: Cell) -> None:
        self.rows.append(list(cells))

    def hold(self, name: str, ratio: float, limit: float | None) -> str:
        """Return how a ratio compares to its limit. An exceeded limit makes the whole run fail."""
        if limit is None:
            return "–"
        if ratio > limit:
            self.failures.append(f"{name}: {ratio:.2f}x, the limit is {limit:g}x")
        return f"≤ {limit:g}x {'ok' if ratio <= limit else 'EXCEEDED'}"


def show(reports: list[Report]) -> None:
    # Without a terminal, rich falls back to 80 columns, which is too narrow for these tables.
    console = Console(width=None if os.isatty(1) or "COLUMNS" in os.environ else 140, highlight=False)
    for report in reports:
        console.print(f"\n[bold]{report.title}[/]")
        console.print(f"$ {report.command}", style="dim", markup=False, soft_wrap=True)
        if report.rows:
            console.print(_table(report))
        for note in report.notes:
            console.print(f"  {note}", markup=False, soft_wrap=True)
        for failure in report.failures:
            console.print(f"  FAILED {failure}", style="red", markup=False, soft_wrap=True)


def _table(report: Report) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in report.columns:
        name, _, how = column.partition("|")
        table.add_column(name, justify="right" if how == "r" else "left", overflow="fold")
    for row in report.rows:
        table.add_row(*(_written(cell) for cell in row))
    return table


def _written(cell: Cell) -> str:
    if cell is None:
        return "–"
    return f"{cell:,.2f}" if isinstance(cell, float) else str(cell)


def as_json(reports: list[Report]) -> str:
    made = []
    for report in reports:
        names = [column.partition("|")[0] for column in report.columns]
        made.append({**asdict(report), "columns": names, "rows": [dict(zip(names, row)) for row in report.rows]})
    failed = any(report.failures for report in reports)
    return json.dumps({"ok": not failed, "reports": made}, indent=2, ensure_ascii=False)
