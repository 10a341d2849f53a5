"""The real hook with one fault, made at one event: stands in the settings where the real command stood.

The fault is made from outside, so that the product carries no switch for it.
"""

from __future__ import annotations

import json
import os
import sys
import time


def main() -> None:
    data = sys.stdin.buffer.read()
    event = json.loads(data).get("hook_event_name")
    from handbill import hook
    from handbill.store import files

    hook._stdin = lambda: data  # type: ignore[assignment]
    if _due(str(event)):
        _break(os.environ["FAULT"], hook, files)
    hook.main()


def _due(event: str) -> bool:
    """Is this the event at which the fault is due? FAULT_AT=PostToolBatch:2 is the second batch."""
    name, _, number = os.environ.get("FAULT_AT", "").partition(":")
    if event != name:
        return False
    with open(os.environ["FAULT_COUNT"], "a+") as count:
        count.write("x")
        count.flush()
        return count.tell() == int(number or 1)


def _die(*_: object) -> None:
    os.kill(os.getpid(), 9)


def _break(fault: str, hook: object, files: object) -> None:
    printing = hook._print  # type: ignore[attr-defined]
    if fault == "before-claim":
        files.FileStore.update = _die  # type: ignore[attr-defined]
    elif fault == "after-claim":
        hook._print = _die  # type: ignore[attr-defined]
    elif fault == "after-print":
        hook._print = lambda text: (printing(text), _die())  # type: ignore[attr-defined]
    elif fault == "hang-before-claim":
        files.FileStore.update = lambda *_: time.sleep(60)  # type: ignore[attr-defined]
    elif fault == "hang-after-claim":
        hook._print = lambda _: time.sleep(60)  # type: ignore[attr-defined]
    else:
        raise ValueError(fault)
