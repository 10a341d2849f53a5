"""How a project's hooks must be registered: lanes at the start, and calls that may be held."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module

from handbill import gates
from handbill.event import DELEGATES
from handbill.handlers.standards import find, standard_names
from handbill.hosts import claude_code
from handbill.hosts.claude_code import registration
from handbill.library.bundle import size_of
from handbill.library.needs import EVERY, Needs
from handbill.settings import Settings
from handbill.world import World

_MOST_LANES = 8


@dataclass
class Hooks:
    lanes: int
    every: bool  # whether a gate may hold any call
    held: str  # the tools that a hook runs before


def needed(world: World, settings: Settings, *, every: bool = False, exact: bool = False) -> Hooks:
    """Return the hooks that a project needs.

    `exact`: count the resume files as they are now, and not any that may be written later.
    """
    needs = [_needs_of(gate.name, world, settings, exact) for gate in gates.ALL]
    holds = {DELEGATES, *(kind for one in needs for kind in one.holds), *((EVERY,) if every else ())}
    total = sum(size_of(find(name, world, settings), world) for name in standard_names(world, settings, subagent=False))
    total += sum(one.characters for one in needs)
    # Files in parts keep their order, so some room stays empty.
    spare = 1 if total > 3 * claude_code.CAP else 0
    lanes = min(_MOST_LANES, max(2, -(-total // claude_code.CAP) + spare))
    return Hooks(lanes, EVERY in holds, registration.held_tools(holds))


def _needs_of(gate: str, world: World, settings: Settings, exact: bool) -> Needs:
    found: Needs = import_module(f"handbill.handlers.{gate}").needs(world, settings, exact=exact)
    return found


def yaml_folder() -> str:
    """Return the folder with PyYAML, because a hook runs without site-packages."""
    import yaml

    return os.path.dirname(os.path.dirname(os.path.abspath(yaml.__file__)))
