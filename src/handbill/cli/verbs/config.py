"""`engine config`: the settings that apply here, and the file that sets each one."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from handbill import gates
from handbill.cli.parser import like
from handbill.cli.project import here, project_option
from handbill.cli.result import Result
from handbill.cli.screen import safe, short, table
from handbill.errors import HandbillError
from handbill.reports.effective_settings import PROJECT, SHIPPED, USER, effective

if TYPE_CHECKING:
    from rich.console import Console

_STYLE = {SHIPPED: "dim", USER: "cyan", PROJECT: "green"}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("key", nargs="?", help="one setting (write_gate.mode) or one section (write_gate)")
    project_option(parser)


def run(args: argparse.Namespace) -> Result:
    project = here(args.project)
    found = effective(project.world())
    key = _as_named_now(args.key or "")
    rows = [one for one in found.values if not key or f"{one.key}.".startswith(f"{key}.")]
    if not rows:
        sections = {one.key.rpartition(".")[0] for one in found.values}
        known = [*(one.key for one in found.values), *sections]
        raise HandbillError(f"there is no setting {args.key!r}{like(key, known)}", "engine config lists them all")
    data: dict[str, Any] = {
        "project": project.root, "settings": [row._asdict() for row in rows], "files": found.files,
        "problems": [problem for problem in found.problems if key in problem],
    }  # fmt: skip
    warnings = [f"{problem} (not used)" for problem in data["problems"]]
    if key and len(rows) == 1:
        origin = f"{rows[0].origin}: {rows[0].path}" if rows[0].path else rows[0].origin
        return Result(data, text=f"{rows[0].key} = {_written(rows[0].value)}  # {origin}", warnings=warnings)
    return Result(data, lambda screen: _show(screen, data), warnings=warnings)


def _as_named_now(key: str) -> str:
    """Return the key with the current name of its section, which may have been renamed."""
    section, dot, field = key.partition(".")
    return next((gate.name for gate in gates.ALL if section in gate.aliases), section) + dot + field


def _written(value: Any) -> str:
    """Return a value in TOML notation."""
    return json.dumps(value, ensure_ascii=False)


def _show(screen: Console, data: dict[str, Any]) -> None:
    made = table("setting|n", "value", "from|n")
    for row in data["settings"]:
        made.add_row(
            safe(row["key"]), safe(_written(row["value"])), f"[{_STYLE[row['origin']]}]{row['origin']}[/]"
        )  # fmt: skip
    screen.print(made)
    for origin in (USER, PROJECT):
        path = data["files"].get(origin)
        screen.print(f"[dim]{origin}:[/] {short(path, data['project']) if path else 'there is no such file'}")
