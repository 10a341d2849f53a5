"""A task that an agent hands to a subagent."""

from __future__ import annotations


class Task:
    __slots__ = ("agent_type", "in_background", "text")

    def __init__(self, text: str, agent_type: str, *, in_background: bool = False) -> None:
        self.text = text
        self.agent_type = agent_type
        self.in_background = in_background
