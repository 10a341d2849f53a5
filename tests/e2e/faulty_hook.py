"""The real hook with faults, each made at one event. The settings name it in place of the real command.

The faults are made from outside, so that the product carries no switch for them.
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
    if fault := _due(str(event)):
        _break(fault, hook, files)
    hook.main()


def _due(event: str) -> str:
    """The fault that is due at this event, if any: PostToolBatch:2 is the second batch."""
    faults: dict[str, str] = json.loads(os.environ.get("FAULTS", "{}"))
    if not faults:
        return ""
    with open(os.path.join(os.environ["EVENTS_SEEN"], event), "a+") as seen:
        seen.write("x")
        seen.flush()
        return faults.get(f"{event}:{seen.tell()}", "")


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
