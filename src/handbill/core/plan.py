"""What handlers want. Plans add up; block beats warn beats allow; None = no opinion."""

from __future__ import annotations

ALLOW, WARN, BLOCK = "allow", "warn", "block"
_RANK = {"": 0, ALLOW: 1, WARN: 2, BLOCK: 3}


class Want:
    __slots__ = ("path", "reason")

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason


class Plan:
    __slots__ = ("flags", "gate_text", "notes", "seen", "touched", "verdict", "wants")

    def __init__(self) -> None:
        self.wants: list[Want] = []
        self.seen: list[tuple[str, str]] = []  # (path, reason): the host itself put it there
        self.touched: dict[str, list[str]] = {}  # directory -> directive names found there
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
        self.flags.update(other.flags)
        self.notes += other.notes
        if other.verdict:
            self.gate(other.verdict, other.gate_text)

    def __bool__(self) -> bool:
        return bool(self.wants or self.seen or self.touched or self.flags or self.notes or self.verdict)
