"""`engine demo`: a whole agent session in a sample project, shown live, then counted."""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from handbill.cli.result import Result
from handbill.cli.screen import console, short, table, tokens
from handbill.lab import demo_project

if TYPE_CHECKING:
    from rich.console import Console

    from handbill.lab.simulator import Moment, Simulator

AGENT = "a1b2c3"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--live", action="store_true", help="with the real Claude Code client and a scripted model")
    parser.add_argument("--client", metavar="PATH", help="the client for --live (default: claude on the PATH)")
    parser.add_argument("--fast", action="store_true", help="no pauses between the events")
    parser.add_argument("--keep", action="store_true", help="keep the sample project, to look around in it")


def run(args: argparse.Namespace) -> Result:
    if args.live or args.client:
        from handbill.lab.demo_live import run as run_live

        return run_live(args)
    folder = os.path.realpath(tempfile.mkdtemp(prefix="handbill-demo-"))
    try:
        data = _play(folder, args)
    finally:
        if not args.keep:
            import shutil

            shutil.rmtree(folder, ignore_errors=True)
    next_step = f"cd {data['project']} && engine window" if args.keep else "in your own project: engine install"
    return Result(
        data, lambda screen: show_totals(screen, data), exit_code=0 if data["once"] else 1, next_step=next_step
    )


def _play(folder: str, args: argparse.Namespace) -> dict[str, Any]:
    from handbill.lab.simulator import ProcessHooks, Simulator

    project = os.path.join(folder, "orchard")
    os.makedirs(project)
    environ = {"PATH": os.environ.get("PATH", ""), "HOME": folder, "CLAUDE_PROJECT_DIR": project,
               "AI_AGENT": "claude-code_2-1-325_demo", "CLAUDE_PID": str(os.getpid())}  # fmt: skip
    settings = install_sample(project, environ)
    simulator = Simulator(project, os.path.join(folder, "transcripts"), ProcessHooks(settings, environ))
    screen = None if args.json else console()
    if screen:
        screen.print(f"[bold]A session in {project}[/], hooks as real processes\n", soft_wrap=True)
    rows: list[dict[str, Any]] = []
    for label, moment in _session(simulator, environ):
        rows.append(_row(label, moment, simulator, environ))
        if screen:
            _show_row(screen, rows[-1], project)
            time.sleep(0 if args.fast or not sys.stdout.isatty() else 0.35)
    return {"project": project, "events": rows, **_totals(simulator, rows)}


def install_sample(project: str, environ: dict[str, str]) -> str:
    """The real `engine install`, as its own process: the demo shows what a user gets."""
    import subprocess

    from handbill.cli import settings_file

    demo_project.make(project)
    where = {**environ, "PYTHONPATH": settings_file.PACKAGE_PARENT}
    for words in (["install"], ["skills", "fix", "--copy"]):
        command = [sys.executable, "-P", "-m", "handbill.cli.main", *words, "--project", project, "--json"]
        subprocess.run(command, env=where, check=True, capture_output=True, cwd="/")
    return settings_file.path_for(project, user=False)


def _session(sim: Simulator, environ: dict[str, str]) -> Iterator[tuple[str, Moment]]:
    yield "session starts", sim.start()
    yield "the user types /fix", sim.skill("fix", "the cart loses its last item")
    yield "engine session activate CART fix", _engine(sim, environ, "activate", "CART", "fix")
    proof = '{"contextRead": ["api/carts/merge.py"]}'
    yield 'engine session phase CART "1: Reproduction"', _engine(sim, environ, "phase", "CART", "1", stdin=proof)
    yield "reads api/orders.py", sim.read("api/orders.py")
    yield "reads api/carts/merge.py", sim.read("api/carts/merge.py")
    yield "writes worker/retry.py: held once, with the rules", sim.write("worker/retry.py")
    yield "writes worker/retry.py again", sim.write("worker/retry.py")
    yield "3 parallel reads", sim.read("worker/jobs.py", "api/orders.py", "api/carts/merge.py")
    yield "reads reports/year.py (35,000-character directive)", sim.read("reports/year.py")
    for number in range(2, 5):
        yield f"runs a command ({number} of 4 events)", sim.batch(("Bash", {"command": "make report"}))
    task = {"prompt": "Look at api/orders.py and report.", "subagent_type": "general-purpose"}
    sim.send({"hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": task, "tool_use_id": "toolu_task"})
    yield "subagent starts, its task names api/orders.py", sim.subagent(AGENT)
    yield "subagent reads api/orders.py", sim.read("api/orders.py", agent=AGENT)
    yield "runs a command", sim.batch(("Bash", {"command": "make test"}))
    yield "compaction", sim.compact()
    yield "reads worker/jobs.py again", sim.read("worker/jobs.py")
    yield "resume", sim.start("resume")
    yield "reads worker/jobs.py again", sim.read("worker/jobs.py")


