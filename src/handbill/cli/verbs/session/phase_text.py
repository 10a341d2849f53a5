"""A phase as its agent reads it: steps, commands, the proof for leaving it, and its gate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from handbill.library.skills import proof_of as asked
from handbill.library.skills import skill_file

if TYPE_CHECKING:
    from handbill.cli.caller import Caller
    from handbill.work.phases import Phase
    from handbill.work.proof import Proof


def proof_of(phase: Phase, skill: str, desk: Caller) -> Proof:
    world, settings = desk.world, desk.project.settings
    path = skill_file(skill, world) or f"{world.project}/SKILL.md"
    return asked(phase, path, world, settings)


def lines_of(phase: Phase, proof: Proof) -> list[str]:
    lines = []
    if phase.invariants:
        lines += ["Invariants:", *(f"  - {name}" for name in phase.invariants)]
    if phase.steps:
        lines += ["Steps:", *(f"  {phase.label}.{number}: {step}" for number, step in enumerate(phase.steps, 1))]
    if phase.commands:
        lines += ["Commands:", *(f"  - {name}" for name in phase.commands)]
    if proof.fields:
        lines += ["Proof required to leave this phase:", *map(_field, proof.fields.values())]
    gate = phase.gate if isinstance(phase.gate, str) else str(phase.gate).lower()
    return [*lines, f"Gate: {gate}"]


def _field(field: Any) -> str:
    about = f": {field.about}" if field.about else ""
    return f"  - {field.name}{about}" + ("" if field.required else " (optional)")


def as_data(phase: Phase, proof: Proof) -> dict[str, Any]:
    fields = [{"name": one.name, "about": one.about, "required": one.required} for one in proof.fields.values()]
    return {**phase.as_dict(), "proofFields": fields}
