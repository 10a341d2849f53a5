"""Windows to and from plain JSON values; numbered steps bring old files up to date.

Field names follow the source documents (`preloadedFiles`, `pendingPreloads`, `touchedDirs`), so
that their readers find their way.
"""

from __future__ import annotations

from handbill.core.window import SCHEMA, Window

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NAMES = {
    "session": "sessionId", "agent": "agentId", "host": "host", "created": "createdAt", "lifecycle": "lifecycle",
    "epoch": "epoch", "started": "started", "client": "pid", "transcript": "transcriptPath", "serial": "claimCount",
    "files": "preloadedFiles", "pending": "pendingPreloads", "claims": "openClaims", "touched": "touchedDirs",
    "flags": "flags", "carried": "carriedFiles", "carried_from": "carriedFrom", "suspect": "suspectFrom",
}  # fmt: skip


def _0_arrays_to_maps(old: dict[str, Any]) -> dict[str, Any]:
    """The source documents' seed file: plain arrays of paths, no version."""
    new = dict(old)
    record = {"inode": "", "hash": "", "chars": 0, "reason": "", "at": 0.0, "via": "", "batch": "", "parts": "k"}
    for name, value in (("preloadedFiles", record), ("pendingPreloads", "")):
        if isinstance(new.get(name), list):
            new[name] = {path: value for path in new[name] if isinstance(path, str)}
    new["started"] = True
    return new


STEPS = [_0_arrays_to_maps]


class TooNew(ValueError):
    """Written by a newer version of Handbill: neither read nor touched."""


def to_plain(window: Window) -> dict[str, Any]:
    plain: dict[str, Any] = {"v": SCHEMA}
    for slot, name in _NAMES.items():
        plain[name] = getattr(window, slot)
    return plain


def from_plain(plain: Any) -> Window:
    """Raises ValueError when this is not a window."""
    if not isinstance(plain, dict):
        raise ValueError("not an object")
    version = plain.get("v", 0)
    if not isinstance(version, int) or isinstance(version, bool) or version < 0:
        raise ValueError(f"no known schema version: {version!r}")
    if version > SCHEMA:
        raise TooNew(f"schema version {version}, this program knows {SCHEMA}")
    for step in STEPS[version:]:
        plain = step(plain)
    window = Window("", "")
    for slot, name in _NAMES.items():
        value = plain.get(name)
        if value is None:
            continue
        usual = getattr(window, slot)
        if usual.__class__ is float and value.__class__ is int:
            value = float(value)
        if value.__class__ is not usual.__class__:
            raise ValueError(f"{name} is {type(value).__name__}, not {type(usual).__name__}")
        setattr(window, slot, value)
    for record in window.files.values():
        if record.__class__ is not dict or "parts" not in record or "via" not in record:
            raise ValueError("a delivered file without its state")
    return window
