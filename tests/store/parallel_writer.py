"""One of many processes that write to the same window. Each adds its own file and log lines."""

from __future__ import annotations

import sys

from handbill.ledger.window import Window
from handbill.store import disk
from handbill.store.files import FileStore


def main(root: str, name: str, rounds: int) -> None:
    # On a busy machine, 32 processes may wait longer for each other than a hook would.
    disk.PATIENCE = 120.0
    store = FileStore(root)
    for number in range(rounds):

        def change(window: Window | None, number: int = number) -> tuple[Window, None]:
            after = window.copy() if window is not None else Window("s", "main")
            after.pending[f"/{name}/{number}"] = "why"
            after.serial += 1
            return after, None

        store.update(("s", "main"), change)
        store.append("deliveries", [{"writer": name, "number": number, "filler": "x" * 300}] * 3)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
