"""`engine install`: registers the hooks, compiles them, and creates the folder for the state."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from handbill import VERSION
from handbill.cli import git_exclude, interpreter, settings_file, trust
from handbill.cli.clean import one_line
from handbill.cli.files import require_inside
from handbill.cli.launcher import Launcher
from handbill.cli.needed_hooks import needed, yaml_folder
from handbill.cli.project import at, find_project, project_option
from handbill.cli.result import Result
from handbill.cli.screen import count, safe
from handbill.errors import HandbillError
from handbill.hosts.claude_code import registration
from handbill.settings import state_roots
from handbill.store.disk import make_private_directory

if TYPE_CHECKING:
    from rich.console import Console

    from handbill.cli.git_exclude import Exclude


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--user", action="store_true", help="for all your projects (~/.claude/settings.json)")
    project_option(parser)
    parser.add_argument("--python", metavar="PATH", help="the interpreter (default: the fastest 3.11+ found)")
    parser.add_argument(
        "--lanes",
        type=int,
        choices=range(1, 9),
        metavar="N",
        help="parallel hooks (lanes) at session start (default: as many as the files need)",
    )
    parser.add_argument(
        "--exclude",
        action="store_true",
        help="keep .claude/settings.local.json out of git: add it to the repository's own exclude file",
    )
    parser.add_argument("--dry-run", action="store_true", help="show what would change, without changing it")
    parser.add_argument("-v", "--verbose", action="store_true", help="also show each line of the settings that changes")


def run(args: argparse.Namespace) -> Result:
    project = find_project(args.project)
    home = os.path.expanduser("~")
    if not args.user and project in ("/", home):
        raise HandbillError(f"{project} is not a project folder", "change to the project folder, or use --user")
    path = settings_file.path_for(project, user=args.user)
    if not args.user:
        require_inside(path, project)
    state = state_roots(project, os.environ)[0]
    before = trust.installed().get(path, {})
    chosen = interpreter.choose(args.python, before.get("interpreter", ""), project)
    settings = at(project).settings
    needs = needed(at(project).world(), settings, every=args.user and _holds_every(path))
    lanes = args.lanes or needs.lanes
    launcher = Launcher(chosen.path, settings_file.PACKAGE_PARENT, yaml_folder())
    ours = registration.handlers(launcher.command, lanes, every=needs.every)
    change = settings_file.installation(path, registration.grouped(ours, needs.held))
    exclude = None if args.user else git_exclude.missing(path, project)
    data: dict[str, Any] = {
        "settings": change.path, "changed": change.needed, "dry_run": args.dry_run, "interpreter": chosen.path,
        "python": ".".join(map(str, chosen.version)), "command": launcher.command, "lanes": lanes,
        "events": sorted(ours), "backup": "", "diff": change.diff(), "state": state, "compiled": False,
        "holds": needs.held.replace("|", ", ") or "every tool", "exclude": _described(exclude),
    }  # fmt: skip
    warnings = [f"{problem} (not used)" for problem in settings.problems]
    if registration.hooks_disabled(change.before or ""):
        warnings.append(f"disableAllHooks is on in {path}: no hook runs until you remove it")
    if not args.dry_run:
        data["exclude"]["added"] = bool(exclude and exclude.file and (args.exclude or _wants(exclude, args)))
        warnings += _carry_out(args, change, launcher, data)
        excluded = exclude.add() if exclude and data["exclude"]["added"] else before.get("excluded", "")
        trust.remember(path, {**_record(launcher), **({"excluded": excluded} if excluded else {})})
    warnings += _about(exclude, data["exclude"], args)
    next_step = (
        "run without --dry-run to apply"
        if args.dry_run
        else "start your agent (restart it if it is running), then: engine window"
    )
    return Result(data, lambda screen: _show(screen, data, args.verbose), next_step=next_step, warnings=warnings)


def _carry_out(
    args: argparse.Namespace, change: settings_file.Change, launcher: Launcher, data: dict[str, Any]
) -> list[str]:
    data["compiled"] = compile_package(launcher.interpreter)
    _make_state(data["state"])
    launcher.write()
    if change.needed:
        within = "" if args.user else os.path.dirname(os.path.dirname(change.path))
        data["backup"] = settings_file.carry_out(change, data["state"], within)
    if data["compiled"]:
        return []
    return ["the package folder cannot be written: hooks compile themselves on every event (slow)"]


def _record(launcher: Launcher) -> dict[str, Any]:
    """Return the fields of our own record. Only what it names is run or treated as ours."""
    return {
        "command": launcher.command, "interpreter": launcher.interpreter, "folder": launcher.folder,
        "packages": launcher.packages, "version": VERSION,
    }  # fmt: skip


def _holds_every(path: str) -> bool:
    """Whether the registered hooks hold every call.

    One project needed that, so an installation of another project must not narrow it.
    """
    return "" in registration.matchers(settings_file.parsed(path), "PreToolUse")


def compile_package(python: str) -> bool:
    """Compile the package for the interpreter of the hooks, so that no hook has to."""
    folder = os.path.join(settings_file.PACKAGE_PARENT, "handbill")
    done = subprocess.run(
        [python, "-I", "-m", "compileall", "-q", folder], capture_output=True, text=True, check=False, cwd="/"
    )
    return done.returncode == 0


def _make_state(state: str) -> None:
    try:
        make_private_directory(os.path.join(state, ".windows"))
    except OSError as error:
        raise HandbillError(
            f"{state} cannot be created: {error.strerror}", "make it writable, or set XDG_STATE_HOME"
        ) from error


# --- git ---------------------------------------------------------------------------------------------


def _described(exclude: Exclude | None) -> dict[str, Any]:
    return {"line": exclude.line if exclude else "", "file": exclude.file if exclude else "", "added": False}


def _wants(exclude: Exclude, args: argparse.Namespace) -> bool:
    """Ask a person whether to add the line. A program is not asked."""
    if args.json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    print(f"Git would show {one_line(exclude.line[1:])}, which is only for this machine.")
    print(f"Add it to {one_line(exclude.file)}? [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _about(exclude: Exclude | None, described: dict[str, Any], args: argparse.Namespace) -> list[str]:
    if exclude is None or described["added"]:
        return []
    why = "git does not ignore your settings file"
    if not exclude.file:
        return [f"{why}: add the line {exclude.line} to the repository's exclude file"]
    if not args.dry_run:
        return [f"{why}: engine install --exclude adds {exclude.line} to {exclude.file}"]
    if args.exclude:
        return [f"{why}: engine install would add {exclude.line} to {exclude.file}"]
    question = f"on a terminal, engine install would ask whether to add {exclude.line} to {exclude.file}"
    return [f"{why}: {question} (--exclude adds it without a question)"]


# --- for people --------------------------------------------------------------------------------------


def _show(screen: Console, data: dict[str, Any], verbose: bool) -> None:
    if data["diff"] and verbose:
        for line in data["diff"].splitlines():
            style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "dim")
            screen.print(line, style=style, markup=False, soft_wrap=True)
    did = "already registered in" if not data["changed"] else "would change" if data["dry_run"] else "registered in"
    screen.print(f"{did} [bold]{safe(data['settings'])}[/]", soft_wrap=True)
    screen.print(f"  interpreter  {safe(data['interpreter'])} (Python {data['python']})", soft_wrap=True)
    if len(data["command"]) == 1:
        screen.print(f"  command      {safe(data['command'][0])}", soft_wrap=True)
    lanes = count(data["lanes"], "lane")
    screen.print(f"  hooks        {len(data['events'])} events, {lanes} at session start", soft_wrap=True)
    screen.print(f"  held calls   {data['holds']}", soft_wrap=True)
    if data["backup"]:
        screen.print(f"  backup       {safe(data['backup'])}", soft_wrap=True)
    if data["exclude"]["added"]:
        screen.print(f"  git          {safe(data['exclude']['line'])} is now in {safe(data['exclude']['file'])}")
    made = "would keep ledgers and logs in" if data["dry_run"] else "ledgers and logs in"
    screen.print(f"  state        {made} {safe(data['state'])}", soft_wrap=True)
    if data["dry_run"] and data["diff"] and not verbose:
        screen.print("  [dim]--verbose shows each line that changes[/]")
