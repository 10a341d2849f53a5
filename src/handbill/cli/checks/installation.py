"""Checks of how the hooks are registered and of what runs them.

They read the client's settings or run a program.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING

from handbill.cli import settings_file, trust
from handbill.cli.checks.wiring import registrations, settings_paths, wiring
from handbill.cli.needed_hooks import needed
from handbill.errors import HandbillError
from handbill.hosts import claude_code
from handbill.hosts.claude_code import registration
from handbill.reports.findings import BAD, NOTE, OK, Finding
from handbill.reports.findings.state import unusable_standards
from handbill.reports.plain_text import count

if TYPE_CHECKING:
    from handbill.project import Project

__all__ = ["client", "held_calls", "standards", "wiring"]


def client(project: Project) -> Iterator[Finding]:
    path = trust.find_program("claude", project.root)
    if not path:
        yield Finding("client", NOTE, "`claude` is not on the PATH, so its version was not checked")
        return
    done = subprocess.run(
        [path, "--version"],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        cwd="/",
        env=trust.environment(project.root),
    )
    words = done.stdout.split()
    numbers = tuple(int(part) for part in words[0].split(".") if part.isdecimal()) if words else ()
    if numbers and numbers < claude_code.OLDEST:
        oldest = ".".join(map(str, claude_code.OLDEST))
        yield Finding("client", BAD, f"Claude Code {words[0]} is older than {oldest}, the oldest tested", "update it")
    else:
        yield Finding("client", OK, f"Claude Code {words[0] if words else 'of unknown version'}")


def standards(project: Project) -> Iterator[Finding]:
    yield from unusable_standards(project)
    found = registrations(project) if os.path.isdir(project.root) else {}
    lanes = [len(events.get("SessionStart", [])) for events in found.values()]
    enough = needed(project.world(), project.settings, exact=True).lanes
    if lanes and max(lanes) < enough:
        text = f"a session start needs {enough} lanes, but has only {max(lanes)}: some files are delivered late"
        yield Finding("standards", BAD, text, "engine install")
    else:
        yield Finding("standards", OK, f"all fit into {count(max(lanes, default=enough), 'lane')} at session start")


def held_calls(project: Project) -> Iterator[Finding]:
    """Check that a hook runs before every call that a gate may hold.

    Hooks for more calls than needed are not a fault, but they cost time.
    """
    needs = needed(project.world(), project.settings)
    for path in settings_paths(project):
        try:
            settings = settings_file.parsed(path)
        except HandbillError:
            continue  # the check of the wiring reports it
        user = path == settings_file.path_for(project.root, user=True)
        fix = "engine install --user" if user else "engine install"
        ours = registration.registered(settings)
        lacks_stop = bool(ours) and needs.every and registration.FAILSAFE not in ours
        for held in registration.matchers(settings, "PreToolUse") - {needs.held}:
            lacking = bool(held) and (needs.every or bool(set(needs.held.split("|")) - set(held.split("|"))))
            text = f"gates may hold calls of {_tools(needs.held)}, but hooks in {path} run only before {_tools(held)}"
            if lacking or not user:
                yield Finding("held calls", BAD if lacking else NOTE, text, fix)
            lacks_stop = lacks_stop and not lacking  # one finding for one fix
        if lacks_stop:
            yield Finding("held calls", BAD, f"{path} has no hook for {registration.FAILSAFE}", fix)


def _tools(matcher: str) -> str:
    return matcher.replace("|", ", ") or "every tool"
