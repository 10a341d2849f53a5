"""`engine session VERB`: a piece of work with a skill, phases and proof."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import TYPE_CHECKING

from handbill.cli.subcommands import Action, Argument, Fields
from handbill.work.detect_project import CONTEXT
from handbill.work.stdin_fields import ENDING, PARAMETERS

if TYPE_CHECKING:
    from handbill.cli.result import Result

_NAME: Argument = ("session", {"metavar": "SESSION", "help": "its name, sessions/NAME, or the folder's path"})
_OWN: Argument = ("session", {"metavar": "SESSION", "nargs": "?", "help": "default: this window's own"})
_APPROVED: Argument = (
    "--user-approved",
    {"metavar": "REASON", "default": "", "help": "what the user said; it is recorded"},
)
_KEYWORDS: Argument = ("--keywords", {"metavar": "A,B", "default": "", "help": "keywords for finding this session"})

_PARAMETERS = Fields("JSON object on stdin (optional): the task's parameters", PARAMETERS)
_PROOF = Fields(
    "JSON object on stdin: the proof for the phase that you leave", {},
    "The fields depend on the phase. `engine session activate` and `phase` list them when the phase begins, with "
    "what each must say; `engine skills SKILL` shows their types.",
)  # fmt: skip
_ENDING = Fields("Text on stdin: what was done; or a JSON object", ENDING)
_CONTEXT = Fields("JSON object on stdin: what the next agent needs to know", CONTEXT)

ACTIONS: dict[str, Action] = {
    "init": Action(
        "create a session's folder and nothing else", (_NAME,), ("engine session init 2026_01_31_LOGIN",),
        confirms=True,
    ),
    "activate": Action(
        "begin a skill in a session; parameters as JSON on stdin", (
            _NAME, ("skill", {"metavar": "SKILL", "help": "its name; `engine skills` lists them"}),
            _APPROVED, ("--fast-track", {"action": "store_true", "help": "record that the user wants the fast track"}),
            ("--target-file", {"metavar": "FILE", "default": "", "help": "the file that the work is about"}),
        ),
        ("""echo '{"taskSummary": "Fix the login"}' | engine session activate 2026_01_31_LOGIN fix""",
         "engine session activate 2026_01_31_LOGIN fix --target-file api/orders.py < /dev/null"),
        _PARAMETERS, confirms=True,
    ),
    "phase": Action(
        "move to a phase; proof for the previous one as JSON on stdin",
        (_NAME, ("phase", {"metavar": "PHASE", "help": 'its label, or "LABEL: Name"'}), _APPROVED),
        ("""echo '{"contextRead": ["api/orders.py"]}' | engine session phase 2026_01_31_LOGIN 1""",
         'engine session phase 2026_01_31_LOGIN 0 --user-approved "start again" < /dev/null'),
        _PROOF, confirms=True,
    ),
    "continue": Action(
        "continue a session in this window", (_OWN,), ("engine session continue 2026_01_31_LOGIN",), confirms=True
    ),
    "idle": Action(
        "end the skill and keep the session for the next one; description on stdin", (_OWN, _KEYWORDS, _APPROVED),
        ("""echo 'The login works' | engine session idle 2026_01_31_LOGIN --user-approved 'that is enough'""",),
        _ENDING, confirms=True,
    ),
    "deactivate": Action(
        "end the session; description on stdin", (_OWN, _KEYWORDS, _APPROVED),
        ("""echo 'The login works' | engine session deactivate 2026_01_31_LOGIN --user-approved 'well done'""",),
        _ENDING, confirms=True,
    ),
    "dehydrate": Action(
        "leave a handover for the next agent that starts here, as JSON on stdin", (_OWN,),
        ("""echo '{"summary": "Half done", "nextSteps": ["Test"]}' | engine session dehydrate 2026_01_31_LOGIN""",),
        _CONTEXT, confirms=True,
    ),
    "find": Action("print the folder of this window's session", (), ("engine session find",)),
    "status": Action(
        "show a session's phase, history and holder", (_OWN,), ("engine session status 2026_01_31_LOGIN",)
    ),
    "list": Action(
        "list the sessions of this project, newest first",
        (("--all", {"action": "store_true", "help": "list all of them, not only the newest twenty"}),),
        ("engine session list", "engine session list --all"),
    ),
    "update": Action(
        "set a field of a session's state",
        (_NAME, ("field", {"metavar": "FIELD", "help": "the field's name"}),
         ("value", {"metavar": "VALUE", "help": "JSON, or plain text"}),
         ("--text", {"action": "store_true", "help": "store VALUE as text"})),
        ("engine session update 2026_01_31_LOGIN ticket 17",
         "engine session update 2026_01_31_LOGIN ticket 0017 --text"), confirms=True,
    ),
    "check": Action(
        "list what is still open before a session can end", (_OWN,), ("engine session check 2026_01_31_LOGIN",)
    ),
}  # fmt: skip
_MODULES = {"continue": "continue_", "idle": "finish", "deactivate": "finish", "list": "listing"}


def run(args: argparse.Namespace) -> Result:
    module = import_module(f"handbill.cli.verbs.session.{_MODULES.get(args.action, args.action)}")
    made: Result = module.run(args)
    return made
