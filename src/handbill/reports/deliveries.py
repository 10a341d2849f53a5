"""The delivery log: its lines, filtered by window, file and decision, and their totals.

A line has these fields: `ts` (seconds), `host`, `window` (SESSION.AGENT), `handler` (the kind of
the event), `event` (the decision), `file`, `source` (the reason), `chars`, `dedup`, `tool`, `call`,
and `session` (whether a session was active).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from handbill.reports.store_files import end_of_delivery_log

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from handbill.reports.store_files import Line
    from handbill.store.files import FileStore

DELIVERED = ("direct-deliver", "claim-deliver", "updated")
SKIPPED = ("skip-dedup", "skip-inode", "skip-content")
# Maps each decision in the log to its name in reports.
DECISIONS = {
    "direct-deliver": "delivered", "claim-deliver": "delivered", "updated": "delivered again", "confirmed": "confirmed",
    "assumed": "assumed", "truncated": "cut by host", "lost": "lost", "queue-pending": "waiting", "refused": "refused",
    "skip-dedup": "already there", "skip-inode": "same file", "skip-content": "same text", "seed": "host loaded",
    "same-rules": "same rules", "resolve-ref": "named by a page",
    "new-window": "new window", "new-epoch": "compacted or rewound",
}  # fmt: skip
# Maps each kind of event to its name in reports.
MOMENTS = {
    "session_started": "start", "prompt_submitted": "prompt", "tool_batch_finished": "tools",
    "subagent_started": "agent", "skill_expanded": "skill", "tool_called": "held", "session_ended": "end",
    "instructions_loaded": "host",
}  # fmt: skip


@dataclass
class Chosen:
    """A filter of lines. An empty field matches every line."""

    session: str = ""  # the start of the window's id
    file: str = ""  # a part of the file's path
    decisions: Collection[str] = ()  # as named in the log or in reports

    def includes(self, line: Line) -> bool:
        decision = str(line.get("event"))
        return (
            str(line.get("window", "")).startswith(self.session)
            and self.file in str(line.get("file", ""))
            and (not self.decisions or decision in self.decisions or DECISIONS.get(decision) in self.decisions)
        )


@dataclass
class Summary:
    lines: int
    deliveries: int
    files: int  # each file counts once
    windows: int
    characters: int
    skipped: int  # files that were in the window already
    confirmed: int
    assumed: int
    lost: int
    refused: int
    without_session: int  # deliveries while no session was active
    per_handler: dict[str, int]  # kind of event -> deliveries


def newest(store: FileStore, chosen: Chosen, last: int) -> list[Line]:
    """Return the last lines that match, the oldest first.

    If `last` is 0, return all matching lines of the current log.
    """
    found = [line for line in end_of_delivery_log(store, last) if chosen.includes(line)]
    found.sort(key=lambda line: float(line.get("ts", 0)))
    return found[-last:] if last else found


def is_delivery(line: Line) -> bool:
    return line.get("event") in DELIVERED


def summary(lines: Iterable[Line]) -> Summary:
    lines = list(lines)
    delivered = [line for line in lines if is_delivery(line)]
    per_handler: dict[str, int] = {}
    for line in delivered:
        handler = str(line.get("handler", ""))
        per_handler[handler] = per_handler.get(handler, 0) + 1

    def decided(name: str) -> int:
        return sum(line.get("event") == name for line in lines)

    return Summary(
        lines=len(lines),
        deliveries=len(delivered),
        files=len({line.get("file") for line in delivered}),
        windows=len({line.get("window") for line in delivered}),
        characters=sum(int(line.get("chars") or 0) for line in delivered),
        skipped=sum(line.get("event") in SKIPPED for line in lines),
        confirmed=decided("confirmed"),
        assumed=decided("assumed"),
        lost=decided("lost"),
        refused=decided("refused"),
        without_session=sum(line.get("session") is False for line in delivered),
        per_handler=per_handler,
    )
