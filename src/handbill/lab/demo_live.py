"""`engine demo --live`: the same story with the real client; what is shown is what the model was sent."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
from typing import TYPE_CHECKING, Any

from handbill.cli.result import Result
from handbill.cli.screen import console, count, short
from handbill.cli.trust import find_program
from handbill.cli.verbs.demo import install_sample, show_totals, size_of
from handbill.errors import HandbillError
from handbill.lab.live_client import Client, Reply, Request, Run, Script, call
from handbill.text.blocks import read_title

if TYPE_CHECKING:
    from rich.console import Console

Title = tuple[str, str, int, int]


def run(args: argparse.Namespace) -> Result:
    binary = args.client or find_program("claude", os.getcwd())
    if not binary or not os.access(binary, os.X_OK):
        raise HandbillError(
            "no Claude Code client was found", "install it (npm: @anthropic-ai/claude-code) or name it with --client"
        )
    _require_client(binary)
    folder = os.path.realpath(tempfile.mkdtemp(prefix="handbill-demo-"))
    try:
        data = _play(os.path.abspath(binary), folder, None if args.json else console())
    finally:
        if not args.keep:
            shutil.rmtree(folder, ignore_errors=True)
    return Result(data, lambda screen: show_totals(screen, data), exit_code=0 if data["once"] else 1)


def _require_client(binary: str) -> None:
    try:
        done = subprocess.run([binary, "--version"], capture_output=True, text=True, timeout=30, check=False, cwd="/")
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HandbillError(f"{binary} does not run: {error}", "name the client with --client") from error
    if "Claude Code" not in done.stdout:
        raise HandbillError(f"{binary} is not a Claude Code client", "name the client with --client")


def _play(binary: str, folder: str, screen: Console | None) -> dict[str, Any]:
    project, home = os.path.join(folder, "orchard"), os.path.join(folder, "home")
    os.makedirs(project)
    os.makedirs(home)
    install_sample(project, {"PATH": os.environ.get("PATH", ""), "HOME": home})
    client = Client(binary, project, home)
    if screen:
        screen.print(f"[bold]{binary} in {project}[/], a scripted model on {client.model.url}\n", soft_wrap=True)
    first = client.run("fix the cart", _story(project), env={"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"})
    again = client.run("go on", Script([_read(project, "worker/jobs.py"), "done"]), "--resume", first.session)
    client.model.close()
    for part in (first, again):
        if part.exit_code:
            raise HandbillError(f"the client ended with {part.exit_code}: {part.stderr.strip()[-300:]}")
    rows = _rows([("first process", first), ("resumed", again)])
    if screen:
        _show(screen, rows, project)
    windows = [_window("main", again.of()[-1])]
    agents = first.of(None)
    if agents:
        windows.append(_window("subagent", agents[-1]))
    once = all(one["copies"] == 1 for window in windows for one in window["files"])
    return {"project": project, "client": binary, "requests": rows, "windows": windows, "once": once}


def _read(project: str, *names: str) -> list[dict[str, Any]]:
    return [call("Read", file_path=os.path.join(project, name)) for name in names]


def _story(project: str) -> Script:
    agent = call("Agent", description="look", prompt="look at the api", subagent_type="general-purpose",
                 run_in_background=False)  # fmt: skip
    command = [call("Bash", command="echo report", description="x")]
    main: list[Any] = [
        _read(project, "api/orders.py"), _read(project, "api/carts/merge.py"),
        _read(project, "worker/jobs.py", "api/orders.py", "api/carts/merge.py"), _read(project, "reports/year.py"),
        command, command, command, [agent], Reply(command, input_tokens=99_000), _read(project, "worker/jobs.py"),
        command, command, command, command, "done",
    ]  # fmt: skip
    return Script([_copy(step) for step in main], [_read(project, "api/orders.py"), "seen"])


def _copy(step: Any) -> Any:
    """Steps are completed in place (ids), so one may not stand in two places."""
    if isinstance(step, Reply):
        return Reply([dict(block) for block in step.blocks], step.input_tokens)
    return [dict(block) for block in step] if isinstance(step, list) else step


def titles(request: Request) -> list[Title]:
    """Our blocks in what the model was sent; the host writes its own words before the first."""
    found = []
    for line in request.text.split("\n"):
        start = max(line.find("[Preloaded: "), line.find("[Updated: "))
        title = read_title(line[start:]) if start >= 0 else None
        if title is not None:
            found.append(title)
    return found


def _rows(runs: list[tuple[str, Run]]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    seen: dict[str, list[Title]] = {}
    for name, one in runs:
        for request in one.requests:
            if not request.body.get("tools") or request.is_summary:
                rows.append({"run": name, "window": "compaction" if request.is_summary else "side", "new": []})
                continue
            now = titles(request)
            before = [] if rows and rows[-1]["window"] == "compaction" else seen.get(request.agent, [])
            gone = len([title for title in seen.get(request.agent, []) if title not in now])
            new = [title for title in now if title not in before]
            seen[request.agent] = now
            rows.append({"run": name, "window": "subagent" if request.agent else "main", "new": new, "gone": gone})
    return [row for row in rows if row["window"] != "side"]


def _show(screen: Console, rows: list[dict[str, Any]], project: str) -> None:
    for number, row in enumerate(rows, 1):
        if row["window"] == "compaction":
            screen.print("[bold yellow]▸ the client compacts: the model is asked for a summary[/]")
            continue
        gone = f" · [yellow]the compaction removed {count(row['gone'], 'block')}[/]" if row["gone"] else ""
        screen.print(f"[bold]▸ request {number}[/] [dim]{row['run']}, {row['window']}[/]{gone}")
        for path, _, part, parts in row["new"]:
            label = f" [cyan]part {part} of {parts}[/]" if parts > 1 else ""
            screen.print(f"    [green]+ {short(path, project)}[/]{label}")


def _window(name: str, request: Request) -> dict[str, Any]:
    counted: dict[Title, int] = {}
    for title in titles(request):
        counted[title] = counted.get(title, 0) + 1
    files: dict[str, dict[str, Any]] = {}
    for (path, _, _, parts), copies in counted.items():
        one = files.setdefault(path, {"file": path, "copies": 0, "parts": parts, "characters": size_of(path)})
        one["copies"] = max(one["copies"], copies)
    return {"window": name, "files": list(files.values())}
