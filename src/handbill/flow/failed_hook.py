"""Record a failed hook: a trace, a mark for the next event, and a message. Loaded only on
failure."""

from __future__ import annotations

import time

from handbill.errors import HandbillError
from handbill.event import MAIN
from handbill.fast_json import dumps
from handbill.store.api import ERRORS
from handbill.trace import describe, trace_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from handbill.event import Event, Identity


def trace_failure(
    error: Exception, host: ModuleType | None, caller: Identity | None, event: Event | None, raw: Any, store: Any
) -> str:
    """Write a trace, mark the window so that its next event catches up, and return one message."""
    expected = isinstance(error, HandbillError)
    what, hint = (str(error), error.hint) if isinstance(error, HandbillError) else (describe(error), "")
    kind = host.event_name(raw) if host is not None else ""
    line = trace_line(time.time(), f"hook {kind or '?'}", what, hint)
    session, agent = (caller.session_id, caller.agent_id) if caller is not None else ("", "")
    key = event.window if event is not None else (session, agent or MAIN)
    new = bool(session) and store.note_missed(key)
    store.append(ERRORS, [line])
    if not new or host is None:
        return ""
    return dumps(host.to_person(f"Handbill: {what if expected else 'a hook failed'}. See: engine doctor"))
