"""How `engine doctor` checks that the registered hooks are complete, are ours, and run."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from typing import Any

from handbill import VERSION
from handbill.cli import settings_file, trust
from handbill.cli.launcher import Launcher
from handbill.errors import HandbillError
from handbill.hosts.claude_code import registration
from handbill.project import Project
from handbill.reports.findings import BAD, NOTE, OK, Finding
from handbill.store.disk import read_regular

_EVERY = {"", "*"}  # matchers that match every call


def settings_paths(project: Project) -> list[str]:
    """Return every settings file that the client reads here."""
    paths = [os.path.join(project.root, ".claude", name) for name in ("settings.local.json", "settings.json")]
    return list(dict.fromkeys([*paths, settings_file.path_for(project.root, user=True)]))


def registrations(project: Project) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Return settings file -> event -> our handlers."""
    found = {}
    for path in settings_paths(project):
        text = settings_file.read(path) or ""
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
        if registration.hooks_disabled(settings_file.read(path) or ""):
            yield Finding("wiring", BAD, f"disableAllHooks is on in {path}: no hook runs", "remove it")
    for path, events in found.items():
        user = path == settings_file.path_for(project.root, user=True)
        fix = "engine install --user" if user else "engine install"
        yield from _events(path, events, fix)
        yield from _commands(events, trust.installed().get(path, {}), fix)
    if len(found) > 1:
        yield Finding("wiring", NOTE, "registered more than once: nothing is delivered twice, but each copy costs time")


def _events(path: str, events: Mapping[str, list[dict[str, Any]]], fix: str) -> Iterator[Finding]:
    """Compare the handlers with those that this version would register.

    Other checks cover the lanes at the start and held calls.
    """
    missing = [event for event in registration.EVENTS if event not in events]
    if missing:
        yield Finding("wiring", BAD, f"{path} has no hook for {', '.join(missing)}", fix)
    else:
        yield Finding("wiring", OK, f"{len(events)} events registered in {path}")
    unknown = [event for event in events if event not in (*registration.EVENTS, registration.FAILSAFE)]
    if unknown:
        text = f"{path} has hooks for {', '.join(unknown)}, which this version does not use"
        yield Finding("wiring", NOTE, text, fix)
    lanes = len(events.get("UserPromptExpansion", ()))
    if lanes and lanes != registration.SKILL_LANES:
        text = f"{path} has {lanes} hooks for UserPromptExpansion; this version uses {registration.SKILL_LANES}"
        yield Finding("wiring", BAD, text, fix)
    settings = settings_file.parsed(path)
    for event in events:
        narrow = registration.matchers(settings, event) - _EVERY
        if narrow and event != "PreToolUse":
            text = f"hooks for {event} in {path} run only for {', '.join(sorted(narrow))}"
            yield Finding("wiring", BAD, text, fix)


# --- what the hooks run ------------------------------------------------------------------------------


def is_recorded(handler: Mapping[str, Any], known: Mapping[str, Any]) -> bool:
    """Whether an installation of this user registered this exact command.

    A repository may contain a command that looks like it.
    """
    command, words = known.get("command"), registration.words_of(handler)
    if not command or words[: len(command)] != command:
        return False
    rest = words[len(command) :]
    return rest[:1] == [registration.HOST] and rest[1:2] in ([], ["--lane"])


def _commands(events: Mapping[str, list[dict[str, Any]]], known: Mapping[str, Any], fix: str) -> Iterator[Finding]:
    """Check the registered commands.

    `known` holds what an installation of this user registered there. Only those commands are run.
    """
    handlers = [one for ones in events.values() for one in ones]
    for command in sorted({str(one.get("command")) for one in handlers if not is_recorded(one, known)}):
        text = f"no installation of yours registered {command} as it is written there, so it was not run"
        yield Finding("interpreter", BAD, text, fix)
    if any(is_recorded(one, known) for one in handlers):
        launcher = Launcher(*(str(known.get(name, "")) for name in ("interpreter", "folder", "packages")))
        yield from _launcher(launcher, known, fix)


def _launcher(launcher: Launcher, known: Mapping[str, Any], fix: str) -> Iterator[Finding]:
    if known["command"] == [launcher.path] and not launcher.is_intact():
        what = "was changed" if os.path.lexists(launcher.path) else "is gone, so the hooks do nothing"
        yield Finding("launcher", BAD, f"{launcher.path} {what}", fix)
    elif not os.access(launcher.interpreter, os.X_OK):
        text = f"{launcher.interpreter} cannot be executed, so the hooks do nothing"
        yield Finding("interpreter", BAD, text, fix)
    elif not os.path.isdir(os.path.join(launcher.folder, "handbill")):
        text = f"{launcher.folder} does not contain Handbill, so the hooks do nothing"
        yield Finding("package", BAD, text, fix)
    else:
        yield from _alive(launcher, fix)
        yield from _version(launcher, str(known.get("version", "")), fix)


def _alive(launcher: Launcher, fix: str) -> Iterator[Finding]:
    command, folder = launcher.interpreter, launcher.folder
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


def _version(launcher: Launcher, registered_by: str, fix: str) -> Iterator[Finding]:
    """Compare the versions of the hooks' package: the running one, the registered one, and ours."""
    found = _version_in(launcher.folder)
    if found != VERSION:
        text = f"the hooks run Handbill {found or 'of unknown version'} in {launcher.folder}; this command is {VERSION}"
        if _numbers(found) > _numbers(VERSION):
            fix = f"use the `engine` of Handbill {found}; or {fix}, which goes back to {VERSION}"
        yield Finding("version", BAD, text, fix)
    elif registered_by != VERSION:
        text = f"Handbill {registered_by} registered the hooks; it was upgraded to {VERSION} since"
        yield Finding("version", NOTE, text, fix)
    elif launcher.folder != settings_file.PACKAGE_PARENT:
        text = f"the hooks run the copy in {launcher.folder}, not the copy of this command"
        yield Finding("package", NOTE, text, fix)


def _version_in(folder: str) -> str:
    """Return the version of the package in a folder. The package is read, never imported."""
    try:
        text = read_regular(os.path.join(folder, "handbill", "__init__.py"), 1 << 16).decode("utf-8", "replace")
    except OSError:
        return ""
    line = next((line for line in text.splitlines() if line.startswith("VERSION = ")), "")
    return line.partition("=")[2].strip().strip("\"'")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())
