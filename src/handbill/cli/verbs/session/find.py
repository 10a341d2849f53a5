"""`engine session find`: prints the folder of this window's session."""

from __future__ import annotations

import argparse

from handbill.cli.caller import desk
from handbill.cli.result import Result
from handbill.store.sessions import NoSession


def run(args: argparse.Namespace) -> Result:
    at = desk(args.project)
    if not at.window:
        raise NoSession(
            "this shell does not belong to an agent's window", "run it from the agent, or: engine session list"
        )
    folder = at.find()
    if not folder:
        raise NoSession("this window has no session", "engine session activate NAME SKILL")
    return Result({"session": folder}, text=folder)
