"""Finds the project, the state and the window for a command."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from handbill.errors import HandbillError
from handbill.event import MAIN
from handbill.project import HOST, CheckedStore, Project
from handbill.reports.store_files import last_written, window_file
from handbill.settings import PROJECT_FILE, load, process_context, project_around, state_roots
from handbill.store.files import FileStore

if TYPE_CHECKING:
    from handbill.ledger.window import Window
    from handbill.store.api import Key


_MARKS = (PROJECT_FILE, *HOST.MARKS, ".git")


def project_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--project", metavar="DIR", help="the project (default: the one around this folder)")


def find_project(start: str | None = None) -> str:
    """Return the project folder: the one the host names, else the nearest marked folder above."""
    told = HOST.shell(os.environ).folder
    if start is not None:
        if not os.path.isdir(start):
            raise HandbillError(f"there is no folder {start}", "name the project's folder with --project")
        return os.path.abspath(start)
    if told:
        return project_around(os.path.abspath(told), os.environ, HOST.MARKS)
    return project_of_window(HOST.shell(os.environ).session_id) or marked_project(os.getcwd()) or os.getcwd()


def project_of_window(session: str) -> str:
    """Return the folder around this one that the agent's window belongs to.

    The shell may be in any folder below it.
    """
    level = os.path.abspath(os.getcwd()) if session else ""
    while level:
        if window_file(FileStore(*state_roots(level, os.environ)), (session, MAIN)):
            return level
        level = os.path.dirname(level) if level != os.path.dirname(level) else ""
    return ""


def marked_project(place: str) -> str:
    """Return the project that a folder belongs to; empty if none.

    A person may be anywhere in a project.
    """
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


def choose_window(project: Project, session: str | None, agent: str | None) -> Key:
    """Return the window with this name or prefix, else the caller's own, else the newest."""
    keys = project.store.known()
    caller = HOST.shell(os.environ)
    own = caller.session_id
    exact = True
    if session is None and own:
        second = (f"{own}~{caller.client}", MAIN)
        session = second[0] if second in keys and agent is None else own
        # Older clients do not set it: of two terminals, choose the one used last.
        exact = caller.names_client
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
    """Return when the window's ledger or transcript was last written, then the time of its ledger.

    Not every event changes the ledger. Two terminals on one session share a transcript, so the time
    of the ledger decides between them.
    """
    moment = last_written(project.store, key)
    try:
        window = project.store.read(key)
        spoke = os.path.getmtime(window.transcript) if window is not None and window.transcript else moment
    except (OSError, HandbillError):
        spoke = moment
    return max(moment, spoke), moment


def read_window(project: Project, key: Key) -> Window:
    window = project.store.read(key)
    if window is None:
        raise HandbillError(f"the window of {key[0]} is gone", "`engine window --all` lists the known ones")
    return window
