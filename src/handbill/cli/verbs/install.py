"""`engine install`: register the hooks, compile them, and make room for the state."""

from __future__ import annotations

import argparse
import os
import subprocess
from typing import TYPE_CHECKING, Any

from handbill.cli import interpreter, settings_file, trust
from handbill.cli.files import require_inside
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
    parser.add_argument("--dry-run", action="store_true", help="show what would change, without changing it")
    parser.add_argument("--reformat", action="store_true", help="allow the settings file to be reformatted")


def run(args: argparse.Namespace) -> Result:
    project = find_project(args.project)
    home = os.path.expanduser("~")
    if not args.user and project in ("/", home):
        raise HandbillError(f"{project} is not a project folder", "change to the project folder, or use --user")
    path = settings_file.path_for(project, user=args.user)
    if not args.user:
        require_inside(path, project)
    state = state_roots(project, os.environ)[0]
    chosen = interpreter.choose(args.python, trust.installed().get(path, {}).get("interpreter", ""), project)
    settings = at(project).settings
    needs = needed(at(project).world(), settings, every=args.user and _holds_every(path))
    lanes = args.lanes or needs.lanes
    ours = registration.handlers(
        chosen.path, settings_file.PACKAGE_PARENT, lanes, every=needs.every, packages=yaml_folder()
    )
    warnings: list[str] = [f"{problem} (not used)" for problem in settings.problems]
    change = settings_file.planned(path, ours, reformat=args.reformat, held=needs.held)
    data: dict[str, Any] = {
        "settings": change.path, "changed": change.needed, "dry_run": args.dry_run, "interpreter": chosen.path,
        "python": ".".join(map(str, chosen.version)), "lanes": lanes, "events": sorted(ours), "backup": "",
        "diff": change.diff(), "state": state,
        "compiled": False, "holds": needs.held.replace("|", ", ") or "every tool",
    }  # fmt: skip
    if registration.hooks_disabled(change.before):
        warnings.append(f"disableAllHooks is on in {path}: no hook runs until you remove it")
    if not args.dry_run:
        data["compiled"] = compile_package(chosen.path)
        if not data["compiled"]:
            warnings.append("the package folder cannot be written: hooks compile themselves on every event (slow)")
        _make_state(state)
        if change.needed:
            data["backup"] = settings_file.carry_out(change, state, "" if args.user else project)
        trust.remember(path, chosen.path, settings_file.PACKAGE_PARENT)
    next_step = (
        "run without --dry-run to apply"
        if args.dry_run
        else "start your agent (restart it if it is running), then: engine window"
    )
    return Result(data, lambda screen: _show(screen, data), next_step=next_step, warnings=warnings)


def _holds_every(path: str) -> bool:
    """Some project needed that: what is for all of them is not narrowed by another one."""
    return "" in registration.matchers(registration.parse(settings_file.read(path), path), "PreToolUse")


def compile_package(python: str) -> bool:
    """Bytecode for the interpreter that will run it; hooks must never pay for it."""
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


def _show(screen: Console, data: dict[str, Any]) -> None:
    if data["diff"] and data["dry_run"]:
        for line in data["diff"].splitlines():
            style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "dim")
            screen.print(line, style=style, markup=False, soft_wrap=True)
    did = "already registered in" if not data["changed"] else "would change" if data["dry_run"] else "registered in"
    screen.print(f"{did} [bold]{safe(data['settings'])}[/]", soft_wrap=True)
    screen.print(f"  interpreter  {safe(data['interpreter'])} (Python {data['python']})", soft_wrap=True)
    lanes = count(data["lanes"], "lane")
    screen.print(f"  hooks        {len(data['events'])} events, {lanes} at session start", soft_wrap=True)
    screen.print(f"  held calls   {data['holds']}", soft_wrap=True)
    if data["backup"]:
        screen.print(f"  backup       {safe(data['backup'])}", soft_wrap=True)
    made = "would keep ledgers and logs in" if data["dry_run"] else "ledgers and logs in"
    screen.print(f"  state        {made} {safe(data['state'])}", soft_wrap=True)
