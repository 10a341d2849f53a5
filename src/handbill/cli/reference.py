"""Generates `docs/cli.md` from the commands.

Run `python -m handbill.cli.reference > docs/cli.md`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from handbill.cli.commands import commands_of
from handbill.cli.help_text import sentence
from handbill.cli.parser import COMMON, name_of, written
from handbill.cli.verb_table import VERBS
from handbill.reports.json_fields import rows_of

if TYPE_CHECKING:
    import argparse

    from handbill.cli.commands import Command

HEAD = """# Commands

`engine` and `handbill` are the same program. `make docs` generates this page from the help texts.

Every command prints text for people. With `--json`, it prints one JSON object for programs:
`{"handbill": 1, "verb": …, "ok": …, "data": …, "warnings": […], "error": null | {"code", "message", "hint"}}`.
With `--quiet` (`-q`), a command prints errors and results only: no notes, no next step, and nothing
if it only did what you asked for. Options can be before or after the other words.
Exit codes: 0 for success, 1 for an expected failure (one line says what is wrong, the next how to
fix it), 2 for wrong usage, 3 for a defect in Handbill (it writes a report).
"""


def markdown() -> str:
    groups: dict[str, str] = {}
    for name, verb in VERBS.items():
        groups[verb.group] = groups.get(verb.group, "") + _verb(name)
    return HEAD + "".join(f"\n## {group}\n{text}" for group, text in groups.items())


def _verb(verb: str) -> str:
    commands = commands_of(verb)
    row = VERBS[verb]
    if "" in commands:
        return _command(commands[""], 3, _link(row.page))
    head = f"\n### engine {verb}\n\n{sentence(row.about)} {_link(row.page)}\n"
    return head + "".join(_command(command, 4) for command in commands.values())


def _command(command: Command, level: int, link: str = "") -> str:
    text = f"\n{'#' * level} engine {command.name}\n\n{sentence(command.about)} {link}".rstrip() + "\n"
    rows = [_row(one) for one in command.parser().arguments if one.dest not in COMMON]
    text += "\n| | |\n|---|---|\n" + "\n".join(rows) + "\n" if rows else ""
    if command.fields is not None:
        text += f"\n{command.fields.title}\n"
        fields = [f"| `{row.name}` | {row.described} |" for row in rows_of(command.fields.schema)]
        text += "\n| field | |\n|---|---|\n" + "\n".join(fields) + "\n" if fields else ""
        text += f"\n{command.fields.note}\n" if command.fields.note else ""
    return text + "\n```\n" + "\n".join(command.examples) + "\n```\n"


def _link(page: str) -> str:
    target = page.removeprefix("docs/") if page.startswith("docs/") else f"../{page}"
    return f"See [{page}]({target})." if page != "docs/cli.md" else ""


def _row(argument: argparse.Action) -> str:
    shown = name_of(argument) if argument.option_strings else written(argument)
    escaped = shown.replace("|", "\\|")
    return f"| `{escaped}` | {argument.help or ''} |"


if __name__ == "__main__":
    print(markdown(), end="")
