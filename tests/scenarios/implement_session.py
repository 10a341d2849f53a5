"""The skill that the nine categories of the source document speak of, in a project of its own."""

from __future__ import annotations

from typing import Any

from simulated_project import SimulatedProject

SESSION = "2026_02_16_AUTH"


def phase(
    label: str, name: str, *steps: str, commands: tuple[str, ...] = ("CMD_APPEND_LOG",), **more: Any
) -> dict[str, Any]:
    refs = {"steps": [f"§{step}" for step in steps], "commands": [f"§{name}" for name in commands]}
    return {"label": label, "name": name, **refs, **more}


PHASES = (
    phase("0", "Setup", "CMD_REPORT_INTENT", "CMD_SELECT_MODE", "CMD_INGEST_CONTEXT"),
    phase("1", "Interrogation", "CMD_REPORT_INTENT", "CMD_INTERROGATE"),
    phase("2", "Planning", "CMD_REPORT_INTENT", "CMD_GENERATE_PLAN"),
    phase("3.A", "Build Loop", "CMD_REPORT_INTENT", "CMD_BUILD"),
    phase("3.B", "Delegation", "CMD_REPORT_INTENT", "CMD_DELEGATE"),
    phase("4", "Synthesis", "CMD_GENERATE_DEBRIEF_file"),
)


def with_implement(box: SimulatedProject) -> SimulatedProject:
    box.page("CMD_GENERATE_DEBRIEF")
    box.skill(
        "implement", *PHASES, text="Uses §CMD_INTERROGATE, §FMT_LIST and `§FMT_OTHER`.", directives=["TESTING.md", "PITFALLS.md"],
        logTemplate="assets/TEMPLATE_LOG.md", debriefTemplate="assets/TEMPLATE_DEBRIEF.md", nextSkills=["test"],
    )  # fmt: skip
    box.page("FMT_LIST")
    box.page("FMT_OTHER")
    for name in ("LOG", "DEBRIEF"):
        box.write(f".claude/skills/implement/assets/TEMPLATE_{name}.md", f"# {name}\n")
    return box


def activate(box: SimulatedProject, skill: str = "implement", name: str = SESSION) -> None:
    box.shell(f"engine session activate sessions/{name} {skill}")


def move(box: SimulatedProject, label: str, name: str = SESSION, agent: str = "", approved: str = "") -> None:
    extra = f" --user-approved '{approved}'" if approved else ""
    box.shell(f"engine session phase sessions/{name} '{label}'{extra}", agent)
