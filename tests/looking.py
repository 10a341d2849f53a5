"""A host that records its calls, and events that cause such calls."""

from __future__ import annotations

from typing import Any

from builders import DictWorld
from handbill.event import READS, SESSION_STARTED, TOOL_BATCH_FINISHED, Event, Tool
from handbill.flow import findings
from handbill.flow.event_context import Asked
from handbill.ledger.content import Content
from handbill.ledger.window import Window

TRANSCRIPT = "x" * 100


class Host:
    """Records the calls of its methods."""

    def __init__(self, content: Content | None = None, **answers: Any) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.content = content
        self.answers = {"names_compacted_agent": True, "agents_survive": True, "records_injections": True, **answers}

    def __getattr__(self, name: str) -> Any:
        if name in self.answers:
            return lambda *_: self.answers[name]

        def answer(*_: object, **how: Any) -> Any:
            self.asked.append((name, how))
            return self.content if name == "window_now" else []

        return answer

    @property
    def reads(self) -> list[dict[str, Any]]:
        return [how for name, how in self.asked if name == "window_now"]


def look(
    event: Event, before: Window | None, host: Host, *, transcript: str | None = TRANSCRIPT, **asked: bool
) -> findings.Findings:
    told = Asked()
    for name, value in asked.items():
        setattr(told, name, value)
    world = DictWorld({"/t": transcript} if transcript is not None else {})
    return findings.look(event, before, host, world, 100.0, told)  # type: ignore[arg-type]


def start(source: str, **more: Any) -> Event:
    return Event(SESSION_STARTED, "s", source=source, project="/p", cwd="/p", transcript="/t", **more)


def batch(**more: Any) -> Event:
    tools = [Tool(READS, "t9")]
    return Event(TOOL_BATCH_FINISHED, "s", tools=tools, project="/p", cwd="/p", transcript="/t", **more)


CLAIM = {"id": 1, "batch": "t1", "offset": 5 << 20, "at": 1.0, "items": []}
