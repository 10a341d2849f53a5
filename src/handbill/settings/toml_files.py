"""The TOML settings files: read, check each field, merge, and save for the hooks."""

from __future__ import annotations

import os
import tomllib
from typing import Any

from handbill import gates
from handbill.fast_json import dumps
from handbill.settings import PROJECT_FILE
from handbill.store.disk import make_private_directory, read_regular

Wanted = type | tuple[str, ...]
# section -> field -> required type or values; docs/configuration.md is the reference
FIELDS: dict[str, dict[str, Wanted]] = {
    "standards": {"files": list, "subagents": list},
    "directives": {"always": list, "exclude": list, "bare_agents_md": bool},
    "files": {"allow": list},
}


def sections() -> dict[str, dict[str, Wanted]]:
    """Return section -> field -> required type or values: the general ones, and each gate's."""
    return {
        **FIELDS,
        **{gate.name: {field: wanted for field, (_, wanted) in gate.settings.items()} for gate in gates.ALL},
    }


# [roles.NAME]: how a session's role is recognized, and what it needs after a compaction
ROLE: dict[str, Wanted] = {
    "skills": list, "env": list, "home": str, "marker": str, "targets": list, "read": list, "dispatch": bool,
}  # fmt: skip
_NAMED = "roles"
MOST_BYTES = 1 << 16
_MOST_DOTS = 100  # the most dots in a line
_MOST_ENTRIES = 5000  # the most entries of a list
_ROLE_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
_LONGEST_ROLE = 40
_LONGEST_NAME = 80  # the most characters of a name that a message repeats
_MOST_PROBLEMS = 40
_LARGEST = 10**9  # the largest number; a hexadecimal one may have thousands of digits


