"""Verbs with subcommands, such as `engine session phase` and `engine role set`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from handbill.cli.project import project_option

if TYPE_CHECKING:
    from handbill.cli.parser import VerbParser
    from handbill.work.schema import Schema

Argument = tuple[str, dict[str, Any]]

SESSION: Argument = ("--session", {"metavar": "ID", "help": "the client's session (default: yours, or the newest)"})
AGENT: Argument = ("--agent", {"metavar": "ID", "help": "a subagent's window instead of the main one"})


class Fields(NamedTuple):
    """The fields of a JSON object that a command reads, from the schema that checks it."""

    title: str
    schema: Schema
    note: str = ""


class Action(NamedTuple):
    about: str
    arguments: tuple[Argument, ...]
    examples: tuple[str, ...]
    fields: Fields | None = None
    confirms: bool = False  # the output only confirms the action


def add_arguments(parser: VerbParser, action: Action) -> None:
    for name, options in action.arguments:
        parser.add_argument(name, **options)
    project_option(parser)
