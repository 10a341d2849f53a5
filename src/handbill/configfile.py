"""The TOML settings files: read, checked field by field, merged and kept for the hooks."""

from __future__ import annotations

import os
import tomllib
from typing import Any

from handbill.config import PROJECT_FILE
from handbill.hotjson import dumps
from handbill.store.disk import make_private_directory

# section -> field -> what it must be; the reference for people is docs/configuration.md
FIELDS: dict[str, dict[str, type | tuple[str, ...]]] = {
    "standards": {"files": list, "subagents": list},
    "directives": {"always": list, "exclude": list, "bare_agents_md": bool},
    "files": {"allow": list},
    "write_gate": {"mode": ("off", "new", "edits")},
}


def checked(path: str) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """The valid settings of one file, and one line for each that is not."""
    try:
        with open(path, "rb") as source:
            raw = tomllib.load(source)
    except (OSError, ValueError) as error:
        return {}, [f"{path}: {error}"]
    values: dict[str, dict[str, Any]] = {}
    problems: list[str] = []
    for section, fields in raw.items():
        known = FIELDS.get(section)
        if known is None or not isinstance(fields, dict):
            problems.append(f"{path}: [{section}] is unknown; there are {', '.join(f'[{s}]' for s in FIELDS)}")
            continue
        for field, value in fields.items():
            wanted = known.get(field)
            if wanted is None:
                problems.append(f"{path}: {section}.{field} is unknown; [{section}] has {', '.join(known)}")
            elif not _fits(value, wanted):
                problems.append(f"{path}: {section}.{field} must be {_words(wanted)}")
            else:
                values.setdefault(section, {})[field] = value
    return values, problems


def _fits(value: Any, wanted: type | tuple[str, ...]) -> bool:
    if isinstance(wanted, tuple):
        return value in wanted
    if isinstance(value, list):
        return wanted is list and all(isinstance(one, str) for one in value)
    return isinstance(value, wanted)


def _words(wanted: type | tuple[str, ...]) -> str:
    if isinstance(wanted, tuple):
        return " or ".join(f'"{word}"' for word in wanted)
    return "a list of strings" if wanted is list else "true or false"


def compiled_values(stamps: list[list[Any]], target: str) -> dict[str, Any]:
    merged: dict[str, Any] = {"problems": []}
    for path, _, _ in stamps:
        values, problems = checked(path)
        if path.endswith(PROJECT_FILE) and values.pop("files", None):
            # a project that may name places could have anything on this machine read to a model
            problems.append(f"{path}: files.allow counts only in your own settings (~/.config/handbill/config.toml)")
        merged["problems"] += problems
        for section, fields in values.items():
            merged.setdefault(section, {}).update(fields)
    try:
        make_private_directory(os.path.dirname(target))
        temporary = f"{target}.{os.getpid()}.tmp"
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(dumps({"sources": stamps, "values": merged}))
        os.replace(temporary, target)
    except OSError as error:
        merged["problems"].append(f"{target}: not kept ({error}); every hook parses the settings anew")
    return merged