def checked(path: str, *, follow: bool = True) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Return the valid settings of one file, and one line for each invalid one.

    `follow`: the file may be a link.
    """
    try:
        text = read_regular(path, MOST_BYTES, follow=follow).decode("utf-8")
        if any(line.count(".") > _MOST_DOTS for line in text.split("\n")):
            # Keys with many parts would take seconds to parse.
            raise ValueError(f"a line has more than {_MOST_DOTS} dots; put each entry of a list on its own line")
        raw = tomllib.loads(text)
    except RecursionError:
        return {}, [f"{path}: it is nested too deep"]
    except (OSError, ValueError) as error:
        return {}, [f"{path}: {error}"]
    values: dict[str, dict[str, Any]] = {}
    problems: list[str] = []
    for section, fields in raw.items():
        if section == _NAMED and isinstance(fields, dict):
            for name, role in fields.items():
                if name == "regular":
                    problems.append(
                        f"{path}: roles.regular: 'regular' means a session without a role; use another name"
                    )
                    continue
                # messages repeat the name
                if not _ROLE_NAME.issuperset(name) or not 0 < len(name) <= _LONGEST_ROLE:
                    allowed = f"use 1 to {_LONGEST_ROLE} letters, digits, '-' or '_' as the name of a role"
                    problems.append(f"{path}: [{section}.{name[:_LONGEST_NAME]}]: {allowed}")
                    continue
                kept = _fields(path, f"{section}.{name}", role, ROLE, problems)
                values.setdefault(section, {})[name] = kept
            continue
        section = next((gate.name for gate in gates.ALL if section in gate.aliases), section)
        known = sections().get(section)
        if known is None or not isinstance(fields, dict):
            names = ", ".join(f"[{name}]" for name in (*sections(), f"{_NAMED}.NAME"))
            problems.append(f"{path}: [{section[:_LONGEST_NAME]}] is unknown; the known sections are {names}")
            continue
        kept = _fields(path, section, fields, known, problems)
        if kept:
            values[section] = kept
    return values, problems


def _fields(path: str, section: str, fields: Any, known: dict[str, Wanted], problems: list[str]) -> dict[str, Any]:
    """Return the valid fields of one section."""
    section = section[:_LONGEST_NAME]
    if not isinstance(fields, dict):
        problems.append(f"{path}: {section} must be a section, written as [{section}]")
        return {}
    kept: dict[str, Any] = {}
    for field, value in fields.items():
        wanted = known.get(field)
        if wanted is None:
            problems.append(f"{path}: {section}.{field[:_LONGEST_NAME]} is unknown; [{section}] has {', '.join(known)}")
        elif not _fits(value, wanted):
            problems.append(f"{path}: {section}.{field} must be {_words(wanted)}")
        elif (section, field) == ("resume", "layout") and not _is_layout(value):
            problems.append(
                f'{path}: {section}.{field} must be a path inside the project, such as "work/{{project}}/_resume.md"'
            )
        else:
            kept[field] = value
    return kept


def _is_layout(value: str) -> bool:
    before, found, after = value.partition("{project}")
    # Some file systems ignore case.
    parts = [*before.lower().split("/"), *after.lower().split("/")]
    return (
        bool(found)
        and after.startswith("/")
        and after.strip("/") != ""
        and not value.startswith("/")
        and not {"..", ".git", ".claude"}.intersection(parts)
    )


def _fits(value: Any, wanted: Wanted) -> bool:
    if isinstance(wanted, tuple):
        return value in wanted
    if wanted is int:
        return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _LARGEST
    if isinstance(value, list):
        return wanted is list and len(value) <= _MOST_ENTRIES and all(isinstance(one, str) for one in value)
    return isinstance(value, wanted)


_WORDS = {
    list: f"a list of at most {_MOST_ENTRIES:,} strings",
    bool: "true or false",
    str: "a string",
    int: f"a whole number from 1 to {_LARGEST:,}",
}


def _words(wanted: Wanted) -> str:
    return " or ".join(f'"{word}"' for word in wanted) if isinstance(wanted, tuple) else _WORDS[wanted]


# If a project could name files, it could show a model any file on this machine. If it could name
# variables, it could find out their values. If it could answer, it could speak for the user.
_OWN_SECTIONS = ("files",)
_OWN_ROLE_FIELDS = ("env", "home")
_PATHS = {
    "standards": ("files", "subagents"), "directives": ("always", "exclude"), "roles": ("marker", "targets", "read"),
}  # fmt: skip


def _limited(path: str, values: dict[str, dict[str, Any]]) -> list[str]:
    """Remove from a project's settings the values that only the user may set; one line for each."""
    found = []
    for section in _OWN_SECTIONS:
        for field in values.pop(section, {}):
            found.append(f"{path}: {section}.{field} counts only in your own settings (~/.config/handbill/config.toml)")
    tables = [(f"roles.{name}", role, _PATHS["roles"]) for name, role in values.get("roles", {}).items()]
    for name, role, _ in tables:
        for field in [field for field in _OWN_ROLE_FIELDS if role.pop(field, None) is not None]:
            found.append(f"{path}: {name}.{field} counts only in your own settings (~/.config/handbill/config.toml)")
    tables += [(section, values.get(section, {}), _PATHS[section]) for section in ("standards", "directives")]
    tables += [(gate.name, values.get(gate.name, {}), gate.paths) for gate in gates.ALL]
    for name, table, fields in tables:
        for field in [field for field in fields if not _stays_inside(table.get(field, ()))]:
            del table[field]
            found.append(f"{path}: {name}.{field} leads out of the project, so it is not used")
    for gate in gates.ALL:
        for field, most in gate.limits.items():
            if values.get(gate.name, {}).get(field, 0) > most:
                values[gate.name][field] = most
                found.append(f"{path}: {gate.name}.{field} is limited to {most} in a project's settings")
    return found


def _stays_inside(value: str | list[str]) -> bool:
    paths = [value] if isinstance(value, str) else value
    return not any(path.startswith(("/", "~")) or ".." in path.split("/") for path in paths)


def used(path: str) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Return the effective settings of one file, and one line for each ignored value."""
    of_project = path.endswith(PROJECT_FILE)
    # A link in the project may lead to a file of the user.
    values, problems = checked(path, follow=not of_project)
    if of_project:
        problems += _limited(path, values)
    more = len(problems) - _MOST_PROBLEMS
    rest = [f"{path}: and {more} more {'problem' if more == 1 else 'problems'}"] if more > 0 else []
    return values, [*problems[:_MOST_PROBLEMS], *rest]


def compiled_values(stamps: list[list[Any]], target: str) -> dict[str, Any]:
    merged: dict[str, Any] = {"problems": []}
    for path, _, _ in stamps:
        values, problems = used(path)
        merged["problems"] += problems
        for section, fields in values.items():
            if section == _NAMED:
                for name, role in fields.items():
                    merged.setdefault(section, {}).setdefault(name, {}).update(role)
            else:
                merged.setdefault(section, {}).update(fields)
    try:
        make_private_directory(os.path.dirname(target))
        temporary = f"{target}.{os.getpid()}.tmp"
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(dumps({"sources": stamps, "values": merged}))
        os.replace(temporary, target)
    except (OSError, ValueError) as error:
        merged["problems"].append(f"{target}: could not be saved ({error}), so every hook parses the settings again")
    return merged
