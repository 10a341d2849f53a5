"""What `engine doctor` looks at besides the wiring: skills, sessions, and where calls are held."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from handbill.cli import settings_file
from handbill.cli.checks.finding import BAD, NOTE, OK, Finding
from handbill.cli.checks.installation import RECENT
from handbill.cli.checks.wiring import settings_paths
from handbill.cli.needed_hooks import needed
from handbill.cli.project import Project
from handbill.cli.screen import count
from handbill.errors import HandbillError
from handbill.hosts.claude_code import registration
from handbill.settings import folder_of


def held_calls(project: Project) -> Iterator[Finding]:
    """Is a hook started for every call that a gate may hold? For more than needed is no fault, but costs time."""
    needs = needed(project.settings)
    for path in settings_paths(project):
        try:
            settings = settings_file.parsed(path)
        except HandbillError:
            continue  # reported by the check of the wiring
        user = path == settings_file.path_for(project.root, user=True)
        fix = "engine install --user" if user else "engine install"
        ours = registration.registered(settings)
        lacks_stop = bool(ours) and needs.every and registration.FAILSAFE not in ours
        for held in registration.matchers(settings, "PreToolUse") - {needs.held}:
            lacking = bool(held) and (needs.every or bool(set(needs.held.split("|")) - set(held.split("|"))))
            text = f"the gates may hold calls of {_tools(needs.held)}, but hooks in {path} run before {_tools(held)}"
            if lacking or not user:
                yield Finding("held calls", BAD if lacking else NOTE, text, fix)
            lacks_stop = lacks_stop and not lacking  # one finding for one fix
        if lacks_stop:
            yield Finding("held calls", BAD, f"{path} has no hook for {registration.FAILSAFE}", fix)


def _tools(matcher: str) -> str:
    return matcher.replace("|", ", ") or "every tool"


def skills(project: Project) -> Iterator[Finding]:
    from handbill.cli.verbs.skills import described, names

    rows = [described(name, project, project.world()) for name in names(project)]
    problems = [problem for row in rows for problem in row["problems"]]
    for problem in problems[:10]:
        yield Finding("skills", BAD, problem, "correct the file; engine skills NAME shows how Handbill reads it")
    for hint in [hint for row in rows for hint in row["hints"]][:10]:
        yield Finding("skills", NOTE, hint)
    if not problems:
        yield Finding("skills", OK, f"{count(len(rows), 'skill')}, all can be read")


def sessions(project: Project) -> Iterator[Finding]:
    from handbill.store import sessions as store

    folders = store.folders(os.path.join(project.root, "sessions"))
    broken = 0
    for folder in folders:
        try:
            store.read(folder)
        except HandbillError as error:
            broken += 1
            yield Finding("sessions", BAD, str(error), error.hint)
    if folders and not broken:
        yield Finding("sessions", OK, count(len(folders), "session"))


def reports(project: Project) -> Iterator[Finding]:
    """Defects of commands, written down by the command that met one."""
    folder = os.path.join(folder_of("XDG_STATE_HOME", ".local/state", os.environ), "handbill")
    names = (
        [entry.path for entry in os.scandir(folder) if entry.name.startswith("report-")]
        if os.path.isdir(folder)
        else []
    )
    recent = [path for path in names if time.time() - os.path.getmtime(path) < RECENT]
    if recent:
        newest = max(recent, key=os.path.getmtime)
        yield Finding("reports", NOTE, f"{count(len(recent), 'report')} of defects in commands, the newest {newest}")


ALL = (held_calls, skills, sessions, reports)
