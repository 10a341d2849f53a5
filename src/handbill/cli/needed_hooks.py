"""What a project's hooks must be registered for: how many lanes at the start, and whether every call may be held."""

from __future__ import annotations

import os
from dataclasses import dataclass

from handbill.handlers.load_gate import context_files
from handbill.handlers.standards import find, standard_names
from handbill.hosts import claude_code
from handbill.hosts.claude_code import registration
from handbill.library.handover import ResumeFile
from handbill.library.roles import REGULAR, Role, declared, targets
from handbill.library.skills import skill_file
from handbill.settings import Settings
from handbill.text.blocks import units
from handbill.text.document import Document
from handbill.text.tokens import PER_TOKEN
from handbill.work.detect_project import Layout
from handbill.world import World

_TITLE = 200  # what stands around a page
_MOST_LANES = 8


@dataclass
class Needs:
    lanes: int
    every: bool  # a gate may hold any call
    held: str  # for which tools a hook is started before they run


def needed(world: World, settings: Settings, *, every: bool = False, exact: bool = False) -> Needs:
    """`exact`: for the resume files as they are now, instead of any that may be written later."""
    roles = reachable_roles(world, settings)
    every = (
        every
        or bool(roles)
        or "require" in (settings.gate("load_gate")["mode"], settings.gate("load_gate")["subagents"])
    )
    total = sum(_size(find(name, world, settings), world) for name in standard_names(world, settings, subagent=False))
    if settings.gate("load_gate")["mode"] == "deliver":
        total += _within("load_gate", context_files(world, settings), world, settings)
    total += max(
        (_within("compaction", targets(role, world, settings)[0], world, settings) for role in roles), default=0
    )
    if settings.resume_folder(world.project) and os.path.isdir(settings.resume_folder(world.project)):
        names = sorted(os.listdir(settings.resume_folder(world.project)))[:_LOOKED_AT] if exact else []
        most = 0 if exact else int(settings.gate("resume")["budget"] * PER_TOKEN)
        total += max((_resumed(name, world, settings) for name in names), default=most)
    spare = 1 if total > 3 * claude_code.CAP else 0  # files in parts keep their order, so some room stays empty
    lanes = min(_MOST_LANES, max(2, -(-total // claude_code.CAP) + spare))
    return Needs(lanes, every, registration.held_tools(settings.write_gate, every=every))


_LOOKED_AT = 50  # projects


def _resumed(project: str, world: World, settings: Settings) -> int:
    """What a project's resume file hands over, within the budget."""
    layout = Layout(world.project, settings.gate("resume")["layout"])
    if not world.is_file(layout.resume_file(project)):
        return 0
    found = ResumeFile(project, layout, world, settings)
    return sum(_size(path, world) for path in found.bundle.given) + 2000  # and what the gate says


def reachable_roles(world: World, settings: Settings) -> list[Role]:
    """Roles that a session here can have: declared in the settings, or by a skill that is there.

    Workers that `engine worker launch` starts bring what they need along.
    """
    found = []
    for name, values in declared(world, settings).items():
        skills = any(skill_file(skill, world, shipped=False) for skill in values.get("skills", ()))
        if name != REGULAR and (skills or name in settings.own_roles):
            found.append(Role(name, "", values))
    return found


def yaml_folder() -> str:
    """Where a hook finds PyYAML: it runs without site-packages."""
    import yaml

    return os.path.dirname(os.path.dirname(os.path.abspath(yaml.__file__)))


def _size(path: str, world: World) -> int:
    document = world.load(path)
    return units(document.text) + _TITLE if isinstance(document, Document) else 0


def _within(gate: str, files: list[str], world: World, settings: Settings) -> int:
    size = sum(_size(path, world) for path in files)
    return min(size, int(settings.gate(gate)["budget"] * PER_TOKEN)) + 1000 if size else 0
