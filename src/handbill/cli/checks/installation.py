"""What `engine doctor` looks at: each check is a function that yields findings with their fix."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from typing import Any

from handbill.cli import trust
from handbill.cli.checks.finding import BAD, NOTE, OK, Finding
from handbill.cli.checks.wiring import registrations, wiring
from handbill.cli.project import Project, window_file
from handbill.cli.screen import count as count_of
from handbill.cli.screen import when
from handbill.errors import HandbillError
from handbill.hosts import claude_code
from handbill.ledger.window import state_of
from handbill.store.prune import DAYS

RECENT = 7 * 86400.0


def client(project: Project) -> Iterator[Finding]:
    path = trust.find_program("claude", project.root)
    if not path:
        yield Finding("client", NOTE, "no `claude` on the PATH: its version was not checked")
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


def state(project: Project) -> Iterator[Finding]:
    problem = _unwritable(project.store.root)
    if problem:
        text = f"{project.store.root} cannot be written ({problem}): only the transcript shows what was delivered"
        yield Finding("state", BAD, text, "free some space, make it writable, or set XDG_STATE_HOME")
    else:
        yield Finding("state", OK, f"kept in {project.store.root}")
    if project.store.spare and os.path.isdir(project.store.spare + "/.windows"):
        moved = len([name for name in os.listdir(project.store.spare + "/.windows") if name.endswith(".jsonl")])
        if moved:
            yield Finding(
                "state",
                BAD,
                f"{project.store.root} could not be written; ledgers are in {project.store.spare} ({moved})",
                "free some space or make it writable; new ledgers then go there again",
            )
    for root in (project.store.root, project.store.spare):
        for folder in (f"{root}/.windows", f"{root}/.engine"):
            if root and os.path.isdir(folder):
                yield from _folder_state(folder)


def _unwritable(folder: str) -> str:
    """Why no state can be written there; empty: it can."""
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    if not os.path.isdir(folder):
        return f"{folder} is not a folder"
    if not os.access(folder, os.W_OK | os.X_OK):
        return "no permission" if not os.statvfs(folder).f_flag & os.ST_RDONLY else "a read-only file system"
    return "" if os.statvfs(folder).f_bavail else "no space is left"


def _folder_state(folder: str) -> Iterator[Finding]:
    names = os.listdir(folder)
    open_to_all = [name for name in names if os.lstat(os.path.join(folder, name)).st_mode & 0o077]
    if os.stat(folder).st_mode & 0o077 or open_to_all:
        yield Finding("permissions", BAD, f"{folder} can be read by others", f"chmod -R go-rwx {folder}")
    corrupt = [name for name in names if ".corrupt-" in name]
    if corrupt:
        text = f"{count_of(len(corrupt), 'broken state file')} put aside in {folder} (newest {max(corrupt)})"
        yield Finding("state", BAD, text, "look at them, then remove them")
    limit = time.time() - DAYS * 86400
    if os.path.basename(folder) != ".windows":
        return
    stale = [n for n in names if n.endswith(".jsonl") and os.lstat(os.path.join(folder, n)).st_mtime < limit]
    if stale:
        yield Finding("state", NOTE, f"{count_of(len(stale), 'ledger')} older than {DAYS} days", "engine prune")


def settings(project: Project) -> Iterator[Finding]:
    for problem in project.settings.problems:
        yield Finding("settings", BAD, problem, "correct that file")


def standards(project: Project) -> Iterator[Finding]:
    from handbill.cli.needed_hooks import needed as needs_of
    from handbill.handlers.standards import find

    world = project.world()
    for name in project.settings.standard_names(subagent=False):
        path = find(name, world, project.settings)
        problem = getattr(world.load(path), "why", "") if path else "was not found in any library"
        if problem:
            yield Finding("standards", BAD, f"{path or name} {problem}", "correct `standards.files` in the settings")

    found = registrations(project) if os.path.isdir(project.root) else {}
    lanes = [len(events.get("SessionStart", [])) for events in found.values()]
    needed = needs_of(project.settings, exact=True).lanes
    if lanes and max(lanes) < needed:
        text = f"a session start needs {needed} lanes, but has only {max(lanes)}: some files are delivered late"
        yield Finding("standards", BAD, text, "engine install")
    else:
        yield Finding("standards", OK, f"all fit into {count_of(max(lanes, default=needed), 'lane')} at session start")


def receipts(project: Project) -> Iterator[Finding]:
    """The windows written last: did what was sent arrive?"""
    from handbill.cli.verbs.window import with_newest_receipts

    keys = sorted(project.store.known(), key=lambda key: -os.path.getmtime(window_file(project.store, key)))[:20]
    count: dict[str, int] = {}
    for key in keys:
        try:
            window = project.store.read(key)
        except HandbillError:
            continue  # reported by the check of the state
        for record in with_newest_receipts(window, project).files.values() if window else ():
            name = state_of(record)
            count[name] = count.get(name, 0) + 1
    if not count:
        yield Finding("receipts", NOTE, "nothing was delivered yet")
        return
    text = ", ".join(f"{number} {name}" for name, number in sorted(count.items()))
    bad = count.get("truncated", 0)
    proven = count.keys() & {"confirmed", "assumed", "seen"}
    state = BAD if bad else OK if proven else NOTE
    text += "" if proven else " (none confirmed yet: the next event checks)"
    yield Finding("receipts", state, f"last {count_of(len(keys), 'window')}: {text}", "engine window" if bad else "")


_MOST_ERRORS = 20


def trace(project: Project) -> Iterator[Finding]:
    """What went wrong in hooks, newest last; the same text counts once."""
    seen: dict[str, list[dict[str, Any]]] = {}
    for root in (project.store.root, project.store.spare):
        path = f"{root}/.engine/errors.jsonl"
        for line in _lines(path) if root and os.path.exists(path) else ():
            if time.time() - float(line.get("ts", 0)) < RECENT:
                seen.setdefault(str(line.get("error")), []).append(line)
    if not seen:
        yield Finding("errors", OK, "no errors in the last 7 days")
    if len(seen) > _MOST_ERRORS:
        yield Finding(
            "errors", BAD, f"{len(seen):,} different errors; the newest {_MOST_ERRORS} follow", "fix these first"
        )
    for text, lines in list(seen.items())[-_MOST_ERRORS:]:
        last = lines[-1]
        moments = len(
            {(line.get("window"), int(float(line.get("ts", 0)) // 10)) for line in lines}
        )  # lanes say it together
        times = f" ({moments}×)" if moments > 1 else ""
        moment = when(float(last.get("ts", 0)))
        fix = str(last.get("hint") or "once it is fixed: engine doctor --forget")
        yield Finding("errors", BAD, f"{moment} {last.get('where')}: {text}{times}", fix)


def _lines(path: str) -> Iterator[dict[str, Any]]:
    with open(path, "rb") as file:
        file.seek(max(0, os.path.getsize(path) - (1 << 20)))
        for raw in file:
            try:
                line = json.loads(raw)
            except ValueError:
                continue  # the first may be half a line
            if isinstance(line, dict):
                yield line


ALL = (wiring, client, settings, standards, state, receipts, trace)
