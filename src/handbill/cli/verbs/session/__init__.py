"""`engine session VERB`: a piece of work with a skill, phases and proof."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import TYPE_CHECKING

from handbill.cli.subcommands import Argument, add_actions

if TYPE_CHECKING:
    from handbill.cli.result import Result

_NAME: Argument = ("session", {"metavar": "SESSION", "help": "its name, sessions/NAME, or the folder's path"})
_OWN: Argument = ("session", {"metavar": "SESSION", "nargs": "?", "help": "default: this window's own"})
_APPROVED: Argument = (
    "--user-approved",
    {"metavar": "REASON", "default": "", "help": "what the user said; it is recorded"},
)
_KEYWORDS: Argument = ("--keywords", {"metavar": "A,B", "default": "", "help": "keywords for finding this session"})

# verb -> (module, help, arguments)
VERBS: dict[str, tuple[str, str, tuple[Argument, ...]]] = {
    "init": ("init", "create a session's folder and nothing else", (_NAME,)),
    "activate": (
        "activate", "begin a skill in a session; parameters as JSON on stdin", (
            _NAME, ("skill", {"metavar": "SKILL", "help": "its name; `engine skills` lists them"}),
            _APPROVED, ("--fast-track", {"action": "store_true", "help": "record that the user wants the fast track"}),
            ("--target-file", {"metavar": "FILE", "default": "", "help": "the file that the work is about"}),
        ),
    ),
    "phase": (
        "phase", "move to a phase; proof for the previous one as JSON on stdin",
        (_NAME, ("phase", {"metavar": "PHASE", "help": 'its label, or "LABEL: Name"'}), _APPROVED),
    ),
    "continue": ("continue_", "continue a session in this window", (_OWN,)),
    "idle": (
        "finish", "end the skill and keep the session for the next one; description on stdin",
        (_OWN, _KEYWORDS, _APPROVED),
    ),
    "deactivate": ("finish", "end the session; description on stdin", (_OWN, _KEYWORDS, _APPROVED)),
    "dehydrate": (
        "dehydrate", "leave a handover for the next agent that starts here, as JSON on stdin",
        (_OWN,),
    ),
    "find": ("find", "print the folder of this window's session", ()),
    "status": ("status", "show a session's phase, history and holder", (_OWN,)),
    "list": ("listing", "list the sessions of this project, newest first", (
        ("--all", {"action": "store_true", "help": "list all of them, not only the newest twenty"}),)),
    "update": (
        "update", "set a field of a session's state",
        (_NAME, ("field", {"metavar": "FIELD", "help": "the field's name"}),
         ("value", {"metavar": "VALUE", "help": "JSON, or plain text"}),
         ("--text", {"action": "store_true", "help": "store VALUE as text"})),
    ),
    "check": ("check", "list what is still open before a session can end", (_OWN,)),
}  # fmt: skip


def configure(parser: argparse.ArgumentParser) -> None:
    add_actions(parser, {name: (help_text, arguments) for name, (_, help_text, arguments) in VERBS.items()})


def run(args: argparse.Namespace) -> Result:
    made: Result = import_module(f"handbill.cli.verbs.session.{VERBS[args.action][0]}").run(args)
    return made
