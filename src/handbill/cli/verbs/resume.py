"""`engine resume`: a project's `_resume.md`, from which work continues after a compaction."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from handbill.cli.files import read_text, replace_text, require_inside
from handbill.cli.parser import like
from handbill.cli.project import choose_window, here
from handbill.cli.result import Result
from handbill.cli.screen import count, labelled, safe, short, table, when_written
from handbill.cli.stdin import BadInput, piped
from handbill.cli.subcommands import Action, Argument, Fields
from handbill.errors import CorruptState, HandbillError
from handbill.library.handover import ResumeFile
from handbill.project import Project
from handbill.text.frontmatter import BadHead, parse
from handbill.work import schema
from handbill.work.detect_project import HEAD, Layout, is_name, quoted

if TYPE_CHECKING:
    from rich.console import Console

_PROJECT: Argument = ("project_id", {"metavar": "PROJECT", "help": "the project's folder name"})
_MAYBE: Argument = ("project_id", {"metavar": "PROJECT", "nargs": "?", "help": "default: all of them"})
_MORE = {"action": "append", "default": []}
_MOST_PROJECTS = 300  # projects that one command reads
ACTIONS: dict[str, Action] = {
    "write": Action(
        "create a project's resume file, or set its fields; text for it on stdin",
        (
            _PROJECT,
            (
                "--load",
                {**_MORE, "metavar": "FILE", "help": "a file to deliver; replaces the present list; repeat for more"},
            ),
            ("--next", {"default": "", "metavar": "SKILL", "help": "what to do next: a skill, or a sentence"}),
            ("--phase", {"default": "", "help": "the current phase"}),
            ("--task", {"default": "", "help": "the current task"}),
            ("--question", {**_MORE, "metavar": "TEXT", "help": "a question to answer first; repeat for more"}),
        ),
        (
            "engine resume write shop --load overview.md --next execute-project < /dev/null",
            "echo 'Two steps are left.' | engine resume write shop",
        ),
        Fields("Fields of the file (YAML between two lines `---`); text on stdin follows them", HEAD),
        confirms=True,
    ),
    "show": Action(
        "show what would be delivered, and what is recorded for this window", (_MAYBE,), ("engine resume show",)
    ),
    "check": Action(
        "check each resume file and the files that it names",
        (_MAYBE,),
        ("engine resume check", "engine resume check shop"),
    ),
}


class BadResume(HandbillError):
    code = "bad-resume"


class Shelf:
    """The projects of one repository and their resume files."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.world = project.world()
        self.layout = Layout(project.root, project.settings.gate("resume")["layout"])

    def projects(self) -> list[str]:
        return [name for name in self.world.names(self.layout.folder) if os.path.isdir(self.layout.home(name))]

    def chosen(self, name: str | None) -> list[str]:
        known = self.projects()
        if name is not None and (not is_name(name) or name not in known):
            where = short(self.layout.folder, self.project.root)
            raise BadResume(
                f"there is no project {name!r} in {where}{like(name, known)}",
                f"make {where}/{name} first, or set `layout` in [resume] of .handbill.toml",
            )
        return [name] if name is not None else known

    def looked_at(self, project: str) -> dict[str, Any]:
        """Return what a project's resume file would hand over, and its problems."""
        path = self.layout.resume_file(project)
        row: dict[str, Any] = {"project": project, "file": path, "problems": [], "files": [], "next_action": ""}
        if not os.path.isfile(path):
            return {**row, "problems": [f"{path} does not exist"]}
        found = ResumeFile(project, self.layout, self.world, self.project.settings)
        if found.wrong:
            return {**row, "problems": found.wrong}
        row["files"] = [
            {"file": one, "tokens": size, "given": one in found.bundle.given}
            for one, size in found.bundle.sizes.items()
        ]
        return {**row, "problems": found.unusable, "next_action": found.action}


def run(args: argparse.Namespace) -> Result:
    shelf = Shelf(here(args.project))
    if args.action == "write":
        return _write(args, shelf)
    chosen = shelf.chosen(args.project_id)
    rows = [shelf.looked_at(project) for project in chosen[:_MOST_PROJECTS]]
    if args.action == "show" and args.project_id is None:
        rows = [row for row in rows if os.path.isfile(row["file"])]
    wrong = sum(bool(row["problems"]) for row in rows)
    left_out = len(chosen[_MOST_PROJECTS:])
    data: dict[str, Any] = {"projects": rows, "folder": shelf.layout.folder, "problems": wrong, "left_out": left_out}
    if args.action == "show":
        data["noted"] = _noted(shelf.project)
    root = shelf.project.root
    return Result(
        data, lambda screen: _show(screen, data, root), exit_code=1 if wrong and args.action == "check" else 0,
        next_step="" if rows else "engine resume write PROJECT --load FILE",
    )  # fmt: skip


