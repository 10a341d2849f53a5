"""Records by name, stored as lines of text and parsed one at a time.

A window can have hundreds of files and directories, but an event asks about one or two. A search in
the text costs almost nothing; parsing all of it costs more than the rest of the hook.
"""

from __future__ import annotations

from handbill.errors import CorruptState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Record = dict[str, Any]


_SEARCHES = 100  # searches before an index is built


def _in_turn(lines: list[str], most: int, turn: int) -> list[str]:
    start = turn * most % max(len(lines), 1)
    return (lines + lines)[start : start + min(most, len(lines))]


def _unreadable(_: Any) -> Any:
    raise CorruptState("stored lines without a reader")


class Records:
    """A map from name to record.

    `text` is JSON lines. Each line follows a newline and begins with its name under `key`.
    """

    __slots__ = ("_asked", "_changed", "_dumps", "_loads", "_places", "_text", "key")

    def __init__(
        self,
        key: str,
        text: str = "",
        loads: Callable[[str], Any] = _unreadable,
        dumps: Callable[[Any], str] = _unreadable,
    ) -> None:
        self.key = key
        self._text = text
        self._loads = loads
        self._dumps = dumps
        self._asked = 0  # number of searches for a line
        self._places: dict[str, int] | None = None  # where each line begins, after many searches
        self._changed: dict[str, Record | None] = {}  # differences from the text; None: removed

    @classmethod
    def of(cls, key: str, records: dict[str, Record]) -> Records:
        made = cls(key)
        made._changed.update(records)
        return made

    def copy(self) -> Records:
        after = Records(self.key, self._text, self._loads, self._dumps)
        after._changed = self._changed.copy()
        after._asked, after._places = self._asked, self._places  # both belong to the same text
        return after

    # --- one at a time -------------------------------------------------------------------------

    def get(self, path: str) -> Record | None:
        if path in self._changed:
            return self._changed[path]
        start = self._find(path)
        return self._in_line(start) if start != -1 else None

    def __getitem__(self, path: str) -> Record:
        record = self.get(path)
        if record is None:
            raise KeyError(path)
        return record

    def __setitem__(self, path: str, record: Record) -> None:
        self._changed[path] = record

    def __delitem__(self, path: str) -> None:
        self._changed[path] = None

    def __contains__(self, path: str) -> bool:
        return self.get(path) is not None

    def where(self, field: str, value: str) -> Iterator[tuple[str, Record]]:
        """Yield the records whose text field has this value."""
        if self._text:
            wanted = f'"{field}":{self._dumps(value)}'
            at = self._text.find(wanted)
            while at != -1:
                record = self._in_line(self._text.rfind("\n", 0, at))
                if record[self.key] not in self._changed and record.get(field) == value:
                    yield record[self.key], record
                at = self._text.find(wanted, at + 1)
        for path, changed in self._changed.items():
            if changed is not None and changed.get(field) == value:
                yield path, changed

    def column(self, field: str, most: int = 0, turn: int = 0, inside: str = "") -> Iterator[tuple[str, str]]:
        """Yield (name, value) of one text field of the records that have it, without parsing the
        others.

        With `most`, at most that many stored records of each group are read: those below the folder
        `inside`, and the others. `turn` selects which ones.
        """
        opening, marker = f'{{"{self.key}":"', f'"{field}":"'
        lines = self._text.split("\n") if self._text else []
        if most and len(lines) > most:
            below = f"{opening}{self._dumps(inside)[1:-1]}/"
            others = [line for line in lines if not line.startswith(below)]
            lines = [
                *_in_turn(others, most, turn),
                *(line for line in _in_turn(lines, most, turn) if line.startswith(below)),
            ]
        for line in lines:
            at = line.find(marker)
            if at == -1 or not line.startswith(opening):
                continue
            name = line[len(opening) : line.find('","', len(opening))]
            if "\\" in name:  # the name is escaped
                name = self._record(line)[self.key]
            if name not in self._changed:
                yield name, line[at + len(marker) : line.find('"', at + len(marker))]
        for name, changed in self._changed.items():
            if changed is not None and changed.get(field):
                yield name, changed[field]

    def _find(self, path: str) -> int:
        if not self._text:
            return -1
        is_plain = path.isascii() and path.isprintable() and '"' not in path and "\\" not in path
        name = f'"{path}"' if is_plain else self._dumps(path)
        self._asked += 1
        if self._asked > _SEARCHES:
            return self._index().get(name, -1)
        return self._text.find(f'\n{{"{self.key}":{name},')

    def _index(self) -> dict[str, int]:
        """Map each name, as it is written, to the start of its line: one pass instead of many
        searches."""
        if self._places is None:
            self._places, opening = {}, f'\n{{"{self.key}":'
            start = self._text.find(opening)
            while start != -1:
                begin = start + len(opening)
                name = self._text[begin : self._text.find('",', begin) + 1]
                if "\\" in name:  # the name is escaped: that quote may not be its end
                    name = self._dumps(self._in_line(start)[self.key])
                self._places.setdefault(name, start)
                start = self._text.find(opening, begin)
        return self._places

    def _in_line(self, start: int) -> Record:
        """Return the record in the line that begins at `start`."""
        return self._record(self._text[start + 1 : self._end(start)])

    def _end(self, start: int) -> int:
        end = self._text.find("\n", start + 1)
        return end if end != -1 else len(self._text)

    def _record(self, line: str) -> Record:
        try:
            record = self._loads(line)
        except ValueError as error:
            raise CorruptState(f"a broken line: {error}") from None
        if not isinstance(record, dict) or self.key not in record:
            raise CorruptState(f"a line without its {self.key}")
        return record

    # --- all of them ---------------------------------------------------------------------------

    def items(self) -> list[tuple[str, Record]]:
        found: dict[str, Record] = {}
        for line in filter(None, self._text.split("\n")):
            record = self._record(line)
            found[record[self.key]] = record
        for path, changed in self._changed.items():
            if changed is None:
                found.pop(path, None)
            else:
                found[path] = changed
        return list(found.items())

    def values(self) -> list[Record]:
        return [record for _, record in self.items()]

    def __iter__(self) -> Iterator[str]:
        return iter([path for path, _ in self.items()])

    def __bool__(self) -> bool:
        return bool(self._text or any(self._changed.values()))

    def __len__(self) -> int:
        return len(self.items())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Records) and self._text == other._text and self._changed == other._changed:
            return True
        theirs = dict(other.items()) if isinstance(other, (Records, dict)) else None
        return theirs is not None and self._bare(dict(self.items())) == self._bare(theirs)

    def _bare(self, records: dict[str, Record]) -> dict[str, Record]:
        """Return records without their name, which only records parsed from text contain."""
        return {name: {k: v for k, v in record.items() if k != self.key} for name, record in records.items()}

    __hash__ = None  # type: ignore[assignment]  # a ledger changes, so it cannot be a key

    def written(self, dumps: Callable[[Any], str]) -> str:
        """Return the text with the changes; other lines stay as they are."""
        removed = []
        lines = []
        for path, record in self._changed.items():
            start = self._find(path)
            if start != -1:
                removed.append((start, self._end(start)))
            if record is not None:
                lines.append("\n" + dumps({self.key: path, **record}))
        kept, at = [], 0
        for start, end in sorted(removed):
            kept.append(self._text[at:start])
            at = end
        return "".join([*kept, self._text[at:], *lines])
