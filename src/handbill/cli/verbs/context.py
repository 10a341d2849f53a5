"""`engine context`: the project's working context as one packet of a given size."""

from __future__ import annotations

import argparse
import os

from handbill.cli.project import here, project_option
from handbill.cli.result import Result
from handbill.errors import HandbillError
from handbill.handlers.load_gate import context_files
from handbill.text.document import Refusal
from handbill.text.packet import Packet


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--budget", type=int, default=4000, metavar="N", help="tokens (default: 4000)")
    project_option(parser)


def run(args: argparse.Namespace) -> Result:
    project = here(args.project)
    world = project.world()
    gate = project.settings.gate("load_gate")
    if args.budget < 1:
        raise HandbillError("the budget must be at least 1 token", "e.g. --budget 4000")
    files, warnings = [], []
    for path in context_files(world, project.settings):
        document = world.load(path)
        name = os.path.relpath(path, project.root)
        if isinstance(document, Refusal):
            warnings.append(f"{name} {document.why}")
        else:
            files.append((name, document.text))
    if not files and warnings:
        raise HandbillError(f"no context file can be used: {'; '.join(warnings)}", "correct the files")
    if not files:
        names = ", ".join(gate["files"])
        raise HandbillError(
            f"there is no context in {os.path.join(project.root, gate['folder'])}",
            f"put one of {names} there, or name others in [load_gate] of .handbill.toml",
        )
    packet = Packet(files, args.budget)
    if packet.size > args.budget:
        raise HandbillError(
            f"a budget of {args.budget} is too small for a single section", f"try --budget {packet.size * 10}"
        )
    data = {
        "budget": args.budget, "tokens": packet.size, "text": packet.text(), "shares": packet.shares,
        "taken": [{"file": s.file, "section": s.title, "tokens": s.size} for s in packet.sections if s.taken],
        "left": [{"file": s.file, "section": s.title, "tokens": s.size} for s in packet.left],
    }  # fmt: skip
    return Result(data, text=packet.text(), warnings=warnings)
