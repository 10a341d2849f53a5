"""Where a command was called: which project, which state, which window."""

from __future__ import annotations

import argparse
import json
import os
from typing import TYPE_CHECKING, Any

from handbill.errors import CorruptState, HandbillError
from handbill.event import MAIN
from handbill.hosts import HOSTS, host
from handbill.ledger.records import Broken
from handbill.settings import PROJECT_FILE, ProcessContext, Settings, load, process_context, project_around, state_roots
from handbill.store.files import REBUILT, FileStore, file_name
from handbill.world import World, deliverable_roots
from handbill.world.processes import is_running

if TYPE_CHECKING:
    from handbill.ledger.window import Window
    from handbill.store.api import Key


HOST = host(next(iter(HOSTS)))  # commands know one host so far
_MARKS = (PROJECT_FILE, *HOST.MARKS, ".git")


class CheckedStore(FileStore):
    """A ledger's lines are parsed when they are needed. A command wants to know at once whether one is broken."""

    def read(self, key: Key) -> Window | None:
        window = super().read(key)
        try:
            if window is not None:
                window.files.items()
                window.touched.items()
        except Broken as error:
            path = window_file(self, key)
            raise CorruptState(f"{path}: {error}", REBUILT) from None
        return window


class Project:
    """Where a command works: the project's folder, its state and its settings."""

    def __init__(self, process: ProcessContext, store: FileStore, settings: Settings) -> None:
        self.process = process
        self.root = process.project
        self.store = store
        self.settings = settings
        self.host = HOST

    def world(self) -> World:
        return World(deliverable_roots(self.process, self.host, self.settings.allowed), self.host, self.process)


def project_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--project", metavar="DIR", help="the project (default: the one around this folder)")


def find_project(start: str | None = None) -> str:
    """The folder whose state this is: told by the host, else the nearest above with a mark of a project."""
    told = HOST.shell(os.environ).folder
    if start is not None:
        if not os.path.isdir(start):
            raise HandbillError(f"there is no folder {start}", "name the project's folder with --project")
        return os.path.abspath(start)
    if told:
        return project_around(os.path.abspath(told), os.environ, HOST.MARKS)
    return project_of_window(HOST.shell(os.environ).session_id) or marked_project(os.getcwd()) or os.getcwd()


def project_of_window(session: str) -> str:
    """The folder around this one that the agent's own window belongs to, however deep its shell went."""
    level = os.path.abspath(os.getcwd()) if session else ""
    while level:
        if window_file(FileStore(*state_roots(level, os.environ)), (session, MAIN)):
            return level
        level = os.path.dirname(level) if level != os.path.dirname(level) else ""
    return ""


def marked_project(place: str) -> str:
    """The project that a folder belongs to; empty: it belongs to none. A person may be anywhere in a project."""
    level = project_around(os.path.abspath(place), os.environ, HOST.MARKS)
    while not any(os.path.exists(os.path.join(level, mark)) for mark in _MARKS) or level == os.path.expanduser("~"):
        if level == os.path.dirname(level):
            return ""
        level = os.path.dirname(level)
    return level


def here(project: str | None = None) -> Project:
    return at(find_project(project))


def at(root: str) -> Project:
    process = process_context(root, os.environ)
    return Project(process, CheckedStore(process.state, process.spare), load(process))


def window_file(store: FileStore, key: Key) -> str:
    for root in (store.spare, store.root):
        path = f"{root}/.windows/{file_name(key)}.jsonl"
        if root and os.path.exists(path):
            return path
    return ""


def choose_window(project: Project, session: str | None, agent: str | None) -> Key:
    """By name or its beginning, else the caller's own, else the one written last."""
    keys = project.store.known()
    caller = HOST.shell(os.environ)
    own = caller.session_id
    exact = True
    if session is None and own:
        second = (f"{own}~{caller.client}", MAIN)
        session = second[0] if second in keys and agent is None else own
        exact = caller.names_client  # older clients do not set it: of two terminals, the one used last
    if session is not None:
        session, _, named = session.partition(".")  # as commands print it: ID.main, ID.AGENT
        agent = agent or (named if named and named != MAIN else None)
        matching = [key for key in keys if key[0] == session] if exact else []
        matching = matching or [key for key in keys if key[0].startswith(session)]
        if not matching:
            raise HandbillError(
                f"no window of session {session!r} is known", "`engine window --all` lists the known windows"
            )
        keys = matching
    if agent is not None:
        keys = [key for key in keys if key[1].startswith(agent)]
        if not keys:
            raise HandbillError(f"no subagent {agent!r} is known", "`engine window --all` lists the windows")
    if not keys:
        raise HandbillError(
            "Handbill has not seen an agent in this project yet",
            "start the agent in this project; `engine doctor` shows whether hooks are installed",
        )
    newest = max(keys, key=lambda key: _last_used(project, key))
    main = (newest[0], MAIN)
    return main if agent is None and main in keys else newest


def _last_used(project: Project, key: Key) -> tuple[float, float]:
    """When its ledger or its transcript was last written: not every event changes the ledger. Two terminals on one
    session share a transcript, so the time of the ledger decides between them."""
    moment = os.path.getmtime(window_file(project.store, key))
    try:
        window = project.store.read(key)
        spoke = os.path.getmtime(window.transcript) if window is not None and window.transcript else moment
    except (OSError, HandbillError):
        spoke = moment
    return max(moment, spoke), moment


def session_of(key: Key) -> str:
    """The host's session; a second terminal's window is named after it and its process."""
    return key[0].partition("~")[0]


def is_ended_terminal(key: Key, window: Window) -> bool:
    """A second terminal's window ends with its process; the session's own goes on in the next one."""
    return key[0] != session_of(key) and not is_running(window.client)


def read_window(project: Project, key: Key) -> Window:
    window = project.store.read(key)
    if window is None:
        raise HandbillError(f"the window of {key[0]} is gone", "`engine window --all` lists the known ones")
    return window


def waiting_handovers(project: Project) -> list[dict[str, Any]]:
    """What was set down in this project and nobody took up yet."""
    path = f"{project.store.root}/.engine/handovers.json"
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except FileNotFoundError:
        return []
    except (OSError, ValueError, RecursionError) as error:
        raise HandbillError(f"{path}: {error}", "move it elsewhere") from error
    rows = found.get("waiting") if isinstance(found, dict) else None
    return [one for one in rows if isinstance(one, dict) and not one.get("taker")] if isinstance(rows, list) else []
