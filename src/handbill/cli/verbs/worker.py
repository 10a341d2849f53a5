"""`engine worker launch`: starts an agent with a contract.

Its settings are its own and do not apply to other agents.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import uuid
from typing import Any

from handbill.cli import interpreter, settings_file, trust
from handbill.cli.checks.wiring import is_recorded, settings_paths
from handbill.cli.launcher import Launcher
from handbill.cli.needed_hooks import needed, yaml_folder
from handbill.cli.project import here
from handbill.cli.result import Result
from handbill.cli.subcommands import Action
from handbill.cli.trust import find_program, is_inside
from handbill.cli.verbs import dispatch
from handbill.errors import HandbillError
from handbill.event import MAIN
from handbill.flow.inbox import LAUNCHED_VARIABLE
from handbill.hosts.claude_code import registration
from handbill.project import Project
from handbill.store.disk import make_private_directory, replace
from handbill.work.dispatch import FINISHED

ACTIONS: dict[str, Action] = {
    "launch": Action(
        "prepare a worker, and print the command that starts it",
        (
            ("name", {"metavar": "NAME", "help": "its name"}),
            ("repo", {"metavar": "REPO", "help": "the folder it works in"}),
            ("prompt", {"metavar": "PROMPT", "help": "its first prompt"}),
            ("dispatch", {"metavar": "DISPATCH", "help": "the file with its contract; created from PROMPT if missing"}),
            ("--run", {"action": "store_true", "help": "also start it, in this terminal"}),
            (
                "--with",
                {
                    "dest": "more",
                    "metavar": "WORDS",
                    "default": "",
                    "help": "more arguments for the client: --with='-p --verbose'",
                },
            ),
        ),
        ('engine worker launch w1 . "Retry failed jobs" w1.md',),
    ),
}


def run(args: argparse.Namespace) -> Result:
    if not os.path.isdir(args.repo):
        raise HandbillError(f"there is no folder {args.repo}", "name the repository that the worker works in")
    try:
        more = shlex.split(args.more)
    except ValueError as error:
        raise HandbillError(f"--with: {error}", "quote it as a shell would") from None
    if not args.name.strip() or not args.prompt.strip():
        raise HandbillError("a worker needs a name and a prompt", "engine worker launch NAME REPO PROMPT DISPATCH")
    project = here(os.path.realpath(args.repo))
    path = dispatch.contract_path(args.dispatch)
    made = not os.path.exists(path)
    if made:
        dispatch.make(path, args.name, args.prompt)
    contract = dispatch.refuse_if_wrong(path)
    if contract.status in FINISHED:
        raise HandbillError(f"{path} is {contract.status}", "engine dispatch new FILE creates another one")
    session = str(uuid.uuid4())
    note = {"role": "worker", "how": "engine worker launch", "dispatch": path, "name": args.name, "hooks": True}
    project.store.note((session, MAIN), "role", note)
    settings = _settings(project, session)
    words = ["claude", "--session-id", session, "--name", args.name]
    words += ["--settings", settings]
    words += ["--add-dir", _folder_for(path, project)] if not path.startswith(project.root + "/") else []
    words += [*more, "--", _prompt(args.prompt, path)]
    line = f"cd {shlex.quote(project.root)} && {shlex.join(words)}"
    if args.run:
        program = find_program(words[0], project.root)
        if not program:
            raise HandbillError(f"{words[0]} is not on the PATH", f"the command is: {line}")
        os.chdir(project.root)
        try:
            os.execve(program, words, trust.environment(project.root))
        except OSError as error:
            raise HandbillError(
                f"{words[0]}: {error.strerror}", f"is it on the PATH? The command is: {line}"
            ) from error
    data: dict[str, Any] = {
        "name": args.name, "session": session, "repo": project.root, "dispatch": path, "made": made,
        "settings": settings, "command": line, "words": words,
    }  # fmt: skip
    # The extra line is a comment, so that a shell can run the output unchanged.
    return Result(data, text=f"# {path} was created from the prompt\n{line}" if made else line)


def _folder_for(path: str, project: Project) -> str:
    """Return the contract's folder, which the worker may access.

    Raises if it contains the home folder or the whole project.
    """
    folder = os.path.dirname(path)
    if is_inside(os.path.expanduser("~"), folder) or is_inside(project.root, folder):
        raise HandbillError(
            f"the worker would get access to all of {folder}", "put the contract into a folder of its own"
        )
    return folder


def _prompt(prompt: str, path: str) -> str:
    quoted = shlex.quote(path)
    return (
        f'{prompt}\n\nYour contract is {path}. Record each milestone with `engine dispatch progress {quoted} "…"`. '
        f"When the work is done, run `engine dispatch finish {quoted}` with the result on stdin."
    )


def _settings(project: Project, session: str) -> str:
    """Write settings for this worker alone, and return their path.

    They add hooks that its repository does not register, and a variable that survives `/clear`.
    """
    there: dict[str, set[str]] = {}
    recorded = trust.installed()
    used = ""
    for file in settings_paths(project):
        settings = settings_file.parsed(file)
        events = registration.registered(settings)
        if file not in recorded:
            continue  # somebody else wrote these hooks, and they may do nothing
        used = used or recorded[file].get("interpreter", "")
        for event in [event for event, ones in events.items() if all(is_recorded(one, recorded[file]) for one in ones)]:
            there.setdefault(event, set()).update(registration.matchers(settings, event))
    chosen = interpreter.choose(None, used, project.root)
    launcher = Launcher(chosen.path, settings_file.PACKAGE_PARENT, yaml_folder())
    launcher.write()
    ours = registration.handlers(launcher.command, needed(project.world(), project.settings).lanes, every=True)
    lacking = {event: made for event, made in ours.items() if "" not in there.get(event, set())}
    folder = os.path.join(project.store.root, ".engine", "workers")
    make_private_directory(folder)
    path = os.path.join(folder, f"{session}.json")
    hooks = {event: [{"hooks": made}] for event, made in lacking.items()}
    replace(path, json.dumps({"env": {LAUNCHED_VARIABLE: session}, "hooks": hooks}, indent=2).encode())
    return path
