"""Category 6: when a phase begins."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from implement_session import SESSION, activate, move, with_implement

from simulated_project import SimulatedProject


def began(box: SimulatedProject) -> SimulatedProject:
    with_implement(box)
    box.sim.start()
    box.sim.skill("implement")
    activate(box)
    return box


def test_first_phase_with_the_skill_later_ones_with_their_command(
    make_project: Callable[..., SimulatedProject],
) -> None:
    box = began(make_project())
    move(box, "1: Interrogation")
    box.deliveries.assert_delivered_by("CMD_SELECT_MODE.md", "skill_expanded")
    box.deliveries.assert_delivered_by("CMD_INTERROGATE.md", "tool_batch_finished")
    box.deliveries.assert_no_duplicates()


def test_rapid_transitions_deliver_in_one_batch(make_project: Callable[..., SimulatedProject]) -> None:
    box = began(make_project())
    phase = f"engine session phase {SESSION}"
    moment = box.shell(f"{phase} 1 && {phase} '2: Planning' && {phase} 3.A")
    found = {path.rsplit("/", 1)[1] for path, _, _, _ in moment.titles}
    assert found == {"CMD_INTERROGATE.md", "CMD_GENERATE_PLAN.md", "CMD_BUILD.md"}
    assert box.state()["work"]["phase"] == "3.A"
    box.deliveries.assert_no_duplicates()


def test_three_calls_in_one_message(make_project: Callable[..., SimulatedProject]) -> None:
    box = began(make_project())
    calls = []
    for label in ("1", "2", "3.B"):
        command = f"engine session phase {SESSION} {label}"
        calls.append(("Bash", {"command": command}, box.process(command).stdout))
    moment = box.sim.batch(*calls)
    assert {path.rsplit("/", 1)[1] for path, _, _, _ in moment.titles} == {
        "CMD_INTERROGATE.md", "CMD_GENERATE_PLAN.md", "CMD_DELEGATE.md",
    }  # fmt: skip


@pytest.mark.parametrize(
    "command, told",
    [
        ("engine session phase {s} 1 > /dev/null", ""),  # nothing to see but the command
        ("./next.sh", None),  # nothing in the command but what it prints
        ("cd one && engine session phase {s} 1", None),
        ("engine session phase {s} 1 | tail -1", None),
        ("S={s}; engine session phase $S 1 && true", None),
    ],
)
def test_however_the_command_is_run(
    make_project: Callable[..., SimulatedProject], command: str, told: str | None
) -> None:
    box = began(make_project())
    box.write("next.sh", f"#!/bin/sh\nengine session phase {SESSION} 1\n")
    (box.project / "next.sh").chmod(0o755)
    box.shell(command.format(s=SESSION), told=told)
    box.deliveries.assert_delivered_by("CMD_INTERROGATE.md", "tool_batch_finished", "phase 1")


def test_speaking_of_the_command_does_nothing(make_project: Callable[..., SimulatedProject]) -> None:
    box = began(make_project())
    box.sim.batch(
        ("Bash", {"command": "echo 'engine session phase X 2'"}, "engine session phase X 2\nPhase: 2: Planning")
    )
    box.deliveries.assert_delivery_count("CMD_GENERATE_PLAN.md", 0)


def test_a_refused_move_delivers_nothing(make_project: Callable[..., SimulatedProject]) -> None:
    box = began(make_project())
    box.shell(f"engine session phase {SESSION} 3.A", expect=1)
    box.deliveries.assert_delivery_count("CMD_BUILD.md", 0)
    assert box.state()["work"]["phase"] == "0"


def test_a_phase_changed_in_a_subagents_shell_is_the_subagents(make_project: Callable[..., SimulatedProject]) -> None:
    box = began(make_project())
    box.sim.subagent("a1")
    box.sim.batch(("Bash", {"command": "true"}), agent="a1")
    command = f"engine session phase {SESSION} '1: Interrogation'"
    printed = box.process(command).stdout
    box.sim.batch(("Bash", {"command": "ls"}, "a b c"))  # meanwhile in the main window
    box.sim.batch(("Bash", {"command": command}, printed), agent="a1")
    windows = {
        line["window"] for line in box.deliveries.of("claim-deliver") if line["file"].endswith("CMD_INTERROGATE.md")
    }
    assert windows == {f"{box.sim.session}.a1"}
    assert box.state()["work"]["phase"] == "0" and box.state("a1")["work"]["phase"] == "1"


def test_a_phase_changed_by_a_person_in_a_terminal(make_project: Callable[..., SimulatedProject]) -> None:
    box = began(make_project())
    done = box.process(f"engine session phase {SESSION} 1", CLAUDE_CODE_SESSION_ID="")
    assert done.returncode == 0, done.stderr
    box.sim.prompt("go on")
    box.deliveries.assert_delivered_by("CMD_INTERROGATE.md", "prompt_submitted")


def test_what_no_call_shows_comes_to_the_main_window_in_the_end(
    make_project: Callable[..., SimulatedProject], monkeypatch: pytest.MonkeyPatch
) -> None:
    box = began(make_project())
    box.process(f"engine session phase {SESSION} 1")  # as in a background shell, long after its call
    box.sim.batch(("Bash", {"command": "ls"}, "a b c"))
    box.deliveries.assert_delivery_count("CMD_INTERROGATE.md", 0)
    from handbill.library import notices

    monkeypatch.setattr(notices, "_UNSEEN", 0.0)
    box.sim.batch(("Bash", {"command": "ls"}, "a b c"))
    box.deliveries.assert_delivery_count("CMD_INTERROGATE.md", 1)


def test_the_phase_in_hand_comes_back_after_a_compaction(make_project: Callable[..., SimulatedProject]) -> None:
    box = began(make_project())
    move(box, "1: Interrogation")
    box.sim.read("one/f.py")
    box.sim.compact()
    box.sim.read("two/f.py")
    box.sim.read("two/f.py")
    copies = {path.rsplit("/", 1)[1]: count for (path, *_), count in box.sim.copies().items()}
    assert copies["CMD_INTERROGATE.md"] == copies["CMD_REPORT_INTENT.md"] == copies["TEMPLATE_LOG.md"] == 1
    assert "CMD_SELECT_MODE.md" not in copies, "phase 0 is over"
    assert set(copies.values()) == {1}
    box.deliveries.assert_no_duplicates()


def test_the_skill_again_in_the_middle_of_its_run(make_project: Callable[..., SimulatedProject]) -> None:
    box = began(make_project())
    move(box, "1: Interrogation")
    box.sim.skill("implement", "more of it")
    box.sim.invoke("implement")
    assert box.state()["work"]["phase"] == "1"
    box.deliveries.assert_no_duplicates()


def test_the_end_of_a_skill_ends_its_claims_on_the_window(make_project: Callable[..., SimulatedProject]) -> None:
    box = began(make_project())
    box.shell("echo done | engine session deactivate --user-approved 'enough'")
    assert box.state()["work"] == {} and box.state()["lifecycle"] == "seeding"
    box.sim.read("one/f.py")
    box.sim.compact()
    box.sim.read("one/f.py")
    assert not any("CMD_REPORT_INTENT" in path for path, *_ in box.sim.copies())


def test_a_typed_skill_begins_at_its_own_first_phase(make_project: Callable[..., SimulatedProject]) -> None:
    """Also if the skill before was in a phase of the same label."""
    box = make_project()
    with_implement(box)
    box.skill(
        "review",
        {"label": "0", "name": "Look", "steps": ["§CMD_REV"]},
        {"label": "2", "name": "Other", "steps": ["§CMD_OTHER"]},
    )
    box.sim.start()
    box.sim.skill("implement")
    activate(box)
    move(box, "1: Interrogation")
    move(box, "2: Planning")
    moment = box.sim.skill("review")
    assert (box.state()["work"]["skill"], box.state()["work"]["phase"]) == ("review", "0")
    assert "CMD_REV.md" in {path.rsplit("/", 1)[1] for path, *_ in moment.titles}
