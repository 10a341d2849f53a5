"""Windows to and from text: a line of fields, a line for each delivered file, a line for each touched directory.

Field names follow the source documents (`pendingPreloads`, `lifecycle`, …), so that their readers
find their way.
"""

from __future__ import annotations

from handbill.core.records import Records
from handbill.core.window import SCHEMA, Window

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_NAMES = {
    "session": "sessionId", "agent": "agentId", "host": "host", "created": "createdAt", "lifecycle": "lifecycle",
    "epoch": "epoch", "started": "started", "client": "pid", "transcript": "transcriptPath", "serial": "claimCount",
    "pending": "pendingPreloads", "claims": "openClaims",
    "flags": "flags", "carried": "carriedFiles", "carried_from": "carriedFrom", "suspect": "suspectFrom",
    "work": "work",
}  # fmt: skip


class TooNew(ValueError):
    """Written by a newer version of Handbill: neither read nor touched."""


def to_text(window: Window, dumps: Callable[[Any], str]) -> str:
    plain: dict[str, Any] = {"v": SCHEMA}
    for slot, name in _NAMES.items():
        plain[name] = getattr(window, slot)
    return f"{dumps(plain)}{window.files.written(dumps)}\n{window.touched.written(dumps)}\n"


def from_text(text: str, loads: Callable[[str], Any], dumps: Callable[[Any], str]) -> Window:
    """Raises ValueError when this is not a window. The files' lines are read when they are asked for."""
    head, _, rest = text.partition("\n")
    plain = loads(head)
    if not isinstance(plain, dict):
        raise ValueError("it is not a JSON object")
    version = plain.get("v", 0)
    if not isinstance(version, int) or isinstance(version, bool) or version < SCHEMA:
        raise ValueError(f"its schema version is unknown: {version!r}")
    if version > SCHEMA:
        raise TooNew(f"it has schema version {version}, but this program knows only {SCHEMA}")
    if not text.endswith("\n"):
        raise ValueError("it is cut off")
    window = Window("", "")
    for slot, name in _NAMES.items():
        value = plain.get(name)
        if value is not None:
            setattr(window, slot, _checked(name, value, getattr(window, slot)))
    files, gap, touched = rest.partition("\n\n") if not rest.startswith("\n") else ("", "\n", rest[1:])
    if not gap:
        raise ValueError("it is cut off")
    window.files = _records("path", files, loads, dumps)
    window.touched = _records("dir", touched.removesuffix("\n"), loads, dumps)
    return window


def _records(key: str, lines: str, loads: Callable[[str], Any], dumps: Callable[[Any], str]) -> Records:
    """Only the ends are looked at: files are replaced whole, so a broken one is cut off or something else."""
    if not lines:
        return Records(key)
    if not lines.startswith(f'{{"{key}":"') or not lines.endswith("}"):
        raise ValueError(f"a line without its {key}")
    return Records(key, "\n" + lines, loads, dumps)


def _checked(name: str, value: Any, usual: Any) -> Any:
    if usual.__class__ is float and value.__class__ is int:
        return float(value)
    if value.__class__ is not usual.__class__:
        raise ValueError(f"{name} is {type(value).__name__}, not {type(usual).__name__}")
    return value
