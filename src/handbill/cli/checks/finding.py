"""What a check of `engine doctor` yields."""

from __future__ import annotations

from dataclasses import asdict, dataclass

OK, NOTE, BAD = "ok", "note", "bad"


@dataclass
class Finding:
    check: str
    state: str
    text: str
    fix: str = ""

    def plain(self) -> dict[str, str]:
        return asdict(self)