def _noted(project: Project) -> dict[str, Any] | None:
    """Return what the last PreCompact recorded for the caller's window, or for the newest one."""
    try:
        return project.store.noted(choose_window(project, None, None), "resume")
    except CorruptState as error:
        return {"problem": str(error)}
    except HandbillError:
        return None  # no window is known yet


def _write(args: argparse.Namespace, shelf: Shelf) -> Result:
    (project,) = shelf.chosen(args.project_id)
    path = shelf.layout.resume_file(project)
    before, body = _existing(path)
    home = shelf.layout.home(project)
    told = {
        "files_to_load": [_named(one, home) for one in args.load] or before.get("files_to_load") or _usual(path, home),
        "next_action": args.next or before.get("next_action"), "current_phase": args.phase,
        "current_task": args.task, "validation_questions": args.question,
    }  # fmt: skip
    head = {"project_id": project, **before, **{name: value for name, value in told.items() if value}}
    if not head.get("files_to_load"):
        raise BadInput("no files to deliver are named", f"engine resume write {quoted(project)} --load FILE")
    wrong = schema.problems(head, HEAD)
    if wrong:
        raise BadResume(f"{path}: {wrong[0]}", "correct the file, or the options")
    given = piped()
    require_inside(path, shelf.project.root)
    _kept(path, head, given.text.strip() or body.strip() or f"# {project}", shelf.project.root)
    row = shelf.looked_at(project)
    text = f"{short(path, shelf.project.root)}: {count(len(head['files_to_load']), 'file')}" + (
        f", next {head['next_action']}" if head.get("next_action") else ""
    )
    warnings = [*given.note, *row["problems"]]
    return Result(row, text=text, warnings=warnings, next_step=f"engine resume show {project}")


def _named(written: str, home: str) -> str:
    """Return a path as the resume file names it.

    A file that exists only from the current folder is named relative to `home`.
    """
    here_too = os.path.abspath(written)
    if os.path.isfile(os.path.join(home, written)) or not os.path.isfile(here_too):
        return written
    return os.path.relpath(here_too, home)


def _usual(path: str, home: str) -> list[str]:
    """Return the usual planning files that exist."""
    folder = os.path.dirname(path)
    names = [os.path.join(folder, name) for name in ("overview.md", "plan.md", "steps.md")]
    return [os.path.relpath(name, home) for name in names if os.path.isfile(name)]


def _kept(path: str, head: dict[str, Any], body: str, within: str) -> None:
    import yaml

    try:
        written = yaml.safe_dump(head, sort_keys=False, allow_unicode=True)
    except ValueError as error:  # for example, an integer with thousands of digits
        raise BadResume(f"{path}: {error}", "correct it, or move it elsewhere") from error
    text = f"---\n{written}---\n\n{body}\n"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if not os.path.exists(path):
            with open(path, "x", encoding="utf-8"):
                pass  # create the file with the user's default mode
    except OSError as error:
        raise BadResume(f"{path}: {error.strerror}", "nothing was written; make it writable") from error
    replace_text(path, text, within)


def _existing(path: str) -> tuple[dict[str, Any], str]:
    try:
        return parse(read_text(path).removeprefix("\ufeff").replace("\r\n", "\n"))
    except FileNotFoundError:
        return {}, ""
    except BadHead as error:
        raise BadResume(f"{path}: {error}", "correct it, or move it elsewhere") from error


def _show(screen: Console, data: dict[str, Any], root: str) -> None:
    if not data["projects"]:
        screen.print(f"no resume files in {safe(short(data['folder'], root))}")
    for row in data["projects"]:
        next_action = f"  next: {safe(row['next_action'])}" if row["next_action"] else ""
        screen.print(f"[bold]{safe(row['project'])}[/]{next_action}")
        if row["files"]:
            made = table("file|p", "tokens|r-", "handed over|n")
            for one in row["files"]:
                made.add_row(
                    short(one["file"], root), f"~{one['tokens']:,}", "whole" if one["given"] else "[yellow]by path[/]"
                )
            screen.print(made)
        for problem in row["problems"]:
            labelled(screen, "  [red]✗[/] ", safe(problem))
    if data["left_out"]:
        screen.print(f"[yellow]{count(data['left_out'], 'more project')} not read:[/] name one to see it")
    if data.get("noted"):
        screen.print(f"[dim]recorded before the last compaction:[/] {safe(_told(data['noted']))}")


def _told(noted: dict[str, Any]) -> str:
    if noted.get("problem"):
        return str(noted["problem"])
    project = noted.get("active_project_id") or "no project"
    used = ", used" if noted.get("consumed") is not None else ""
    how = f"confidence {noted.get('confidence')}, by {noted.get('detection_method')}"
    return f"{project}, {how}, {when_written(str(noted.get('created_at', '')))}{used}"
