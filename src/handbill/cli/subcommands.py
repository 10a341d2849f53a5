"""Verbs that have verbs of their own: `engine session phase`, `engine role set`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from handbill.cli.project import project_option

Argument = tuple[str, dict[str, Any]]
Action = tuple[str, tuple[Argument, ...]]  # (help, arguments)

SESSION: Argument = ("--session", {"metavar": "ID", "help": "the client's session (default: yours, or the newest)"})
AGENT: Argument = ("--agent", {"metavar": "ID", "help": "a subagent's window instead of the main one"})


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + ("" if text.endswith("?") else ".")


def add_actions(parser: argparse.ArgumentParser, actions: Mapping[str, Action]) -> None:
    verbs = parser.add_subparsers(dest="action", metavar="VERB", title="verbs", required=True)
    for name, (help_text, arguments) in actions.items():
        sub = verbs.add_parser(name, help=help_text, description=_sentence(help_text))
        for flag, options in arguments:
            sub.add_argument(flag, **options)
        project_option(sub)
        sub.add_argument(  # as before the verb, and no second default that would undo it
            "--json", action="store_true", default=argparse.SUPPRESS, help="print one JSON object, for programs"
        )
