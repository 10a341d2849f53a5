"""`engine dispatch`: a worker's contract in one file, with status, progress and result."""

from __future__ import annotations

import argparse
import os
import stat
from collections.abc import Callable, Iterator

from handbill.cli.files import replace_text
from handbill.cli.project import marked_project
from handbill.cli.result import Result
from handbill.cli.screen import count, stamp
from handbill.cli.stdin import NEEDED, BadInput, piped
from handbill.cli.subcommands import Action, Argument
from handbill.cli.trust import is_inside, resolved
from handbill.digest import digest_of
from handbill.errors import HandbillError
from handbill.settings import folder_of
from handbill.store import disk
from handbill.work import dispatch as form

_MOST = 1 << 20
_FILE: Argument = ("file", {"metavar": "FILE", "help": "the dispatch file"})
ACTIONS: dict[str, Action] = {
    "new": Action("create a dispatch file", (
        _FILE, ("--title", {"default": "", "help": "its title (default: from the file's name)"}),
        ("--task", {"default": "", "help": "the task (default: stdin)"}),
    ), ('engine dispatch new retry.md --task "Retry failed jobs"',
        "echo 'Retry failed jobs' | engine dispatch new jobs.md"), confirms=True),
    "check": Action(
        "check that the file is well-formed and that no progress was removed", (_FILE,),
        ("engine dispatch check retry.md",), confirms=True,
    ),
    "progress": Action("add a line at the end of the progress section", (
        _FILE, ("text", {"metavar": "TEXT", "help": "one line"}),
        ("--status", {
            "choices": form.STATUSES, "default": "", "metavar": "STATUS",
            "help": f"also set the status: {', '.join(form.STATUSES)}",
        }),
    ), ('engine dispatch progress retry.md "jobs are retried twice" --status in-progress',), confirms=True),
    "finish": Action("set the result (stdin) and the status", (
        _FILE, ("--status", {
            "choices": form.FINISHED, "default": form.DONE, "metavar": "STATUS",
            "help": f"{', '.join(form.FINISHED)} (default: {form.DONE})",
        }),
    ), ("echo 'Jobs are retried; tests pass' | engine dispatch finish retry.md",), confirms=True),
}  # fmt: skip


class Malformed(HandbillError):
    code = "malformed-dispatch"


def run(args: argparse.Namespace) -> Result:
    path = contract_path(args.file)
    if args.action == "new":
        task = args.task or piped(NEEDED).text.strip()
        if not task:
            raise BadInput("the task is missing", "give it with --task TEXT or on stdin")
        make(path, args.title or os.path.splitext(os.path.basename(path))[0], task)
        return Result(
            {"file": path}, text=f"{path}: created", next_step=f"engine worker launch NAME REPO PROMPT {path}"
        )
    if args.action == "check":
        found = refuse_if_wrong(path)
        data = {"file": path, "status": found.status, "title": found.title, "progress": found.progress}
        return Result(
            data, text=f"{path}: {found.status}, {count(len(found.progress), 'line')} of progress, no problems"
        )
    if args.action == "progress":
        line = " ".join(args.text.split())
        if not line:
            raise BadInput("the line of progress is empty", 'engine dispatch progress FILE "what was done"')
        entry = f"{stamp()} {line}"
        found = changed(path, lambda text: _status(form.with_progress(text, entry), args.status))
        return Result({"file": path, "entry": entry, "status": found.status}, text=f"noted: {entry}")
    before = refuse_if_wrong(path)
    result = piped(NEEDED).text.strip()
    if not result and args.status != form.CANCELLED:
        raise BadInput("the result is missing", f"echo 'the result' | engine dispatch finish {args.file}")
    text = result or form.CANCELLED
    found = changed(path, lambda before: form.with_status(form.with_result(before, text), args.status))
    replaced = f"the dispatch was {before.status} already; the new result replaced the old one"
    again = [replaced] if before.status in form.FINISHED else []
    return Result({"file": path, "status": found.status}, text=f"{path}: {found.status}", warnings=again)


