"""How the hooks are registered, and what runs them: checks that read the client's settings or run a program."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from handbill.cli import settings_file, trust
from handbill.cli.needed_hooks import needed
from handbill.errors import HandbillError
from handbill.hosts import claude_code
from handbill.hosts.claude_code import registration
from handbill.reports.findings import BAD, NOTE, OK, Finding
from handbill.reports.findings.state import unusable_standards
from handbill.reports.plain_text import count

if TYPE_CHECKING:
    from handbill.project import Project


def settings_paths(project: Project) -> list[str]:
    """Every settings file that the client reads here."""
    paths = [os.path.join(project.root, ".claude", name) for name in ("settings.local.json", "settings.json")]
    return list(dict.fromkeys([*paths, settings_file.path_for(project.root, user=True)]))


def registrations(project: Project) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """settings file -> event -> our handlers."""
    found = {}
    for path in settings_paths(project):
        text = settings_file.read(path)
        if registration.MARK in text:
            found[path] = registration.registered(registration.parse(text, path))
    return {path: events for path, events in found.items() if events}


def wiring(project: Project) -> Iterator[Finding]:
    try:
        found = registrations(project)
    except HandbillError as error:
        yield Finding("wiring", BAD, str(error), error.hint)
        return
    if not found:
        yield Finding("wiring", BAD, "no hooks are registered for this project", "engine install")
        return
    for path in settings_paths(project):
        if registration.hooks_disabled(settings_file.read(path)):
            yield Finding("wiring", BAD, f"disableAllHooks is on in {path}: no hook runs", "remove it")
    for path, events in found.items():
        missing = [event for event in registration.EVENTS if event not in events]
        if missing:
            yield Finding("wiring", BAD, f"{path} has no hook for {', '.join(missing)}", "engine install")
        else:
            yield Finding("wiring", OK, f"{len(events)} events registered in {path}")
        user = path == settings_file.path_for(project.root, user=True)
        fix = "engine install --user" if user else "engine install"
        yield from _interpreters(events, trust.installed().get(path, {}), fix)
    if len(found) > 1:
        yield Finding("wiring", NOTE, "registered more than once: nothing is delivered twice, but each copy costs time")


def is_recorded(handler: dict[str, Any], known: dict[str, str]) -> bool:
    """Did an installation of this user's register this very command? A repository may bring one that looks like it."""
    ours = (known.get("interpreter"), known.get("folder"))
    return (handler.get("command"), _folder(_code(handler))) == ours


def _interpreters(events: dict[str, list[dict[str, Any]]], known: dict[str, str], fix: str) -> Iterator[Finding]:
    """`known`: what an installation of this user's registered there. Nothing else is run to try it."""
    commands = {(one.get("command"), _code(one)) for ones in events.values() for one in ones}
    for command, code in sorted(commands, key=str):
        folder = _folder(code)
        if not isinstance(command, str) or not os.access(command, os.X_OK):
            yield Finding("interpreter", BAD, f"{command} cannot be executed, so the hooks do nothing", fix)
        elif not os.path.isdir(os.path.join(folder, "handbill")):
            yield Finding("package", BAD, f"{folder} does not contain Handbill, so the hooks do nothing", fix)
        elif (command, folder) != (known.get("interpreter"), known.get("folder")):
            text = f"no installation of yours registered {command} with the package in {folder}, so it was not run"
            yield Finding("interpreter", BAD, text, fix)
        else:
            yield from _alive(command, folder, fix)
            if folder != settings_file.PACKAGE_PARENT:
                yield Finding("package", NOTE, f"the hooks run the copy in {folder}, not the copy of this command", fix)


def _alive(command: str, folder: str, fix: str) -> Iterator[Finding]:
    probe = (
        f"import sys;sys.path.insert(0,{folder!r})\n"
        "import handbill.hook,handbill.flow.pipeline\nprint(sys.implementation.cache_tag)"
    )
    try:
        done = subprocess.run(
            [command, "-I", "-S", "-c", probe], capture_output=True, text=True, timeout=20, check=False, cwd="/"
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        yield Finding("interpreter", BAD, f"{command} does not run: {error}", fix)
        return
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        yield Finding("interpreter", BAD, f"{command} cannot load the hooks: {last}", fix)
        return
    yield Finding("interpreter", OK, f"{command} runs the hooks in {folder}")
    compiled = os.path.join(folder, "handbill", "flow", "__pycache__", f"pipeline.{done.stdout.strip()}.pyc")
    if not os.path.exists(compiled):
        yield Finding("bytecode", BAD, "the hooks are not compiled, so every event is slower", fix)


def _code(one: dict[str, Any]) -> str:
    return next((word for word in one.get("args", []) if isinstance(word, str) and registration.MARK in word), "")


def _folder(code: str) -> str:
    start = code.find("sys.path.insert(0,")
    end = min((at for at in (code.find(")\n", start), code.find(");", start)) if at >= 0), default=-1)
    quoted = code[start + 18 : end] if start >= 0 and end >= 0 else ""
    return quoted[1:-1] if quoted[:1] in "'\"" else ""


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
    """Is a hook started for every call that a gate may hold? For more than needed is no fault, but costs time."""
    needs = needed(project.world(), project.settings)
    for path in settings_paths(project):
        try:
            settings = registration.parse(settings_file.read(path), path)
        except HandbillError:
            continue  # reported by the check of the wiring
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
