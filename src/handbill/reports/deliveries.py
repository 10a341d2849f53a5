"""The delivery log: its lines, chosen by window, file and decision, and what they add up to.

A line has these fields: `ts` (seconds), `host`, `window` (SESSION.AGENT), `handler` (the kind of the event), `event`
(the decision), `file`, `source` (the reason), `chars`, `dedup`, `tool`, `call`, and `session` (whether a session was
active).
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
# the decisions of the log, and what people call them
DECISIONS = {
    "direct-deliver": "delivered", "claim-deliver": "delivered", "updated": "delivered again", "confirmed": "confirmed",
    "assumed": "assumed", "truncated": "cut by host", "lost": "lost", "queue-pending": "waiting", "refused": "refused",
    "skip-dedup": "already there", "skip-inode": "same file", "skip-content": "same text", "seed": "host loaded",
    "same-rules": "same rules", "resolve-ref": "named by a page",
    "new-window": "new window", "new-epoch": "compacted or rewound",
}  # fmt: skip
# the kinds of event, and what people call them
MOMENTS = {
    "session_started": "start", "prompt_submitted": "prompt", "tool_batch_finished": "tools",
    "subagent_started": "agent", "skill_expanded": "skill", "tool_called": "held", "session_ended": "end",
    "instructions_loaded": "host",
}  # fmt: skip


@dataclass
class Chosen:
    """Which lines are meant. Empty fields choose nothing out."""

    session: str = ""  # begins the id of the window
    file: str = ""  # is in the path of the file
    decisions: Collection[str] = ()  # as the log names them, or as people call them

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
    files: int  # different ones
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
    """The last lines that are meant, the oldest first; 0: all lines of the current log."""
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
