"""What the delivery log adds up to: copies per window, and the summary of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from handbill.cli.result import Result
from handbill.cli.screen import count, safe, short, table

if TYPE_CHECKING:
    from rich.console import Console

    from handbill.cli.table import Table

    Line = dict[str, Any]

DELIVERED = ("direct-deliver", "claim-deliver", "updated")
SKIPPED = ("skip-dedup", "skip-inode", "skip-content")
# the host's event -> what people call it
AT = {
    "session_started": "start", "prompt_submitted": "prompt", "tool_batch_finished": "tools",
    "subagent_started": "agent", "skill_expanded": "skill", "tool_called": "held", "session_ended": "end",
    "instructions_loaded": "host",
}  # fmt: skip


def summary(lines: list[Line], project: str) -> Result:
    delivered = [line for line in lines if line.get("event") in DELIVERED]
    per_handler: dict[str, int] = {}
    for line in delivered:
        handler = str(line.get("handler", ""))
        per_handler[handler] = per_handler.get(handler, 0) + 1
    outcomes = {
        name: sum(line.get("event") == name for line in lines) for name in ("confirmed", "assumed", "lost", "refused")
    }
    data: dict[str, Any] = {
        "lines": len(lines), "deliveries": len(delivered), "files": len({line.get("file") for line in delivered}),
        "windows": len({line.get("window") for line in delivered}),
        "characters": sum(int(line.get("chars") or 0) for line in delivered),
        "skipped": sum(line.get("event") in SKIPPED for line in lines), **outcomes,
        "without_session": sum(line.get("session") is False for line in delivered),
        "per_handler": per_handler, "duplicates": duplicates_of(lines),
    }  # fmt: skip
    return Result(data, lambda screen: _show_summary(screen, data, project), exit_code=1 if data["duplicates"] else 0)


def _show_summary(screen: Console, data: dict[str, Any], project: str) -> None:
    screen.print(
        f"[bold]{count(data['deliveries'], 'delivery', 'deliveries')}[/] of {count(data['files'], 'file')} "
        f"into {count(data['windows'], 'window')}, {data['characters']:,} characters", soft_wrap=True,
    )  # fmt: skip
    for label, value in (
        ("confirmed", data["confirmed"]), ("assumed", data["assumed"]), ("lost, sent again", data["lost"]),
        ("refused", data["refused"]), ("already there", data["skipped"]),
        ("without a session", data["without_session"]), ("duplicates", len(data["duplicates"])),
    ):  # fmt: skip
        screen.print(f"  {label:<18} {value:,}")
    if data["per_handler"]:
        rows = table("at|n", "deliveries|r")
        for handler, number in sorted(data["per_handler"].items(), key=lambda one: -one[1]):
            rows.add_row(AT.get(handler, safe(handler)), f"{number:,}")
        screen.print(rows)
    if data["duplicates"]:
        screen.print(_table(data["duplicates"], project))


def duplicates_of(lines: list[Line]) -> list[Line]:
    """Files with more deliveries into one window than the log explains.

    A copy that was lost, or an epoch that was compacted away, makes room for the next one.
    """
    count: dict[tuple[str, str, str], int] = {}
    where: dict[tuple[str, str, str], list[str]] = {}
    for line in lines:
        part = str(line.get("source", "")).rpartition(" (part ")[2] if " (part " in str(line.get("source", "")) else ""
        key = (str(line.get("window")), str(line.get("file")), part)
        if line.get("event") == "updated":  # in the place of the one before
            count[key] = 1
            where.setdefault(key, []).append(str(line.get("handler")))
        elif line.get("event") in DELIVERED:
            count[key] = count.get(key, 0) + 1
            where.setdefault(key, []).append(str(line.get("handler")))
        elif line.get("event") == "lost":
            for other in count:
                if other == key or (other[:2] == key[:2] and not part):
                    count[other] = max(0, count[other] - 1)
        elif line.get("event") in ("new-epoch", "new-window"):
            for other in count:
                if other[0] == key[0]:
                    count[other] = 0
    return [
        {"window": key[0], "file": key[1], "part": key[2], "copies": copies, "handlers": where[key]}
        for key, copies in count.items() if copies > 1
    ]  # fmt: skip


def duplicates(lines: list[Line], project: str) -> Result:
    found = duplicates_of(lines)
    delivered = sum(1 for line in lines if line.get("event") in DELIVERED)

    def show(screen: Console) -> None:
        if not found:
            screen.print(f"[green]no duplicates[/] among {count(delivered, 'delivery', 'deliveries')}")
            return
        screen.print(_table(found, project))

    return Result({"duplicates": found, "deliveries": delivered}, show, exit_code=1 if found else 0)


def _table(found: list[Line], project: str) -> Table:
    rows = table("window|n", "file", "copies|r", "by")
    for one in found:
        handlers = ", ".join(AT.get(handler, safe(handler)) for handler in one["handlers"])
        rows.add_row(safe(one["window"][:13]), short(one["file"], project), str(one["copies"]), handlers)
    return rows
