"""What `--help` prints for all commands, for a verb with subcommands, and for one command."""

from __future__ import annotations

import os
import shutil
import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING

from handbill.cli.parser import name_of
from handbill.cli.verb_table import VERBS
from handbill.reports.json_fields import rows_of

if TYPE_CHECKING:
    from handbill.cli.commands import Command
    from handbill.cli.parser import VerbParser

WHAT = "Handbill gives a coding agent its rules and files: each once per context window, with a receipt."
_WIDEST = 100
_LABEL = 26  # columns; a longer label gets its own line


def of_all() -> str:
    groups: dict[str, list[tuple[str, str]]] = {}
    for name, verb in VERBS.items():
        groups.setdefault(verb.group, []).append((name, verb.about))
    parts = ["usage: engine VERB [ARGUMENTS]", wrapped(WHAT)]
    label = max(map(len, VERBS))
    parts += [f"{group}:\n{listed(rows, label)}" for group, rows in groups.items()]
    parts.append(f"Options of every command:\n{listed(_OF_EVERY_COMMAND, label)}")
    parts.append(
        wrapped("In a new project, run engine install, use your agent as usual, then run engine window.")
        + "\n" + wrapped("`engine VERB --help` shows the options of a command, and examples.")
    )  # fmt: skip
    return "\n\n".join([*parts, "more: docs/cli.md"])


_OF_EVERY_COMMAND = [
    ("--json", "print one JSON object, for programs"),
    ("-q, --quiet", "print errors and results only, no notes"),
    ("-h, --help", "show its options and examples"),
    ("-V, --version", "show the version"),
]


def of_verb(verb: str, commands: list[Command]) -> str:
    row = VERBS[verb]
    rows = [(command.name.partition(" ")[2], command.about) for command in commands]
    examples = [command.examples[0] for command in commands]
    last = wrapped(f"`engine {verb} VERB --help` shows the options of one of them.") + f"\n\nmore: {row.page}"
    return "\n\n".join([
        f"usage: engine {verb} VERB [ARGUMENTS]", wrapped(sentence(row.about)), listed(rows), _examples(examples), last,
    ])  # fmt: skip


def of_command(command: Command, parser: VerbParser) -> str:
    rows = [(name_of(one), (one.help or "").replace("%%", "%")) for one in parser.arguments]
    arguments = [row for row, one in zip(rows, parser.arguments) if not one.option_strings]
    options = [row for row, one in zip(rows, parser.arguments) if one.option_strings]
    parts = [_usage(parser), wrapped(sentence(command.about))]
    parts += [listed(arguments)] if arguments else []
    parts.append(f"Options:\n{listed(options)}")
    if command.fields is not None:
        title, schema, note = command.fields
        fields = [(row.name, row.described) for row in rows_of(schema)]
        lines = [wrapped(f"{title}:"), listed(fields) if fields else "", wrapped(note, "  ", "  ") if note else ""]
        parts.append("\n".join(filter(None, lines)))
    return "\n\n".join([*parts, _examples(command.examples), f"more: {command.page}"]) + "\n"


def sentence(text: str) -> str:
    return text[0].upper() + text[1:] + ("" if text.endswith("?") else ".")


def _usage(parser: VerbParser) -> str:
    """Return the usage line. Line breaks never separate an option from its value."""
    joined = parser.usage_line.replace(" ", _KEPT).replace(f"{_KEPT}[", " [").replace(f"usage:{_KEPT}", "usage: ")
    return wrapped(joined, "       ").replace(_KEPT, " ")


_KEPT = "\x01"  # a space at which lines do not break


def _examples(examples: Iterable[str]) -> str:
    """Return the examples without wrapping them, because people copy them."""
    return "\n".join(f"example: {one}" for one in examples)


def wrapped(text: str, indent: str = "", first: str = "") -> str:
    return textwrap.fill(
        text, _width(), initial_indent=first, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def listed(rows: list[tuple[str, str]], label: int = 0) -> str:
    """Return two columns; `label` is the least width of the first."""
    label = min(max(label, *(len(name) for name, _ in rows)), min(_LABEL, _width() // 3)) + 4
    lines = []
    for name, text in rows:
        described = wrapped(text, " " * label, " " * label)
        fits = len(name) + 4 <= label
        lines += [f"  {name:<{label - 2}}{described.lstrip()}".rstrip()] if fits else [f"  {name}", described]
    return "\n".join(lines)


def _width() -> int:
    known = os.isatty(1) or "COLUMNS" in os.environ
    return min(shutil.get_terminal_size().columns if known else _WIDEST, _WIDEST)