def _engine(sim: Simulator, environ: dict[str, str], *words: str, stdin: str = "") -> Moment:
    """The agent runs the real command in its shell."""
    import subprocess

    from handbill.cli import settings_file

    command = [sys.executable, "-P", "-m", "handbill.cli.main", "session", *words]
    shell = {**environ, "PYTHONPATH": settings_file.PACKAGE_PARENT, "CLAUDE_CODE_SESSION_ID": sim.session}
    done = subprocess.run(command, env=shell, cwd=sim.project, input=stdin, capture_output=True, text=True, check=True)
    return sim.batch(("Bash", {"command": f"engine session {' '.join(words)}"}, done.stdout))


def _row(label: str, moment: Moment, simulator: Simulator, environ: dict[str, str]) -> dict[str, Any]:
    """`environ`: of the demo, which has a home of its own."""
    from handbill.settings import state_roots
    from handbill.store.files import FileStore

    window = FileStore(*state_roots(simulator.project, environ)).read((simulator.session, moment.window))
    files: dict[str, list[int]] = {}
    for path, _, part, parts in moment.titles:
        files.setdefault(path, []).append(part if parts > 1 else 0)
    records = dict(window.files.items()) if window is not None else {}
    delivered = [
        {
            "file": path, "parts": sorted(parts), "of": len(records[path]["parts"]) if path in records else 1,
            "reason": records[path]["reason"] if path in records else "",
        }
        for path, parts in files.items()
    ]  # fmt: skip
    letters = "".join(record["parts"] for record in records.values())
    return {
        "event": label, "window": moment.window, "delivered": delivered,
        "milliseconds": round(moment.seconds * 1000, 1), "characters": sum(map(len, moment.texts)),
        "sent": letters.count("s"), "confirmed": letters.count("k"),
    }  # fmt: skip


def _show_row(screen: Console, row: dict[str, Any], project: str) -> None:
    place = "" if row["window"] == "main" else " [magenta](subagent)[/]"
    receipt = f"{row['confirmed']} confirmed" + (f", {row['sent']} on the way" if row["sent"] else "")
    screen.print(f"[bold]▸ {row['event']}[/]{place}  [dim]{row['milliseconds']:.0f} ms · window: {receipt}[/]")
    for one in row["delivered"]:
        part = f" [cyan]part {', '.join(map(str, one['parts']))} of {one['of']}[/]" if one["parts"] != [0] else ""
        reason = one["reason"].replace(project + "/", "").replace(project, "the project")
        screen.print(f"    [green]+ {short(one['file'], project)}[/]{part}  [dim]{reason}[/]")
    if not row["delivered"]:
        screen.print("    [dim]nothing new: all of it is in the window[/]")


def _totals(simulator: Simulator, rows: list[dict[str, Any]]) -> dict[str, Any]:
    windows: list[dict[str, Any]] = []
    for name in simulator.views:
        copies = simulator.copies(name)
        files: dict[str, dict[str, Any]] = {}
        for (path, _, _, parts), count in copies.items():
            one = files.setdefault(path, {"file": path, "copies": 0, "parts": parts})
            one["copies"] = max(one["copies"], count)
        for one in files.values():
            one["characters"] = size_of(one["file"])
        windows.append({"window": name, "files": list(files.values())})
    times = [row["milliseconds"] for row in rows]
    return {
        "windows": windows, "once": all(one["copies"] == 1 for window in windows for one in window["files"]),
        "median_milliseconds": statistics.median(times), "slowest_milliseconds": max(times),
    }  # fmt: skip


def size_of(path: str) -> int:
    try:
        with open(path, encoding="utf-8") as file:
            return len(file.read())
    except OSError:
        return 0


def show_totals(screen: Console, data: dict[str, Any]) -> None:
    rows = table(
        "window|n", "file|p", "copies|r", "characters|r-", "tokens (estimate)|r-", title="\nIn the windows at the end"
    )
    for window in data["windows"]:
        for one in window["files"]:
            style = "green" if one["copies"] == 1 else "red"
            rows.add_row(
                "main" if window["window"] == "main" else "subagent", short(one["file"], data["project"]),
                f"[{style}]{one['copies']}[/]", f"{one['characters']:,}", f"~{tokens(one['characters']):,}",
            )  # fmt: skip
    screen.print(rows)
    verdict = "[green]every file exactly once per window[/]" if data["once"] else "[red]a file is in a window twice[/]"
    screen.print(verdict)
    if "median_milliseconds" in data:
        screen.print(
            f"time added per event: {data['median_milliseconds']:.0f} ms median, "
            f"{data['slowest_milliseconds']:.0f} ms slowest (processes and all)"
        )
