"""`engine session init`: creates a folder for documents before any skill begins."""

from __future__ import annotations

import argparse
import os

from handbill.cli.caller import desk
from handbill.cli.result import Result
from handbill.store import sessions


def run(args: argparse.Namespace) -> Result:
    at = desk(args.project)
    folder = at.folder(args.session)
    there = os.path.isdir(folder)
    sessions.update(folder, lambda state: (None, None), make=True)
    words = "Session already exists" if there else "New session created"
    return Result(
        {"session": folder, "created": not there}, text=f"{words}: {at.shown(folder)}",
        next_step=f"engine session activate {os.path.basename(folder)} SKILL",
    )  # fmt: skip
