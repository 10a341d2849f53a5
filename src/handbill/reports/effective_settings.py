"""The settings that apply in a project, and the file that sets each value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from handbill import gates
from handbill.handlers.standards import standard_names
from handbill.library.roles import declared
from handbill.settings import PROJECT_FILE, Settings, sources
from handbill.settings.toml_files import sections, used

if TYPE_CHECKING:
    from handbill.world import World

SHIPPED, USER, PROJECT = "shipped", "user", "project"


class Value(NamedTuple):
    key: str  # `write_gate.mode`, `roles.NAME.targets`
    value: Any
    origin: str
    path: str  # the file that sets it; empty for a shipped value


class Effective(NamedTuple):
    values: list[Value]
    files: dict[str, str]  # origin -> an existing settings file
    problems: list[str]  # invalid values, which are ignored, by file


def effective(world: World) -> Effective:
    found, files, problems = _shipped(world), {}, []
    for path, _, _ in sources(world.project, world.environ):
        origin = PROJECT if path.endswith(PROJECT_FILE) else USER
        files[origin] = path
        given, wrong = used(path)
        problems += wrong
        for key, value in _flat(given).items():
            found[key] = Value(key, value, origin, path)
    order = [f"{section}.{field}" for section, fields in sections().items() for field in fields]
    roles = [key for key in found if key not in order]
    return Effective([found[key] for key in (*order, *roles)], files, problems)


def _flat(values: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        key: value
        for section, fields in values.items()
        for field, inner in fields.items()
        for key, value in (
            {f"roles.{field}.{name}": one for name, one in inner.items()}
            if section == "roles"
            else {f"{section}.{field}": inner}
        ).items()
    }


def _shipped(world: World) -> dict[str, Value]:
    """Return the values that apply without any settings file."""
    plain = Settings(None, world.home)
    values: dict[str, dict[str, Any]] = {
        "standards": {
            "files": standard_names(world, plain, subagent=False),
            "subagents": standard_names(world, plain, subagent=True),
        },
        "directives": {"always": [], "exclude": [], "bare_agents_md": plain.bare_agents_md},
        "files": {"allow": list(plain.allowed)},
        **{gate.name: gate.defaults for gate in gates.ALL},
        "roles": declared(world, plain),
    }  # fmt: skip
    listed = {key: list(value) if isinstance(value, tuple) else value for key, value in _flat(values).items()}
    return {key: Value(key, value, SHIPPED, "") for key, value in listed.items()}
