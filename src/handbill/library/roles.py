"""Find a session's role (handler, worker, regular, or a declared one) and the files it needs."""

from __future__ import annotations

from handbill.fast_json import loads
from handbill.paths import PACKAGE, join, under

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from handbill.event import Inbox
    from handbill.ledger.window import Window
    from handbill.settings import Settings
    from handbill.world import World

    Roles = dict[str, dict[str, Any]]

_SHIPPED_ROLES = f"{PACKAGE}/data/roles.json"
REGULAR = "regular"
ROLE_VARIABLE, DISPATCH_VARIABLE = "HANDBILL_ROLE", "HANDBILL_DISPATCH"
_WORKERS_HOME = "*/claude-worker-config*"
_DISPATCH_NOTE = ".claude/worker-dispatch-path"  # below such a home; the launcher wrote it


class Role:
    """A role. `how`: the way it was found. `dispatch`: the file with its contract."""

    __slots__ = ("dispatch", "how", "name", "allowed_paths", "problem", "values")

    def __init__(self, name: str, how: str, values: dict[str, Any], dispatch: str = "", problem: str = "") -> None:
        self.name = name
        self.how = how
        self.values = values
        self.dispatch = dispatch
        self.problem = problem
        # outside the project, named by the person who launched this session
        self.allowed_paths: list[str] = []

    @property
    def is_regular(self) -> bool:
        return self.name == REGULAR


def declared(world: World, settings: Settings) -> Roles:
    shipped: Roles = loads((world.tail(_SHIPPED_ROLES, 0) or b"{}").decode())
    return {**shipped, **{name: {**shipped.get(name, {}), **own} for name, own in settings.own_roles.items()}}


def role_of(inbox: Inbox, window: Window, world: World, settings: Settings) -> Role:
    roles = declared(world, settings)
    note = inbox.notes.get("role") or {}
    name, how = _told(note, world) or _found(roles, window, world) or _before(window)
    if name not in roles:
        problem = f"the role {name!r} ({how}) is not declared; the declared roles are {', '.join(roles)}"
        return Role(REGULAR, how, {}, problem=problem)
    role = Role(name, how, roles[name], problem=str(note.get("problem", "")))
    told = note.get("dispatch") or (_dispatch(world) if role.values.get("dispatch") else "")
    if isinstance(told, str) and told and "\0" not in told:
        role.dispatch = join(world.home, told[2:]) if told.startswith("~/") else join(world.project, told)
        # A link inside the project was chosen by the project, not by the person.
        named = bool(note.get("dispatch")) and not under(role.dispatch, world.project)
        # A variable may be set by the project's own settings.
        role.allowed_paths = [role.dispatch] if named else []
    elif role.values.get("dispatch"):
        role.problem = (
            role.problem or f"the dispatch file of this {name} is unknown: run engine role set {name} --dispatch FILE"
        )
    return role


def _told(note: dict[str, Any], world: World) -> tuple[str, str] | None:
    if isinstance(note.get("role"), str):
        return note["role"], str(note.get("how") or "set for this session")
    told = world.environ.get(ROLE_VARIABLE, "")
    return (told, f"${ROLE_VARIABLE}") if told else None


def _found(roles: Roles, window: Window, world: World) -> tuple[str, str] | None:
    for name, values in roles.items():
        for line in values.get("env", ()):
            variable, _, pattern = line.partition("=")
            value = world.environ.get(variable)
            if value is not None and _is_like(value, pattern or "*"):
                return name, f"${variable}"
        if values.get("home") and _is_like(world.home, values["home"]):
            return name, "home folder"
        for skill in values.get("skills", ()):
            if _invoked(skill, window):
                return name, f"skill {skill}"
        marker = values.get("marker", "")
        if marker and world.is_file(join(world.project, marker)):
            return name, f"marker {marker}"
    return None


def _is_like(value: str, pattern: str) -> bool:
    """Match a value against a pattern. The usual `*text*` needs no pattern module."""
    word = pattern.strip("*")
    if "*" not in word and "?" not in word and pattern == f"*{word}*":
        return word in value
    from handbill.text.globs import matches

    return matches(value, pattern)


def _invoked(skill: str, window: Window) -> bool:
    if window.work.get("skill") == skill:
        return True
    reason = f"skill {skill}"
    records = [*window.files.values(), *window.from_last_epoch.values()]
    return any(record["reason"] == reason or record["reason"].startswith(f"{reason},") for record in records)


def _before(window: Window) -> tuple[str, str]:
    """Keep a role that was found by its skill: the compaction may have removed that skill."""
    found, how = window.flags.get("role"), str(window.flags.get("role_by", ""))
    return (found, how) if isinstance(found, str) and how.startswith("skill ") else (REGULAR, "no other role fits")


def _dispatch(world: World) -> str:
    """Return the dispatch file that the environment or the launcher's note names, or "".

    The note is in a worker's own home folder. Neither source permits a file outside the places that
    files are delivered from.
    """
    told = world.environ.get(DISPATCH_VARIABLE, "")
    if told or not _is_like(world.home, _WORKERS_HOME):
        return told
    data = world.tail(f"{world.home}/{_DISPATCH_NOTE}", 0, 4096) or b""
    return data.decode("utf-8", "replace").strip()


def targets(role: Role, world: World, settings: Settings) -> tuple[list[str], list[str]]:
    """Return (files that the role needs, files that the agent must read itself).

    Finished dispatches are left out.
    """
    found = [role.dispatch] if role.dispatch else []
    meant = _meant(role, "targets", world, settings)
    found += [path for path in meant if not _is_finished(path, world)]
    own = _meant(role, "read", world, settings)
    return list(dict.fromkeys([*found, *own])), own


def _meant(role: Role, field: str, world: World, settings: Settings) -> list[str]:
    patterns = role.values.get(field, ())
    if not patterns:
        return []
    from handbill.text.globs import expand

    fixed = [pattern for pattern in patterns if pattern.startswith("/") and world.is_file(pattern)]
    found = expand(
        (pattern for pattern in patterns if not pattern.startswith("/")),
        world.project, world.names, world.is_file, settings.excluded,
    )  # fmt: skip
    if not found.complete:
        role.problem = role.problem or f"the patterns in roles.{role.name}.{field} lead to too many folders to look at"
    # Files outside the project that a link leads to are not even named.
    project = world.real(world.project)
    return [*fixed, *(path for path in found.paths if under(world.real(path), project))]


def _is_finished(path: str, world: World) -> bool:
    head = (world.tail(path, 0, 4096) or b"").decode("utf-8", "replace")
    if "tatus" not in head:
        return False
    from handbill.work.dispatch import FINISHED, Dispatch

    return Dispatch(head).status in FINISHED


def reachable_roles(world: World, settings: Settings) -> list[Role]:
    """Return the roles that a session here can have: from settings, or by an available skill."""
    from handbill.library.skills import skill_file

    found = []
    for name, values in declared(world, settings).items():
        skills = any(skill_file(skill, world, shipped=False) for skill in values.get("skills", ()))
        if name != REGULAR and (skills or name in settings.own_roles):
            found.append(Role(name, "", values))
    return found
