"""`engine record FILE`: reads a session's events from the client's record, for `engine replay`.

Nothing is recorded while the agent works, so a recording costs its hooks nothing.
"""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

from handbill.cli.checks.wiring import registrations, settings_paths
from handbill.cli.files import require_inside
from handbill.cli.project import choose_window, here, project_option, read_window
from handbill.cli.result import Result
from handbill.cli.screen import count
from handbill.cli.settings_file import read
from handbill.errors import HandbillError
from handbill.event import MAIN
from handbill.hosts.claude_code import registration
from handbill.hosts.claude_code.past import version_in
from handbill.lab.recorded_files import files_of
from handbill.lab.recorder import Line, record
from handbill.lab.stream import NEWEST, part_name
from handbill.paths import under
from handbill.project import Project, session_of
from handbill.store.disk import open_private
from handbill.world import World

_MOST = 256 << 20  # bytes of one transcript
_MOST_AGENTS = 500
WARNING = (
    "the recording contains prompts, commands, paths and rules, and may contain secrets: read it before you share it"
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="the file to write; - prints it. " + WARNING[0].upper() + WARNING[1:])
    parser.add_argument("--session", metavar="ID", help="the client's session (default: yours, or the newest)")
    parser.add_argument(
        "--events-only", action="store_true",
        help="leave out the project's rules; the recording then plays in the project as it is at that time",
    )  # fmt: skip
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")
    project_option(parser)


def run(args: argparse.Namespace) -> Result:
    project = here(args.project)
    key = (choose_window(project, args.session, None)[0], MAIN)
    transcript = read_window(project, key).transcript
    main = World(()).tail(transcript, 0, _MOST) if transcript else None
    if main is None:
        raise HandbillError(
            f"the transcript of {key[0]} is gone ({transcript or 'its path is unknown'})",
            "the client keeps transcripts only for a few weeks",
        )
    lines = record(session_of(key), main, _agents(transcript), project.root, _held(project))
    head: dict[str, Any] = {"version": ".".join(map(str, version_in(main))) or NEWEST, "lanes": _lanes(project)}
    if not args.events_only:
        head["files"] = files_of(lines, project.world(), project.settings)
    text = json.dumps(head, ensure_ascii=False) + "\n" + _written(lines, project.root)
    events = sum(line.act is None for line in lines)
    data = {"session": key[0], "file": args.file, "events": events, "files": sorted(head.get("files", ()))}
    if args.file == "-":
        return Result({**data, "stream": text}, text=text.rstrip("\n"), is_answer=True)
    _save(args.file, text, project.root, force=args.force)
    said = f"recorded {count(events, 'event')} of {key[0]} in {args.file}"
    return Result(data, text=said, warnings=[WARNING], next_step=f"engine replay {args.file}")


def _agents(transcript: str) -> dict[str, bytes]:
    folder = f"{transcript.removesuffix('.jsonl')}/subagents"
    names = [name for name in World(()).names(folder) if name.startswith("agent-") and name.endswith(".jsonl")]
    found = {name[6:-6]: World(()).tail(f"{folder}/{name}", 0, _MOST) for name in names[:_MOST_AGENTS]}
    return {agent: data for agent, data in found.items() if data}


def _held(project: Project) -> frozenset[str] | None:
    """Return the tools that the registered hooks run before; None for all tools."""
    found: set[str] = set()
    for path in settings_paths(project):
        found |= registration.matchers(registration.parse(read(path) or "", path), "PreToolUse")
    if not found:
        found = {registration.HELD_TOOLS}
    return None if found & {"", "*"} else frozenset(tool for matcher in found for tool in matcher.split("|"))


def _lanes(project: Project) -> dict[str, int]:
    counts: dict[str, int] = {}
    for events in registrations(project).values():
        for event, handlers in events.items():
            counts[event] = max(counts.get(event, 0), len(handlers))
    return {event: number for event, number in counts.items() if number > 1}


def _written(lines: list[Line], project: str) -> str:
    """Return the stream with $PROJECT in place of the path, so that it can be played elsewhere."""
    # Leaves out the user's own files in other places.
    places = (f"{project}/", "/handbill/data/", "/.engine/pages/")
    rows = []
    for line in lines:
        out = [part_name(title, project) for title in line.titles if any(p in title[0] for p in places)]
        rows.append(json.dumps(line.act or {"in": line.event, "out": out}, ensure_ascii=False) + "\n")
    path = json.dumps(project, ensure_ascii=False)[1:-1]
    return "".join(rows).replace(path, "$PROJECT")


def _save(path: str, text: str, project: str, *, force: bool) -> None:
    if under(os.path.abspath(path), project):
        # A folder of the project may be a link.
        require_inside(os.path.dirname(os.path.abspath(path)), project)
    try:
        if force and os.path.lexists(path):
            os.unlink(path)
        with open(
            open_private(os.path.abspath(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL), "w", encoding="utf-8"
        ) as file:
            file.write(text)
    except FileExistsError:
        raise HandbillError(f"{path} already exists", "name another file, or use --force") from None
    except OSError as error:
        raise HandbillError(f"{path}: {error.strerror}", "name a file that can be written") from error
