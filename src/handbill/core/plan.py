"""What handlers want. Plans add up; block beats warn beats allow; None = no opinion."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ALLOW, WARN, BLOCK = "allow", "warn", "block"
_RANK = {"": 0, ALLOW: 1, WARN: 2, BLOCK: 3}


class Want:
    __slots__ = ("path", "reason")

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason


class Plan:
    __slots__ = (
        "flags", "gate_text", "known", "notes", "post", "seen", "stale", "taken", "touched", "verdict", "wants", "work",
    )  # fmt: skip

    def __init__(self) -> None:
        self.wants: list[Want] = []
        self.seen: list[tuple[str, str]] = []  # (path, reason): the host itself put it there
        self.touched: dict[str, dict[str, Any]] = {}  # directory -> which directives it has
        self.stale: dict[str, str] = {}  # path -> reason: what the window holds is no longer what the file says
        self.known: dict[str, str] = {}  # path -> stamp: the agent has this state of the file in another way
        self.work: dict[str, Any] | None = None  # which skill, phase and session this window is at
        self.taken: list[str] = []  # notices that are dealt with
        self.post: list[dict[str, Any]] = []  # notices for other windows of this session
        self.flags: dict[str, object] = {}
        self.notes: list[str] = []
        self.verdict = ""
        self.gate_text = ""

    def want(self, path: str, reason: str) -> None:
        self.wants.append(Want(path, reason))

    def gate(self, verdict: str, text: str) -> None:
        if _RANK[verdict] > _RANK[self.verdict]:
            self.verdict, self.gate_text = verdict, text
        elif verdict == self.verdict and text:
            self.gate_text = f"{self.gate_text}\n\n{text}"

    def add(self, other: Plan | None) -> None:
        if other is None:
            return
        self.wants += other.wants
        self.seen += other.seen
        self.touched.update(other.touched)
        self.stale.update(other.stale)
        self.known.update(other.known)
        self.work = other.work if other.work is not None else self.work
        self.taken += other.taken
        self.post += other.post
        self.flags.update(other.flags)
        self.notes += other.notes
        if other.verdict:
            self.gate(other.verdict, other.gate_text)

    def __bool__(self) -> bool:
        return self.changes or bool(self.notes or self.verdict or self.taken or self.post)

    @property
    def changes(self) -> bool:
        """Does it touch the window?"""
        return bool(
            self.wants or self.seen or self.touched or self.flags or self.stale or self.known or self.work is not None
        )
