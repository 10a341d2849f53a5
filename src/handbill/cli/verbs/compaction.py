"""`engine compaction`: what the last compaction of a window took, kept and got back; and getting the rest back."""

from __future__ import annotations

import argparse
import os
import time
from typing import TYPE_CHECKING, Any

from handbill.cli.calling_agent import calling_agent
from handbill.cli.project import Project, choose_window, here, session_of
from handbill.cli.result import Result
from handbill.cli.screen import count, moment_of, safe, short, table, when_written
from handbill.cli.subcommands import AGENT, SESSION, Action
from handbill.cli.verbs.deliveries import read_log
from handbill.errors import HandbillError
from handbill.event import MAIN
from handbill.hosts.claude_code.compaction import DELIVERED, REWOUND, Compaction, last_compaction
from handbill.ledger.own_rows import own_rows
from handbill.reports.deliveries import DELIVERED as DELIVERED_EVENTS
from handbill.world import World

if TYPE_CHECKING:
    from rich.console import Console

    from handbill.ledger.window import Window

ACTIONS: dict[str, Action] = {
    "report": Action(
        "show what was in the window before, and what was kept, delivered again or lost", (SESSION, AGENT),
        ("engine compaction report",),
    ),
    "restore": Action(
        "deliver the lost files again, with the next event",
        (("files", {"nargs": "*", "metavar": "FILE", "help": "only these (default: all lost deliveries)"}), SESSION),
        ("engine compaction restore",), confirms=True,
    ),
}  # fmt: skip

_MOST = 256 << 20
_PATIENCE = 2.0  # seconds
_STYLE = {"gone": "red", "named in the summary only": "yellow", REWOUND: "yellow"}  # not in the window now


def run(args: argparse.Namespace) -> Result:
    project = here(args.project)
    agent = getattr(args, "agent", None)
    if agent is None and not args.session:
        agent = calling_agent(project, f"compaction {args.action}")
    key = choose_window(project, args.session, agent)
    found = _compaction(project, key)
    rows = [{"file": path, "came": how, "fate": found.fate(path)} for path, how in found.before.items()]
    rows = [row for row in rows if not _is_own(row["file"], project)]
    if args.action == "restore":
        return _restore(args, project, key, rows)
    tally: dict[str, int] = {}
    for row in rows:
        tally[row["fate"]] = tally.get(row["fate"], 0) + 1
    data = {
        "window": ".".join(key), "project": project.root, "at": found.at, "trigger": found.trigger,
        "tokens_before": found.tokens[0], "tokens_after": found.tokens[1], "files": rows, "counts": tally,
        "new": sorted(path for path in found.redelivered - set(found.before) if not _is_own(path, project)),
    }  # fmt: skip
    lost = any(row["fate"] in ("gone", REWOUND) and row["came"] == "delivered" for row in rows)
    return Result(data, lambda screen: _show(screen, data), next_step="engine compaction restore" if lost else "")


def _compaction(project: Project, key: tuple[str, str]) -> Compaction:
    window = project.store.read(key)
    if window is None or not window.transcript:
        raise HandbillError(f"the window of {key[0]} is not known", "`engine window --all` lists the known ones")
    data = World(()).tail(window.transcript, 0, _MOST)
    if data is None:
        raise HandbillError(f"{window.transcript} is gone", "the client keeps transcripts only for a few weeks")
    agent, own = key[1] != MAIN, own_rows(window)
    found = last_compaction(data, own, agent=agent)
    deadline = time.monotonic() + _PATIENCE
    while found is None and window.epoch and time.monotonic() < deadline:  # the client writes it down a moment later
        time.sleep(0.05)
        found = last_compaction(World(()).tail(window.transcript, 0, _MOST) or b"", own, agent=agent)
    if found is None:
        raise HandbillError(
            f"window {key[0]} was never compacted, or a rewind undid the compaction",
            "`engine window` shows what is in the window",
        )
    if agent:
        _add_from_log(found, project, key, window)
    return found


def _add_from_log(found: Compaction, project: Project, key: tuple[str, str], window: Window) -> None:
    """Older clients write down no injections of a subagent: our own log says what it was given."""
    at = moment_of(found.at)
    for line in read_log(project.store):
        if line.get("window") == ".".join(key) and line.get("event") in DELIVERED_EVENTS:
            path = str(line.get("file", ""))
            if float(line.get("ts", 0)) < at:
                found.before.setdefault(path, DELIVERED)
            if _has(window, path):
                found.kept.add(path)


def _has(window: Window | None, path: str) -> bool:
    """Does its ledger say so, and is that certain? Older clients do not say whose window they compacted."""
    return window is not None and window.maybe_compacted_from < 0 and window.holds(path)


def _is_own(path: str, project: Project) -> bool:
    """What a gate said; it is said anew after a compaction, if there is reason to."""
    return path.startswith(tuple(f"{folder}/" for folder in project.settings.page_folders))


def _restore(args: argparse.Namespace, project: Project, key: tuple[str, str], rows: list[dict[str, Any]]) -> Result:
    wanted = {os.path.abspath(name) for name in args.files}
    lost = [
        row["file"]
        for row in rows
        if row["fate"] in _STYLE and (row["file"] in wanted if wanted else row["came"] == "delivered")
    ]
    unknown = sorted(wanted - set(lost))
    if unknown:
        raise HandbillError(
            f"{unknown[0]} was not removed by the compaction", "engine compaction report lists what was removed"
        )
    window = project.store.read(key)
    there = [path for path in lost if _has(window, path)]
    files = [path for path in lost if path not in there]
    text = f"restoring {count(len(files), 'file')}" if files else "no delivered file is missing"
    if files:
        session = session_of(key)
        by = "agent" if os.environ.get("CLAUDE_CODE_SESSION_ID") == session else "terminal"
        project.store.post(session, {
            "verb": "restore", "files": files, "line": text, "at": time.time(), "by": by, "window": key[0],
        })  # fmt: skip
        text += ", with the next event of this window:\n" + "\n".join(f"  {path}" for path in files)
    return Result({"window": ".".join(key), "files": files}, text=text)


def _show(screen: Console, data: dict[str, Any]) -> None:
    size = f", {data['tokens_before']:,} tokens before" if data["tokens_before"] else ""
    size += f", {data['tokens_after']:,} after" if data["tokens_after"] else ""
    screen.print(f"[bold]{safe(data['window'])}[/]")
    screen.print(f"[dim]compacted {safe(when_written(data['at']))} ({safe(data['trigger'])}){size}[/]")
    rows = table("file|p", "how it arrived|-", "now|n")
    for row in data["files"]:
        style = _STYLE.get(row["fate"], "green")
        rows.add_row(short(row["file"], data["project"]), safe(row["came"]), f"[{style}]{safe(row['fate'])}[/]")
    screen.print(rows)
    screen.print(", ".join(f"{number} {name}" for name, number in data["counts"].items()) or "nothing was there before")
    if data["new"]:
        screen.print(f"[dim]and new since:[/] {', '.join(safe(short(path, data['project'])) for path in data['new'])}")