def contract_path(written: str) -> str:
    """Return the real path of the file that a person named.

    A link in a project must not lead out of it, because the project chose its target.
    """
    path = os.path.abspath(os.path.expanduser(written))
    real = resolved(path)
    for link in _links(path):
        project = marked_project(os.path.dirname(link))
        if not real or (project and not is_inside(path, project)):
            raise HandbillError(
                f"{path} leads out of the project (to {real})", "if you mean that file, name it directly"
            )
    if not real.isprintable():
        raise HandbillError(f"{real!r} has characters that no terminal can show", "rename it")
    return real


def _links(path: str) -> Iterator[str]:
    """Yield each leading part of a path that is a link."""
    at = path.find("/", 1)
    while at >= 0:
        if os.path.islink(path[:at]):
            yield path[:at]
        at = path.find("/", at + 1)
    if os.path.islink(path):
        yield path


def _status(text: str, status: str) -> str:
    return form.with_status(text, status) if status else text


def make(path: str, title: str, task: str) -> None:
    text = f"# {title}\nStatus: {form.PENDING}\n\n## Task\n{task}\n\n## Progress\n\n## Result\n"
    wrong = form.problems(text)
    if wrong:
        raise Malformed(f"this is not a dispatch: {'; '.join(wrong)}", "use a title, a task, and closed code fences")
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise HandbillError(f"{path} already exists", "use another name; a contract is never overwritten") from None
    except OSError as error:
        raise HandbillError(f"{path}: {error.strerror}", "make it writable") from error
    _keep(path, text)  # this replaces what was kept of an earlier file at this path


def refuse_if_wrong(path: str) -> form.Dispatch:
    """Return the dispatch. Raises if it is malformed, or if recorded progress is missing."""
    text, before = _read(path).replace("\r\n", "\n"), _kept(path)
    _refused(path, form.problems(text, before))
    _keep(path, text)
    return form.Dispatch(text)


def changed(path: str, change: Callable[[str], str]) -> form.Dispatch:
    """Change a dispatch in one process at a time. Return the new dispatch.

    Raises if the dispatch is malformed or loses progress, before or after the change.
    """
    try:
        lock = disk.locked(_shelf(path) + ".lock", disk.COMMAND_PATIENCE)
    except OSError as error:
        raise HandbillError(f"{error.filename}: {error.strerror}", "nothing was changed; make it writable") from error
    try:
        text = _read(path)
        ends = "\r\n" if "\r\n" in text else "\n"
        plain = text.replace("\r\n", "\n")
        _refused(path, form.problems(plain, _kept(path)))
        after = change(plain)
        _refused(path, form.problems(after, plain))
        replace_text(path, after.replace("\n", ends))
        _keep(path, after)
        return form.Dispatch(after)
    finally:
        os.close(lock)


def _refused(path: str, wrong: list[str]) -> None:
    if wrong:
        lost = all(line.startswith("progress was removed") for line in wrong)
        hint = "put these lines back" if lost else "correct it; `engine dispatch new FILE` creates one to compare with"
        raise Malformed(f"{path}: {'; '.join(wrong)}", hint)


def _read(path: str) -> str:
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST:
            what = f"has more than {_MOST:,} bytes" if stat.S_ISREG(status.st_mode) else "is not a regular file"
            raise HandbillError(f"{path} {what}", "a dispatch is a page of text")
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        raise HandbillError(f"there is no file {path}", "engine dispatch new FILE creates one") from None
    except (OSError, UnicodeDecodeError) as error:
        raise HandbillError(f"{path}: {error}", "make it readable UTF-8") from error


def _shelf(path: str) -> str:
    """Return where the last state of a dispatch is kept, to detect what was removed from it."""
    state = folder_of("XDG_STATE_HOME", ".local/state", os.environ)
    return os.path.join(state, "handbill", "dispatches", f"{digest_of(path)}.md")


def _kept(path: str) -> str | None:
    try:
        with open(_shelf(path), encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None  # the dispatch was never seen before


def _keep(path: str, text: str) -> None:
    shelf = _shelf(path)
    try:
        disk.make_private_directory(os.path.dirname(shelf))
        disk.replace(shelf, text.encode("utf-8", "replace"))
    except OSError as error:
        hint = "make it writable: without it nobody can see whether progress is removed"
        raise HandbillError(f"{shelf} cannot be written: {error.strerror}", hint) from error
