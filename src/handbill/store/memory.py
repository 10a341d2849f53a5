"""A store in this process only: the smallest implementation, for tests."""

from __future__ import annotations

import threading

from handbill.errors import CorruptState
from handbill.fast_json import dumps, loads
from handbill.ledger.window import from_text, to_text
from handbill.store.notes import as_note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from typing import Any

    from handbill.ledger.window import Window
    from handbill.store.api import Key, T


class MemoryStore:
    def __init__(self) -> None:
        self.windows: dict[Key, str] = {}  # as text, so that nothing is shared with a caller
        self.logs: dict[str, list[dict[str, Any]]] = {}
        self.marks: set[Key] = set()
        self.boxes: dict[str, list[dict[str, Any]]] = {}
        self.links: dict[str, str] = {}
        self.pages: dict[str, str] = {}
        self.handovers: list[dict[str, Any]] = []
        self.notes: dict[tuple[Key, str], str] = {}
        self._posted = 0
        self._lock = threading.Lock()

    def read(self, key: Key) -> Window | None:
        text = self.windows.get(key)
        try:
            return from_text(text, loads, dumps) if text is not None else None
        except ValueError as error:
            raise CorruptState(f"window {key}: {error}") from error

    def update(self, key: Key, change: Callable[[Window | None], tuple[Window | None, T]]) -> T:
        with self._lock:
            try:
                before = self.read(key)
            except CorruptState:
                self.windows[(key[0], f"{key[1]}.corrupt")] = self.windows.pop(key)
                before = None
            after, result = change(before)
            if after is not None and after is not before:
                self.windows[key] = to_text(after, dumps)
            return result

    def put_aside(self, key: Key) -> None:
        with self._lock:
            self.windows[(key[0], f"{key[1]}.corrupt")] = self.windows.pop(key)

    def append(self, stream: str, lines: Iterable[dict[str, Any]]) -> None:
        with self._lock:
            self.logs.setdefault(stream, []).extend(loads(dumps(line)) for line in lines)

    def note_missed(self, key: Key) -> bool:
        new = key not in self.marks
        self.marks.add(key)
        return new

    def missed(self, key: Key) -> bool:
        return key in self.marks

    def clear_missed(self, key: Key) -> None:
        self.marks.discard(key)

    def post(self, session: str, notice: dict[str, Any]) -> None:
        with self._lock:
            self._posted += 1
            self.boxes.setdefault(session, []).append({**loads(dumps(notice)), "id": str(self._posted)})

    def notices(self, session: str) -> list[dict[str, Any]]:
        with self._lock:
            return [dict(notice) for notice in self.boxes.get(session, [])]

    def settle_notices(self, session: str, ids: Collection[str]) -> None:
        with self._lock:
            self.boxes[session] = [notice for notice in self.boxes.get(session, []) if notice["id"] not in ids]

    def link(self, session: str, folder: str) -> None:
        self.links[session] = folder

    def linked(self, session: str) -> str:
        return self.links.get(session, "")

    def leave_handover(self, handover: dict[str, Any]) -> None:
        with self._lock:
            left = [one for one in self.handovers if one["session"] != handover["session"]]
            self.handovers = [*left, loads(dumps(handover))]

    def take_handover(self, session: str, *, again: bool = False) -> dict[str, Any] | None:
        with self._lock:
            mine = [one for one in self.handovers if one.get("taker") == session]
            mine = mine or [one for one in self.handovers if not one.get("taker") and not again]
            if not mine or mine[0].get("by") == session:
                return None
            mine[0]["taker"] = session
            return dict(mine[0])

    def keep_page(self, name: str, text: str) -> str:
        self.pages[name] = text
        return f"/.engine/pages/{name}"

    def note(self, key: Key, kind: str, value: dict[str, Any] | None) -> None:
        if value is None:
            self.notes.pop((key, kind), None)
        else:
            self.notes[key, kind] = dumps(value)

    def noted(self, key: Key, kind: str) -> dict[str, Any] | None:
        text = self.notes.get((key, kind))
        return as_note(text, f"the {kind} note of {key}") if text is not None else None

    def known(self) -> list[Key]:
        return sorted(self.windows)
