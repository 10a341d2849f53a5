"""What session verbs need: the folder, the calling window, the holder, and notices to hooks."""

from __future__ import annotations

import os
import re
import time
from typing import Any

from handbill.cli.files import require_inside
from handbill.cli.parser import like
from handbill.cli.project import here
from handbill.cli.screen import when_written
from handbill.errors import HandbillError
from handbill.event import MAIN
from handbill.library.skills import skill_file
from handbill.project import Project
from handbill.reports.store_files import window_file
from handbill.store import sessions
from handbill.work.session import Holder, Refused, State, holder_of, released
from handbill.world import World
from handbill.world.processes import is_running

_NAME = re.compile(r"[^\s./\\\0][^/\\\0\n]{0,199}")


class NotAllowed(HandbillError):
    code = "not-allowed"


class Caller:
    def __init__(self, project: Project, window: str) -> None:
        self.project = project
        # The host session that this shell belongs to; empty in a person's terminal.
        self.window = window

    @property
    def root(self) -> str:
        return os.path.join(self.project.root, "sessions")

    @property
    def world(self) -> World:
        return self.project.world()

    def folder(self, name: str) -> str:
        """Return the folder for a bare name, `sessions/NAME` or a path into a `sessions` folder."""
        given = name.rstrip("/")
        if "/" not in given:
            folder = os.path.join(self.root, given)
        elif given.startswith("sessions/"):
            folder = os.path.join(self.project.root, given)
        else:
            folder = os.path.abspath(os.path.expanduser(given))
        own = os.path.basename(folder)
        if given and (given == "sessions" or folder == self.root):
            raise HandbillError(
                f"{name!r} is the folder of all sessions, not one of them", "name one, e.g. sessions/2026_01_31_LOGIN"
            )
        if (
            ".." in given.split("/")
            or not _NAME.fullmatch(own)
            or os.path.basename(os.path.dirname(folder)) != "sessions"
        ):
            raise HandbillError(
                f"{name!r} is not a session name", "e.g. 2026_01_31_LOGIN, or sessions/2026_01_31_LOGIN"
            )
        if folder.startswith(self.project.root + "/"):
            require_inside(folder, self.project.root)
        return folder

    def own(self, name: str | None = None) -> str:
        """Return the folder of the named session, or of the session that this window works on."""
        if name:
            return self.folder(name)
        found = self.find()
        if not found:
            raise sessions.NoSession(
                "no session belongs to this window", "name one; engine session list shows the existing ones"
            )
        return found

    def required(self, folder: str) -> State:
        try:
            return sessions.required(folder)
        except sessions.NoSession as error:
            known = [] if os.path.isdir(folder) else map(os.path.basename, sessions.folders(self.root))
            raise sessions.NoSession(f"{error}{like(os.path.basename(folder), known)}", error.hint) from None

    def find(self) -> str:
        """Return the folder of the session that this window holds; empty if it holds none."""
        linked = self.project.store.linked(self.window) if self.window else ""
        return linked if linked and self._is_mine(linked) else ""

    def take(self, folder: str) -> list[str]:
        """Link this window to the session and release its former session. Return lines to print."""
        if not self.window:
            return []
        before = self.find()
        said = []
        if before and before != folder:
            sessions.update(before, lambda state: (released(state or {}), None))
            said = [f"{self.shown(before)} was released: nobody holds it now"]
        try:
            self.project.store.link(self.window, folder)
        except OSError as error:
            said.append(f"Handbill could not record that this window works on the session ({error.strerror})")
        if not window_file(self.project.store, (self.window, MAIN)):
            said.append("no hook has run in this window, so no pages will be delivered; engine doctor shows why")
        return said

    def _is_mine(self, folder: str) -> bool:
        try:
            state = sessions.read(folder)
        except HandbillError:
            return False  # the state is broken; a command that names this session reports it
        return state is not None and state.get("sessionId") == self.window

    def me(self) -> Holder:
        if not self.window:
            return Holder()
        window = self.project.store.read((self.window, MAIN))
        told = self.project.host.shell(os.environ).client
        pid = told or (window.client if window is not None else 0)
        return Holder(self.window, pid, started(pid))

    def refuse_if_held(self, state: State | None, *, person_may: bool = False) -> None:
        """Raise NotAllowed if another live agent works on the session."""
        if state is None or (person_may and not self.window):
            return
        holder, me = holder_of(state), self.me()
        if not holder.pid or not alive(holder) or holder.session == me.session != "" or holder.pid == me.pid:
            return
        raise NotAllowed(
            f"another agent works on this session: process {holder.pid}"
            + (f", window {holder.session}" if holder.session else "")
            + f", {state.get('skill')} in phase {state.get('currentPhase') or '–'}, "
            f"last active {when_written(str(state.get('lastHeartbeat', '')))}",
            "use another session; to take this one over, end that agent, or run in a terminal: "
            "echo WHY | engine session idle NAME --user-approved WHY",
        )

    def taken_over(self, state: State) -> tuple[State, bool]:
        """Make the calling agent the holder. Return the state and whether the holder changed."""
        if not self.window or holder_of(state).session == self.window:
            return state, False
        return self.me().written(state), True

    def tell(self, state: State, verb: str, line: str, folder: str, **more: Any) -> list[str]:
        """Leave a message for the hooks of the window that holds the session. Return warnings."""
        target = self.window or str(state.get("sessionId", ""))
        if not target:
            return []
        notice = {
            "verb": verb, "session": folder, "skill": state.get("skill", ""), "line": line, "at": time.time(),
            "phase": str(state.get("currentPhase", "")).partition(":")[0], "by": "agent" if self.window else "terminal",
            **more,
        }  # fmt: skip
        try:
            self.project.store.post(target, notice)
        except OSError as error:
            return [f"the hooks could not be notified ({error.strerror}), so the pages will not be delivered"]
        return []

    def next_skills(self, state: State) -> list[str]:
        """Return one line that lists the skills that this skill names and that exist here."""
        there = [name for name in state.get("nextSkills", ()) if skill_file(name, self.world)]
        return [f"Next skills: {', '.join(there)}"] if there else []

    def shown(self, folder: str) -> str:
        return os.path.relpath(folder, self.project.root) if folder.startswith(self.project.root + "/") else folder


def desk(project: str | None) -> Caller:
    found = here(project)
    return Caller(found, found.host.shell(os.environ).session_id)


def started(pid: int) -> str:
    """Return when a process began. The system may reuse its number for another process."""
    if pid <= 1:
        return ""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        pass  # this system does not have the folder
    import subprocess

    from handbill.cli.trust import environment, find_program

    program = find_program("ps", os.getcwd())
    if not program:
        return ""
    try:
        done = subprocess.run(
            [program, "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, timeout=5, check=False, cwd="/",
            env=environment(os.getcwd()),
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


def alive(holder: Holder) -> bool:
    if not is_running(holder.pid):
        return False
    return not holder.started or started(holder.pid) == holder.started


def refused(error: Refused) -> NotAllowed:
    return NotAllowed(str(error), error.hint)
