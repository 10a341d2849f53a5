"""`engine session status`: shows the state of a session."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from handbill.cli.caller import alive, desk
from handbill.cli.result import Result
from handbill.cli.screen import labelled, safe, table, when_written
from handbill.fast_json import dumps
from handbill.reports.sessions import condition, documents
from handbill.work.session import State, ahead, holder_of

if TYPE_CHECKING:
    from rich.console import Console


def run(args: argparse.Namespace) -> Result:
    at = desk(args.project)
    folder = at.own(args.session)
    state = at.required(folder)
    holder = holder_of(state)
    data: dict[str, Any] = {
        "session": folder, "state": state, "documents": documents(folder),
        "holder": {"pid": holder.pid, "window": holder.session, "alive": bool(holder.pid) and alive(holder)},
        "next": ahead(state),
    }  # fmt: skip
    next_step = f"engine session check {at.shown(folder)}" if state.get("lifecycle") == "active" else ""
    return Result(data, lambda screen: _show(screen, at.shown(folder), data), next_step=next_step)


def _show(screen: Console, name: str, data: dict[str, Any]) -> None:
    state, holder = data["state"], data["holder"]
    held = "nobody"
    if holder["pid"]:
        held = f"process {holder['pid']} ({'alive' if holder['alive'] else 'gone'})"
        held += f", window {holder['window'][:8]}" if holder["window"] else ""
    screen.print(f"[bold]{safe(name)}[/]  {safe(condition(state, alive))}")
    for label, value in (
        ("skill", state.get("skill")), ("phase", state.get("currentPhase")), ("next", " or ".join(data["next"])),
        ("held by", held), ("since", when_written(str(state.get("startedAt", "")))), ("task", state.get("taskSummary")),
        ("summary", state.get("sessionDescription")),
        ("documents", ", ".join(path.rpartition("/")[2] for path in data["documents"])),
    ):  # fmt: skip
        if value:
            labelled(screen, f"  {label:<10} ", safe(str(value)))
    history = [*_earlier(state), *state.get("phaseHistory", ())]
    if history:
        rows = table("since|n", "phase|n", "its proof; skips and approvals|+")
        for entry in history:
            rows.add_row(*_row(entry))
        screen.print(rows)


def _earlier(state: State) -> list[dict[str, Any]]:
    return [
        {**entry, "phase": f"{past['skill']} · {entry.get('phase')}"}
        for past in state.get("skillHistory", ())
        for entry in past["phaseHistory"]
    ]


def _proof(entry: dict[str, Any]) -> list[tuple[str, Any]]:
    proof = entry.get("proof")
    return list(proof.items()) if isinstance(proof, dict) else []


def _row(entry: Any) -> tuple[str, str, str]:
    if not isinstance(entry, dict):
        return "–", safe(str(entry)), ""
    words = [f"{name} {value if isinstance(value, str) else dumps(value)}" for name, value in _proof(entry)]
    words += [f"skipped {', '.join(entry['skipped'])}"] if entry.get("skipped") else []
    words += [f"unproven {', '.join(entry['unproven'])}"] if entry.get("unproven") else []
    words += [f"approved: {entry['approved']}"] if entry.get("approved") else []
    return safe(when_written(str(entry.get("ts", "")))), safe(str(entry.get("phase", ""))), safe("; ".join(words))
