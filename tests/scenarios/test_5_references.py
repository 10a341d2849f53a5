"""Category 5: pages that pages refer to."""

from __future__ import annotations

from collections.abc import Callable

from implement_session import phase

from simulated_project import SimulatedProject


def delivered(box: SimulatedProject) -> list[str]:
    return [line["file"].rsplit("/", 1)[1] for line in box.deliveries.of("claim-deliver")]


def started(box: SimulatedProject, *steps: str, text: str = "") -> SimulatedProject:
    box.skill("x", phase("0", "Setup", *steps, commands=()), text=text)
    box.sim.start()
    box.sim.skill("x")
    return box


def test_one_step_with_each_event(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.page("CMD_INTERROGATE", "Then §CMD_ASK_ROUND.")
    box.page("CMD_ASK_ROUND", "Then §CMD_LOG_INTERACTION.")
    box.page("CMD_LOG_INTERACTION", "Write it down.")
    started(box, "CMD_INTERROGATE")
    assert delivered(box) == ["CMD_INTERROGATE.md"]
    box.idle()
    assert delivered(box)[-1] == "CMD_ASK_ROUND.md"
    box.idle()
    assert delivered(box)[-1] == "CMD_LOG_INTERACTION.md"
    assert [line["source"] for line in box.deliveries.of("resolve-ref")] == [
        "named by CMD_INTERROGATE.md", "named by CMD_ASK_ROUND.md",
    ]  # fmt: skip
    box.deliveries.assert_no_duplicates()


def test_spoken_of_is_not_used(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    text = "Do §CMD_REAL. See `§CMD_MENTIONED`.\n\n   ~~~\n   §CMD_FENCED\n   ~~~\n\n```\n§CMD_CODE\n```\n"
    for name in ("REAL", "MENTIONED", "FENCED", "CODE"):
        box.page(f"CMD_{name}")
    box.page("CMD_A", text)
    started(box, "CMD_A")
    box.idle()
    assert delivered(box) == ["CMD_A.md", "CMD_REAL.md"]


def test_skill_md_brings_formats_and_invariants_only(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    for name in ("CMD_LATER", "FMT_LIST", "INV_RULE"):
        box.page(name)
    started(box, "CMD_NOW", text="Phases use §CMD_LATER; lists by §FMT_LIST; §INV_RULE holds.")
    box.idle(3)
    assert sorted(delivered(box)) == ["CMD_NOW.md", "FMT_LIST.md", "INV_RULE.md"]


def test_cycles_and_self_references_end_at_once(make_project: Callable[..., SimulatedProject]) -> None:
    """Every page of the reference library names itself in its proof's heading."""
    box = make_project()
    box.page("CMD_A", "# §CMD_A\nthen §CMD_B\n## PROOF FOR §CMD_A\n")
    box.page("CMD_B", "back to §CMD_A and §CMD_B\n")
    started(box, "CMD_A")
    box.idle(4)
    assert delivered(box) == ["CMD_A.md", "CMD_B.md"]
    assert box.state()["pendingPreloads"] == {}


def test_a_page_that_does_not_exist_is_passed_over(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.page("CMD_A", "uses §CMD_NOWHERE and §INV_NOWHERE\n")
    started(box, "CMD_A")
    box.idle()
    assert delivered(box) == ["CMD_A.md"]
    assert box.errors() == []


def test_the_nearest_page_wins(make_project: Callable[..., SimulatedProject]) -> None:
    from pathlib import Path

    box = make_project()
    library = Path(box.environ["HOME"]) / ".claude" / ".directives" / "commands"
    library.mkdir(parents=True)
    for name in ("CMD_APPEND_LOG", "CMD_MINE"):
        (library / f"{name}.md").write_text(f"{name} of the user\n")
    box.write("one/.directives/commands/CMD_MINE.md", "CMD_MINE of one\n")
    box.write("one/.directives/AGENTS.md", "use §CMD_MINE and §CMD_APPEND_LOG and §CMD_ASK_ROUND\n")
    box.sim.start()
    box.sim.read("one/f.py")
    box.idle()
    found = [line["file"] for line in box.deliveries.of("claim-deliver")]
    assert str(box.project / "one/.directives/commands/CMD_MINE.md") in found
    assert str(library / "CMD_APPEND_LOG.md") in found
    assert any(path.endswith("data/directives/commands/CMD_ASK_ROUND.md") for path in found)


def test_a_projects_own_page_stands_for_a_phase_of_a_shipped_skill(
    make_project: Callable[..., SimulatedProject],
) -> None:
    box = make_project()
    box.page("CMD_REPORT_INTENT", "our own way to report\n")
    box.sim.start()
    box.shell("engine session activate S implement")
    found = [line["file"] for line in box.deliveries.of("claim-deliver")]
    assert str(box.project / ".directives/commands/CMD_REPORT_INTENT.md") in found
    assert not any(path.endswith("data/directives/commands/CMD_REPORT_INTENT.md") for path in found)
