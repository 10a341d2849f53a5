"""`engine role`: the role of a session, whose files are delivered again after a compaction."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from handbill.cli.needed_hooks import needed
from handbill.cli.parser import like
from handbill.cli.project import choose_window, here
from handbill.cli.result import Result
from handbill.cli.screen import safe, table
from handbill.cli.subcommands import SESSION, Action
from handbill.cli.trust import is_inside, resolved
from handbill.errors import HandbillError
from handbill.event import MAIN
from handbill.library.roles import REGULAR, declared
from handbill.project import Project, session_of

if TYPE_CHECKING:
    from rich.console import Console

ACTIONS: dict[str, Action] = {
    "list": Action("list the roles, how each is recognized, and its files", (), ("engine role list",)),
    "set": Action(
        "set the role of this session", (
            ("name", {"metavar": "ROLE", "help": "e.g. handler; `engine role list` shows them"}),
            ("--dispatch", {"metavar": "FILE", "default": "", "help": "the file with its contract and progress"}),
            SESSION,
        ),
        ("engine role set handler",), confirms=True,
    ),
    "clear": Action(
        "remove the role that was set; it is then recognized automatically again", (SESSION,), ("engine role clear",),
        confirms=True,
    ),
}  # fmt: skip


def run(args: argparse.Namespace) -> Result:
    project = here(args.project)
    if args.action == "list":
        return _list(project)
    note = checked(args.name, args.dispatch, project) if args.action == "set" else None
    key = (session_of(choose_window(project, args.session, None)), MAIN)
    project.store.note(key, "role", note)
    if note is None:
        return Result({"session": key[0]}, text=f"{key[0]}: the role was removed", next_step="engine gate status")
    warnings = [] if needed(project.world(), project.settings).every or args.name == REGULAR else [
        "the hooks run before a few tools only, so other calls cannot be held; "
        f"declare [roles.{args.name}] in .handbill.toml and run `engine install` to change that"
    ]  # fmt: skip
    text = f"{key[0]} has the role {args.name}" + (f", with {note['dispatch']}" if note.get("dispatch") else "")
    return Result({"session": key[0], **note}, text=text, warnings=warnings, next_step="engine gate status")


def checked(name: str, dispatch: str, project: Project) -> dict[str, Any]:
    """Return the note about a role. Raises if the role or its dispatch cannot be used."""
    roles = declared(project.world(), project.settings)
    if name not in roles:
        hint = f"use one of {', '.join(roles)}; or declare your own as [roles.{name}] in .handbill.toml"
        raise HandbillError(f"no role {name!r} is declared{like(name, list(roles))}", hint)
    note: dict[str, Any] = {"role": name, "how": "set by engine role"}
    if dispatch:
        path = os.path.abspath(os.path.expanduser(dispatch))
        if not os.path.isfile(path):
            raise HandbillError(f"there is no file {path}", "engine dispatch new FILE creates one")
        if path.startswith(project.root + "/") and not is_inside(path, project.root):
            raise HandbillError(
                f"{path} leads out of the project (to {resolved(path)})", "if you mean that file, name it directly"
            )
        note["dispatch"] = path
    return note


def _list(project: Project) -> Result:
    roles = declared(project.world(), project.settings)
    rows = [
        {
            "role": name,
            "known_by": "no other role fits" if name == REGULAR else _known_by(values),
            "files": _files(values),
        }
        for name, values in roles.items()
    ]

    def show(screen: Console) -> None:
        made = table("role|n", "recognized by", "files again after a compaction|+")
        for row in rows:
            made.add_row(safe(row["role"]), safe(row["known_by"]), safe(row["files"]))
        screen.print(made)

    return Result({"roles": rows}, show, next_step="engine role set ROLE; your own: [roles.NAME] in .handbill.toml")


def _known_by(values: dict[str, Any]) -> str:
    found = [f"skill {name}" for name in values.get("skills", ())] + [f"${line}" for line in values.get("env", ())]
    found += [f"home {values['home']}"] if values.get("home") else []
    found += [f"marker {values['marker']}"] if values.get("marker") else []
    return ", ".join(found) or "engine role set"


def _files(values: dict[str, Any]) -> str:
    found = ["its dispatch file"] if values.get("dispatch") else []
    found += values.get("targets", [])
    found += [f"{pattern} (read by itself)" for pattern in values.get("read", ())]
    return ", ".join(found) or "none"
