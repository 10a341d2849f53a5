"""`engine replay FILE`: play a recorded event stream through the hooks' code and print or compare deliveries.

A stream is JSON lines. A line is an event as the host sends it, or `{"in": event, "out": [...]}` with the
deliveries expected. A first line `{"files": {path: text}, "version": "2.1.325"}` brings its own project.
`$PROJECT` in a line stands for the project folder.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
from typing import TYPE_CHECKING, Any

from handbill.cli.files import read_text
from handbill.cli.project import find_project
from handbill.cli.result import Result
from handbill.cli.screen import count, own_page, safe, short, table
from handbill.errors import HandbillError
from handbill.lab.simulator import Moment, Simulator, direct_hooks
from handbill.settings import SHIPPED

if TYPE_CHECKING:
    from rich.console import Console


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="the recorded stream (JSON lines)")
    parser.add_argument("--project", metavar="DIR", help="the project (default: the recording's files, or this one)")
    parser.add_argument("--update", action="store_true", help="write what was delivered into the file as expected")


def run(args: argparse.Namespace) -> Result:
    lines = _read(args.file)
    folder = os.path.realpath(tempfile.mkdtemp(prefix="handbill-replay-"))
    try:
        rows = play(lines, folder, args.project)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if args.update:
        _write(args.file, lines, rows)
    wrong = [row for row in rows if row["expected"] is not None and row["expected"] != row["delivered"]]
    data = {"events": rows, "differences": len(wrong)}
    failed = bool(wrong) and not args.update
    return Result(data, lambda screen: _show(screen, rows, failed), exit_code=1 if failed else 0)


def _read(path: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    number = 0
    try:
        for number, line in enumerate(read_text(path).split("\n"), 1):
            if line.strip():
                found.append(_checked(json.loads(line), f"{path}:{number}"))
    except OSError as error:
        raise HandbillError(f"{path}: {error.strerror}", "name a file of JSON lines") from error
    except (ValueError, RecursionError) as error:
        raise HandbillError(f"{path}:{number}: {error}", "one JSON object per line") from error
    return found


def _checked(value: Any, where: str) -> dict[str, Any]:
    """An event, or the first line that brings files."""
    event = value.get("in", value) if isinstance(value, dict) else None
    if not isinstance(event, dict) or not ("files" in value or isinstance(event.get("hook_event_name"), str)):
        raise HandbillError(f"{where}: no event: it has no hook_event_name", "one event per line")
    calls = event.get("tool_calls", [])
    fields = ("tool_name", "tool_input", "tool_use_id")
    if not isinstance(calls, list) or not all(isinstance(one, dict) and set(fields) <= set(one) for one in calls):
        raise HandbillError(f"{where}: tool_calls must list objects with {', '.join(fields)}", "one event per line")
    made: dict[str, Any] = value
    return made


def play(lines: list[dict[str, Any]], folder: str, project: str | None = None) -> list[dict[str, Any]]:
    """Deliveries per event, by names that do not depend on this machine."""
    head = lines[0] if lines and "files" in lines[0] else {}
    root = os.path.abspath(project) if project else os.path.join(folder, "project") if head else find_project()
    if head and not project:
        _make_files(head["files"], root)
    version = str(head.get("version", "2.1.325")).replace(".", "-")
    # state goes to the temporary folder: replaying must not touch the project's own ledger
    environ = {
        "HOME": os.path.join(folder, "home"), "CLAUDE_PROJECT_DIR": root, "CLAUDE_PID": "1",
        "AI_AGENT": f"claude-code_{version}_replay",
    }  # fmt: skip
    simulator = Simulator(root, os.path.join(folder, "transcripts"), direct_hooks(environ))
    rows = []
    for line in lines[1:] if head else lines:
        raw = json.loads(json.dumps(line.get("in", line)).replace("$PROJECT", root))
        simulator.session = _id(raw.get("session_id", simulator.session))
        if "agent_id" in raw:
            raw["agent_id"] = _id(raw["agent_id"])
        raw["transcript_path"] = simulator.transcript
        rows.append(_row(simulator.send(raw), root, line.get("out")))
    return rows


def _make_files(files: Any, root: str) -> None:
    """Below the folder that we made, and nowhere else: a recording may come from anybody."""
    for name, text in files.items() if isinstance(files, dict) else ():
        inside = isinstance(name, str) and not name.startswith("/") and ".." not in name.split("/") and "\0" not in name
        if not inside or not isinstance(text, str):
            raise HandbillError(f"the recording names a file {name!r}", "use relative names without `..`")
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)


def _id(value: Any) -> str:
    """An id becomes the name of a file."""
    if isinstance(value, str) and value and not value.startswith(".") and not {"/", "\\", "\0"} & set(value):
        return value
    raise HandbillError(f"{value!r} is not the id of a session or an agent", "correct the recording")


def _row(moment: Moment, root: str, expected: list[str] | None) -> dict[str, Any]:
    delivered = []
    for path, _, part, parts in moment.titles:
        name = own_page(path) or path.replace(root + "/", "").replace(SHIPPED + "/", "library:")
        delivered.append(f"{name} {part}/{parts}" if parts > 1 else name)
    event = moment.event
    about = event.get("source") or ", ".join(call.get("tool_name", "") for call in event.get("tool_calls", []))
    return {
        "event": event["hook_event_name"], "about": about, "window": moment.window, "delivered": delivered,
        "expected": expected, "messages": moment.messages,
    }  # fmt: skip


def _write(path: str, lines: list[dict[str, Any]], rows: list[dict[str, Any]]) -> None:
    head = lines[:1] if lines and "files" in lines[0] else []
    events = [line.get("in", line) for line in lines[len(head) :]]
    if os.path.islink(path):
        raise HandbillError(f"{path} is a link", "name the recording itself")
    with open(path, "w", encoding="utf-8") as file:
        for value in head + [{"in": event, "out": row["delivered"]} for event, row in zip(events, rows)]:
            file.write(json.dumps(value, ensure_ascii=False) + "\n")


def _show(screen: Console, rows: list[dict[str, Any]], failed: bool) -> None:
    shown = table("#|r", "event", "window|n-", "delivered|p+", "expected|p+")
    for number, row in enumerate(rows, 1):
        wrong = row["expected"] is not None and row["expected"] != row["delivered"]
        delivered = "\n".join(short(name) for name in row["delivered"]) or "[dim]–[/]"
        expected = "\n".join(safe(str(one)) for one in row["expected"] or ["–"]) if wrong and failed else ""
        name = safe(f"{row['event']} {row['about']}".strip())
        shown.add_row(str(number), name, safe(row["window"]), f"[red]{delivered}[/]" if wrong else delivered, expected)
    screen.print(shown)
    compared = sum(row["expected"] is not None for row in rows)
    if failed:
        screen.print("[red]some deliveries differ from the expected ones[/]; if the new ones are right, use --update")
    elif compared:
        screen.print(f"[green]{count(compared, 'event')} as expected[/]")
