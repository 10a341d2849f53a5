"""What remains of a hook that failed: a trace, a mark for the next one, a message. Loaded only then."""

from __future__ import annotations

import time

from handbill.errors import HandbillError
from handbill.fast_json import dumps
from handbill.trace import describe, trace_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handbill.event import Event


def trace_failure(error: Exception, raw: dict[str, Any], event: Event | None, store: Any) -> str:
    """A trace, a mark so that the window's next event makes good what this one missed, one message to the person."""
    name, session, agent = (raw.get(key) for key in ("hook_event_name", "session_id", "agent_id"))
    expected = isinstance(error, HandbillError)
    what, hint = (str(error), error.hint) if isinstance(error, HandbillError) else (describe(error), "")
    line = trace_line(time.time(), f"hook {name if isinstance(name, str) else '?'}", what, hint)
    key = event.window if event is not None else (session, agent if isinstance(agent, str) and agent else "main")
    new = bool(session) and isinstance(session, str) and store.note_missed(key)
    store.append("errors", [line])
    if not new:
        return ""
    word = what if expected else "a hook failed"
    return dumps({"systemMessage": f"Handbill: {word}. See: engine doctor"})
