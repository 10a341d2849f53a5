"""`engine session VERB`: a piece of work with a skill, phases and proof."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import TYPE_CHECKING, Any

from handbill.cli.place import project_option

if TYPE_CHECKING:
    from handbill.cli.result import Result

Argument = tuple[str, dict[str, Any]]

_NAME: Argument = ("session", {"metavar": "SESSION", "help": "its name, sessions/NAME, or the folder's path"})
_OWN: Argument = ("session", {"metavar": "SESSION", "nargs": "?", "help": "default: this window's own"})
_APPROVED: Argument = (
    "--user-approved",
    {"metavar": "REASON", "default": "", "help": "what the user said; it is recorded"},
)
_KEYWORDS: Argument = ("--keywords", {"metavar": "A,B", "default": "", "help": "words to find this session by"})

# verb -> (module, help, arguments)
VERBS: dict[str, tuple[str, str, tuple[Argument, ...]]] = {
    "init": ("init", "make a session's folder, nothing else", (_NAME,)),
    "activate": (
        "activate", "begin a skill in a session; parameters as JSON on stdin", (
            _NAME, ("skill", {"metavar": "SKILL", "help": "its name; `engine skills` lists them"}),
            _APPROVED, ("--fast-track", {"action": "store_true", "help": "recorded: the user wants the short way"}),
            ("--target-file", {"metavar": "FILE", "default": "", "help": "the file that the work is about"}),
        ),
    ),
    "phase": (
        "phase", "move on to a phase; proof for the one before as JSON on stdin",
        (_NAME, ("phase", {"metavar": "PHASE", "help": 'its label, or "LABEL: Name"'}), _APPROVED),
    ),
    "continue": ("resume", "go on with a session in this window", (_OWN,)),
    "idle": (
        "finish", "this skill is done, the session waits for the next; description on stdin",
        (_OWN, _KEYWORDS, _APPROVED),
    ),
    "deactivate": ("finish", "the session is done; description on stdin", (_OWN, _KEYWORDS, _APPROVED)),
    "find": ("find", "the folder of this window's session", ()),
    "status": ("status", "where a session stands: phase, history, who holds it", (_OWN,)),
    "list": ("listing", "the sessions of this project, newest first", (
        ("--all", {"action": "store_true", "help": "not only the newest twenty"}),)),
    "update": (
        "update", "set a field of a session's state",
        (_NAME, ("field", {"metavar": "FIELD"}), ("value", {"metavar": "VALUE", "help": "JSON, or plain text"}),
         ("--text", {"action": "store_true", "help": "take VALUE as text, whatever it looks like"})),
    ),
    "check": ("check", "what is still open before a session can end", (_OWN,)),
}  # fmt: skip


def configure(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="action", metavar="VERB", title="verbs", required=True)
    for name, (_, help_text, arguments) in VERBS.items():
        sub = verbs.add_parser(name, help=help_text, description=help_text[0].upper() + help_text[1:] + ".")
        for flag, options in arguments:
            sub.add_argument(flag, **options)
        project_option(sub)
        sub.add_argument(  # as before the verb, and no second default that would undo it
            "--json", action="store_true", default=argparse.SUPPRESS, help="answer in one JSON envelope, for programs"
        )


def run(args: argparse.Namespace) -> Result:
    made: Result = import_module(f"handbill.cli.session.{VERBS[args.action][0]}").run(args)
    return made
