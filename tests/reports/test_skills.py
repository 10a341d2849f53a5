"""The skills that an agent can use here, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable

from handbill.reports.skills import SkillReport, described, names
from simulated_project import SimulatedProject

Make = Callable[..., SimulatedProject]


def of(box: SimulatedProject, name: str) -> SkillReport:
    project = box.opened()
    return described(name, project, project.world())


def test_skills_of_the_project_and_shipped_ones(make_project: Make) -> None:
    box = make_project()
    box.skill("mine")
    (box.project / ".claude/skills/empty").mkdir()
    found = names(box.opened())
    assert {"mine", "implement"} <= set(found) and "empty" not in found and found == sorted(found)


def test_the_phases_of_a_skill(make_project: Make) -> None:
    box = make_project()
    box.page("CMD_P", '## PROOF FOR §CMD_P\n```json\n{"required": ["q"]}\n```\n')
    box.skill(
        "mine",
        {"label": "0", "name": "Setup", "steps": ["§CMD_P", "§CMD_GONE"], "proof": ["p"]},
        nextSkills=["implement"],
    )
    (box.project / ".directives/commands/CMD_GONE.md").unlink()
    row = of(box, "mine")
    (phase,) = row["phases"]
    assert (phase["label"], phase["name"], phase["proof"], phase["without"]) == ("0", "Setup", ["p", "q"], ["CMD_GONE"])
    assert phase["files"] == [str(box.project / ".directives/commands/CMD_P.md")]
    assert row["nextSkills"] == ["implement"] and row["problems"] == row["hints"] == []


def test_what_is_wrong_with_a_skill(make_project: Make) -> None:
    box = make_project()
    box.page("CMD_P", "## PROOF FOR §CMD_P\n```json\n{,}\n```\n")
    box.skill(
        "odd",
        {"label": "0", "steps": ["§CMD_P"], "proofs": []},
        text="by §FMT_NOPE",
        nextSkills=["nobody"],
        logTemplate="none.md",
    )
    row = of(box, "odd")
    assert "CMD_P.md, line 3" in row["problems"][0] and row["problems"][1].endswith("none.md, which does not exist")
    assert len(row["problems"]) == 2 and len(row["hints"]) == 3
    for words, hint in zip(("proofs is not a field", "nextSkills names nobody", "uses §FMT_NOPE"), row["hints"]):
        assert words in hint


def test_a_name_that_is_none(make_project: Make) -> None:
    row = of(make_project(), "../x")
    assert (row["path"], row["problems"], row["phases"]) == ("", ["'../x' is not a valid skill name"], [])
