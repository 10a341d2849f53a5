"""Category 9: the skills that ship with the program."""

from __future__ import annotations

from collections.abc import Callable

from implement_session import SESSION, activate

from simulated_project import SimulatedProject


def names(box: SimulatedProject) -> list[str]:
    return [line["file"].rsplit("/", 1)[1] for line in box.deliveries.of("claim-deliver")]


def shipped(box: SimulatedProject, *skills: str) -> SimulatedProject:
    """As a user gets them to type: copied into the project."""
    for name in skills:
        assert box.process(f"engine skills {name} --copy").returncode == 0
    return box


def advance(box: SimulatedProject, label: str, proof: str = "") -> None:
    box.shell(f"echo '{proof}' | engine session phase {SESSION} '{label}'")


def test_implement_from_beginning_to_end(make_project: Callable[..., SimulatedProject]) -> None:
    box = shipped(make_project(), "implement")
    box.sim.start()
    box.sim.skill("implement", "add auth")
    activate(box)
    advance(box, "1: Interrogation", '{"contextRead": ["one/f.py"]}')
    assert "CMD_INTERROGATE.md" in names(box) and "CMD_GENERATE_PLAN.md" not in names(box)
    advance(box, "2: Planning", '{"questionsAsked": 0}')
    advance(box, "3.A: Build Loop", '{"planFile": "PLAN.md"}')
    box.sim.read("one/f.py")
    verified = '{"testsRun": "make test", "testsPassed": true}'
    advance(box, "4: Verification", verified)
    advance(box, "5: Debrief", verified)
    box.shell(f"engine session check {SESSION}", expect=1)
    assert "IMPLEMENTATION.md is not written" in box.printed
    box.write(f"sessions/{SESSION}/IMPLEMENTATION.md", "# Done\n")
    words = '{"description": "auth", "keywords": ["auth"], "proof": {"debriefFile": "IMPLEMENTATION.md"}}'
    box.shell(f"echo '{words}' | engine session deactivate")
    assert "Session deactivated" in box.printed and "test, fix" in box.printed
    state = box.session_state(SESSION)
    assert state["lifecycle"] == "completed" and state["completedSkills"] == ["implement"]
    assert [entry["phase"].split(":")[0] for entry in state["phaseHistory"]] == ["0", "1", "2", "3.A", "4", "5"]
    box.deliveries.assert_no_duplicates()
    assert box.errors() == []


def test_a_mode_brings_its_page(make_project: Callable[..., SimulatedProject]) -> None:
    box = shipped(make_project(), "analyze")
    box.sim.start()
    box.sim.skill("analyze", "hooks")
    activate(box, "analyze")
    assert "audit.md" not in names(box)
    box.shell(f"engine session update {SESSION} mode nonsense", expect=1)
    assert "explore, audit, improve" in box.printed
    box.shell(f"engine session update {SESSION} mode audit")
    assert names(box).count("audit.md") == 1 and "explore.md" not in names(box)


def test_fix_then_test_in_one_window(make_project: Callable[..., SimulatedProject]) -> None:
    box = shipped(make_project(), "fix", "test")
    box.sim.start()
    box.sim.skill("fix", "login")
    activate(box, "fix")
    box.shell("echo 'stopped' | engine session idle --user-approved 'the user wants tests first'")
    before = names(box)
    box.sim.skill("test")
    activate(box, "test")
    new = names(box)[len(before) :]
    assert new == ["TEMPLATE_TESTING_LOG.md", "TEMPLATE_TESTING.md"], "its other pages were there"
    state = box.session_state(SESSION)
    assert state["skill"] == "test" and state["currentPhase"] == "0: Setup"
    assert state["skillHistory"][0]["skill"] == "fix"
    box.deliveries.assert_no_duplicates()


def test_do_has_no_phases(make_project: Callable[..., SimulatedProject]) -> None:
    box = shipped(make_project(), "do")
    box.sim.start()
    box.sim.skill("do")
    activate(box, "do")
    assert not [name for name in names(box) if name.startswith("CMD_")]


def test_every_shipped_skill_is_sound(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    done = box.process("engine skills")
    assert done.returncode == 0, done.stdout
    for name in ("analyze", "do", "fix", "implement", "test"):
        done = box.process(f"engine skills {name} --json")
        assert (done.returncode == 0 and '"without": []' in done.stdout) or '"phases": []' in done.stdout, done.stdout


def test_a_command_of_the_users_own_with_a_shipped_name_is_left_alone(
    make_project: Callable[..., SimulatedProject],
) -> None:
    """`.claude/commands/test.md` is the user's: typing it brings none of our pages."""
    box = make_project()
    box.write(".claude/commands/test.md", "run the tests\n")
    box.sim.start()
    assert box.sim.skill("test").texts == []
    assert box.state()["work"] == {}


def test_a_shipped_skill_without_a_copy_begins_with_its_session(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    activate(box, "fix")
    box.deliveries.assert_delivery_count("fix/SKILL.md", 1)
    assert "CMD_INGEST_CONTEXT_BEFORE_WORK.md" in names(box)
    assert box.process("engine skills fix --copy").returncode == 0
    again = box.process("engine skills fix --copy")
    assert again.returncode == 1 and "already exists" in again.stderr
