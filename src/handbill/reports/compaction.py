"""The last compaction of a window: files that were removed, kept, or delivered again."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from handbill.errors import HandbillError
from handbill.event import MAIN
from handbill.hosts.claude_code.compaction import DELIVERED, REWOUND, Compaction, last_compaction
from handbill.ledger.own_rows import own_rows
from handbill.reports.deliveries import is_delivery
from handbill.reports.plain_text import moment_of
from handbill.reports.store_files import delivery_log
from handbill.world import World

if TYPE_CHECKING:
    from collections.abc import Collection

    from handbill.ledger.window import Window
    from handbill.project import Project
    from handbill.store.api import Key

_MOST = 256 << 20
_STEP = 0.05  # seconds between two reads of the transcript
# Fates of files that are not in the window now.
NOT_THERE = ("gone", "named in the summary only", REWOUND)


@dataclass
class FileBefore:
    file: str
    came: str  # how it reached the window
    fate: str  # its state since then


@dataclass
class CompactionReport:
    window: str  # SESSION.AGENT
    project: str  # the folder
    at: str  # the stamp in the client's own record
    trigger: str
    tokens_before: int  # as the client counts; 0 if it does not report the number
    tokens_after: int
    files: list[FileBefore]
    counts: dict[str, int]  # fate -> files
    new: list[str]  # files that were delivered only after the compaction

    @property
    def lost(self) -> list[str]:
        """Return deliveries that left the window without evidence that they were summarized."""
        return [one.file for one in self.files if one.fate in ("gone", REWOUND) and one.came == DELIVERED]


def compaction_report(project: Project, key: Key, patience: float = 0.0) -> CompactionReport:
    """Return the report of the last compaction.

    `patience`: seconds to wait for the client, which records a compaction a moment after it.
    """
    found = _last(project, key, patience)
    rows = [FileBefore(path, how, found.fate(path)) for path, how in found.before.items() if not _is_own(path, project)]
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.fate] = counts.get(row.fate, 0) + 1
    new = sorted(path for path in found.redelivered - set(found.before) if not _is_own(path, project))
    return CompactionReport(
        ".".join(key), project.root, found.at, found.trigger, found.tokens[0], found.tokens[1], rows, counts, new
    )


def restorable(report: CompactionReport, wanted: Collection[str]) -> list[str]:
    """Return the wanted files that the compaction removed.

    If `wanted` is empty, return every delivery that it removed.
    """
    gone = [one for one in report.files if one.fate in NOT_THERE]
    return [one.file for one in gone if (one.file in wanted if wanted else one.came == DELIVERED)]


def holds_for_certain(window: Window | None, path: str) -> bool:
    """Whether the ledger has the file and no compaction is suspected.

    Older clients do not report which window they compacted.
    """
    return window is not None and window.maybe_compacted_from < 0 and window.holds(path)


def _last(project: Project, key: Key, patience: float) -> Compaction:
    window = project.store.read(key)
    if window is None or not window.transcript:
        raise HandbillError(f"the window of {key[0]} is not known", "`engine window --all` lists the known ones")
    world = World(())
    data = world.tail(window.transcript, 0, _MOST)
    if data is None:
        raise HandbillError(f"{window.transcript} is gone", "the client keeps transcripts only for a few weeks")
    agent, own = key[1] != MAIN, own_rows(window)
    found = last_compaction(data, own, agent=agent)
    deadline = time.monotonic() + patience
    while found is None and window.epoch and time.monotonic() < deadline:
        time.sleep(_STEP)
        found = last_compaction(world.tail(window.transcript, 0, _MOST) or b"", own, agent=agent)
    if found is None:
        raise HandbillError(
            f"window {key[0]} was never compacted, or a rewind undid the compaction",
            "`engine window` shows what is in the window",
        )
    if agent:
        _add_from_log(found, project, key, window)
    return found


def _add_from_log(found: Compaction, project: Project, key: Key, window: Window) -> None:
    """Add deliveries from Handbill's log.

    Older clients do not record what hooks gave to a subagent.
    """
    at = moment_of(found.at)
    for line in delivery_log(project.store):
        if line.get("window") == ".".join(key) and is_delivery(line):
            path = str(line.get("file", ""))
            if float(line.get("ts", 0)) < at:
                found.before.setdefault(path, DELIVERED)
            if holds_for_certain(window, path):
                found.kept.add(path)


def _is_own(path: str, project: Project) -> bool:
    """Whether a gate wrote this page. After a compaction, the gate writes a new one if needed."""
    return path.startswith(tuple(f"{folder}/" for folder in project.process.page_folders))
