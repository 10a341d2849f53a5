"""Queries of the delivery log, as the source document defines them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DELIVERED = ("direct-deliver", "claim-deliver", "updated")
SKIPPED = ("skip-dedup", "skip-inode", "skip-content")


class Deliveries:
    def __init__(self, log: Path) -> None:
        self.lines: list[dict[str, Any]] = [json.loads(line) for line in log.read_text().splitlines()]

    def of(self, *events: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["event"] in events]

    def count(self, file: str) -> int:
        """Return how often a file was delivered, by the end of its path.

        The parts of one delivery count once.
        """
        return sum(
            line["file"].endswith(file)
            for line in self.of(*DELIVERED)
            if "(part " not in line["source"] or "(part 1/" in line["source"]
        )

    def assert_delivery_count(self, file: str, expected: int) -> None:
        assert self.count(file) == expected, f"{file}: {[line for line in self.lines if line['file'].endswith(file)]}"

    def duplicate_report(self, most: int = 1) -> list[dict[str, Any]]:
        """Return files delivered more than `most` times in one window and epoch, with events."""
        found: dict[tuple[str, str, str, int], list[str]] = {}
        epochs: dict[str, int] = {}
        for line in self.lines:
            if line["event"] in ("new-epoch", "new-window"):
                epochs[line["window"]] = epochs.get(line["window"], 0) + 1
            if line["event"] in ("direct-deliver", "claim-deliver"):
                part = line["source"].rpartition("(part ")[2] if "(part " in line["source"] else ""
                key = (line["window"], line["file"], part, epochs.get(line["window"], 0))
                found.setdefault(key, []).append(line["handler"])
        return [
            {"window": window, "file": file, "count": len(hooks), "hooks": hooks}
            for (window, file, _, _), hooks in found.items()
            if len(hooks) > most
        ]

    def assert_no_duplicates(self, most: int = 1) -> None:
        assert self.duplicate_report(most) == []

    def assert_delivered_by(self, file: str, handler: str, source: str = "") -> None:
        by = [(line["handler"], line["source"]) for line in self.of(*DELIVERED) if line["file"].endswith(file)]
        assert any(how == handler and source in why for how, why in by), f"{file}: {by}"

    def assert_delivery_order(self, first: str, second: str) -> None:
        order = [line["file"] for line in self.of(*DELIVERED)]
        at = [next(i for i, file in enumerate(order) if file.endswith(name)) for name in (first, second)]
        assert at[0] < at[1], order

    def total_bytes(self) -> int:
        return sum(len(Path(file).read_bytes()) for file in {line["file"] for line in self.of(*DELIVERED)})

    def skips(self, file: str) -> int:
        return sum(line["file"].endswith(file) for line in self.of(*SKIPPED))

    def summary(self) -> dict[str, Any]:
        delivered = self.of(*DELIVERED)
        by: dict[str, int] = {}
        for line in delivered:
            by[line["handler"]] = by.get(line["handler"], 0) + 1
        return {
            "events": len(self.lines), "files": len({line["file"] for line in delivered}), "per_hook": by,
            "duplicates": len(self.duplicate_report()), "skips": len(self.of(*SKIPPED)),
        }  # fmt: skip
