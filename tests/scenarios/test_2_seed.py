"""Category 2: before a session is activated. The window's own ledger is the seed; nothing is merged."""

from __future__ import annotations

from collections.abc import Callable

from implement_session import SESSION, activate, phase, with_implement

from simulated_project import SimulatedProject


def test_seed_and_link(make_project: Callable[..., SimulatedProject]) -> None:
    box = with_implement(make_project())
    box.sim.start()
    assert box.state()["lifecycle"] == "seeding"
    assert len(box.state()["files"]) == 6
    box.sim.skill("implement", "add feature")
    seeded = box.state()
    assert sum(path.endswith("SKILL.md") for path in seeded["files"]) == 1
    assert seeded["lifecycle"] == "seeding" and seeded["work"]["skill"] == "implement"
    activate(box)
    linked = box.state()
    assert linked["lifecycle"] == "active"
    assert linked["work"]["session"] == str(box.project / "sessions" / SESSION)
    assert set(seeded["files"]) <= set(linked["files"])


def test_a_skill_that_is_never_activated_leaves_no_session(make_project: Callable[..., SimulatedProject]) -> None:
    box = with_implement(make_project())
    box.sim.start()
    box.sim.skill("implement")
    box.sim.send({"hook_event_name": "SessionEnd", "reason": "other"})
    assert not (box.project / "sessions").exists()
    box.sim.session = "another"
    box.sim.start()
    assert box.errors() == []


def test_several_skills_before_activation(make_project: Callable[..., SimulatedProject]) -> None:
    box = with_implement(make_project())
    box.skill("analyze", phase("0", "Setup", "CMD_REPORT_INTENT", "CMD_LOOK"))
    box.sim.start()
    box.sim.skill("implement", "something")
    box.sim.skill("analyze", "rather this")
    assert sum(path.endswith("SKILL.md") for path in box.state()["files"]) == 2
    assert box.state()["work"]["skill"] == "analyze"
    activate(box, "analyze")
    assert box.state()["work"] == {
        "skill": "analyze", "phase": "0", "directives": [], "session": str(box.project / "sessions" / SESSION),
    }  # fmt: skip
    box.deliveries.assert_no_duplicates()
    box.deliveries.assert_delivery_count("CMD_LOOK.md", 1)


def test_a_helper_skill_does_not_displace_the_work(make_project: Callable[..., SimulatedProject]) -> None:
    box = with_implement(make_project())
    box.skill("commit", text="Write a commit message.")
    box.sim.start()
    box.sim.skill("implement")
    activate(box)
    box.sim.invoke("commit")
    assert box.state()["work"]["skill"] == "implement"


def test_ledgers_of_dead_clients_are_pruned_not_those_of_the_living(
    make_project: Callable[..., SimulatedProject],
) -> None:
    import os
    import time

    from handbill.store.prune import prune

    box = with_implement(make_project())
    box.environ["CLAUDE_PID"] = "4194301"  # no such process
    box.sim.start()
    box.sim.session = "alive"
    box.environ["CLAUDE_PID"] = str(os.getpid())
    box.sim.start()
    root = box.state_folder
    for path in (root / ".windows").iterdir():
        os.utime(path, (time.time() - 30 * 86400,) * 2)
    prune(str(root), 14)
    assert [path.name for path in (root / ".windows").glob("*.jsonl")] == ["alive.jsonl"]
