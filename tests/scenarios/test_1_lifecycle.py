"""Category 1: whole skill runs. Every file exactly once."""

from __future__ import annotations

from collections.abc import Callable

from implement_session import SESSION, activate, move, with_implement

from simulated_project import SimulatedProject


def test_full_skill_lifecycle_without_duplicates(make_project: Callable[..., SimulatedProject]) -> None:
    box = with_implement(make_project())
    box.sim.start()
    box.sim.skill("implement", "add auth middleware")
    activate(box)
    move(box, "1: Interrogation")
    box.sim.read("one/f.py")
    move(box, "2: Planning")
    move(box, "3.A: Build Loop")
    box.sim.read("one/f.py", "two/f.py")
    move(box, "4: Synthesis")
    log = box.deliveries
    log.assert_no_duplicates()
    for name in ("REPORT_INTENT", "SELECT_MODE", "INGEST_CONTEXT", "APPEND_LOG", "INTERROGATE", "GENERATE_PLAN", "BUILD",
                 "GENERATE_DEBRIEF"):  # fmt: skip
        log.assert_delivery_count(f"CMD_{name}.md", 1)
    log.assert_delivery_count("CMD_DELEGATE.md", 0)  # the branch that was not taken
    log.assert_delivery_count("FMT_LIST.md", 1)
    log.assert_delivery_count("FMT_OTHER.md", 0)  # only mentioned
    log.assert_delivery_count("SKILL.md", 0)  # the client brought it
    assert len(log.of("seed")) == 1
    log.assert_delivery_order("CMD_SELECT_MODE.md", "CMD_INTERROGATE.md")
    log.assert_delivery_order("CMD_INTERROGATE.md", "CMD_BUILD.md")
    log.assert_delivered_by("CMD_SELECT_MODE.md", "skill_expanded", "implement, phase 0: Setup")
    log.assert_delivered_by("CMD_BUILD.md", "tool_batch_finished", "implement, phase 3.A: Build Loop")
    assert set(box.sim.copies().values()) == {1}
    assert log.total_bytes() > 0
    assert log.summary()["duplicates"] == 0
    assert box.errors() == []


def test_the_model_invokes_the_skill(make_project: Callable[..., SimulatedProject]) -> None:
    box = with_implement(make_project())
    box.sim.start()
    box.sim.prompt("build it")
    box.sim.invoke("implement")
    activate(box)
    log = box.deliveries
    log.assert_no_duplicates()
    log.assert_delivered_by("CMD_SELECT_MODE.md", "tool_batch_finished", "phase 0")
    log.assert_delivery_count("SKILL.md", 0)


def test_lightweight_skill(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.skill("do", text="Just do it, by §FMT_LIST.")
    box.page("FMT_LIST")
    box.sim.start()
    box.sim.skill("do", "a small thing")
    box.shell(f"engine session activate {SESSION} do")
    assert "no phases" in box.printed
    box.shell(f"engine session phase {SESSION} 'WAITING: for review'")
    assert box.printed == "Phase: WAITING: for review\n"
    log = box.deliveries
    log.assert_no_duplicates()
    log.assert_delivery_count("FMT_LIST.md", 1)
    assert not [line for line in log.lines if "phase" in line["source"]]


def test_overflow_restart_resume(make_project: Callable[..., SimulatedProject]) -> None:
    """A new process, a new window: the standards again, then what the phase in hand needs, once."""
    box = with_implement(make_project())
    box.sim.start()
    box.sim.skill("implement")
    activate(box)
    move(box, "1: Interrogation")
    box.sim.send({"hook_event_name": "SessionEnd", "reason": "other"})
    box.sim.session = "second-process"
    box.sim.views.clear()
    box.environ["CLAUDE_PID"] = "2"
    box.sim.start()
    box.sim.prompt("go on")
    box.shell(f"engine session continue {SESSION}")
    assert "Phase: 1: Interrogation" in box.printed
    log = box.deliveries
    log.assert_no_duplicates()
    second = [line["file"].rsplit("/", 1)[1] for line in log.of("claim-deliver") if line["window"].startswith("second")]
    assert sorted(second) == [
        "CMD_APPEND_LOG.md", "CMD_INTERROGATE.md", "CMD_REPORT_INTENT.md", "FMT_LIST.md", "SKILL.md", "TEMPLATE_DEBRIEF.md",
        "TEMPLATE_LOG.md",
    ]  # fmt: skip
    assert "SELECT_MODE" not in "".join(second), "phase 0 is over"
    assert set(box.sim.copies().values()) == {1}
