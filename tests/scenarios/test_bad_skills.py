"""Skills as people really write them: a clear trace, and the agent goes on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from simulated_project import SimulatedProject


def test_malformed_parameters(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.write(".claude/skills/bad/SKILL.md", '# Bad\n### Session Parameters\n```json\n{\n  "phases": [,]\n}\n```\n')
    box.sim.start()
    moment = box.sim.skill("bad")
    assert moment.messages and "SKILL.md, line 5: not JSON" in moment.messages[0]
    assert any("SKILL.md, line 5" in line for line in box.errors())
    assert any(path.endswith("bad/SKILL.md") for path in box.state()["files"])
    box.shell("engine session activate S bad", expect=1)  # without its phases and proof it would be another skill
    assert "SKILL.md, line 5: not JSON: Expecting value\n" in box.printed


def test_a_template_that_does_not_exist_and_one_that_leads_out(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.write("../secret.md", "secret\n")
    box.skill("odd", {"label": "0"}, logTemplate="assets/none.md", planTemplate="../../../../secret.md")
    box.sim.start()
    box.sim.skill("odd")
    assert any("assets/none.md, which does not exist" in line for line in box.errors())
    assert any("leads out of the project" in line for line in box.errors())
    assert not any("secret" in path for path, *_ in box.sim.copies())


@pytest.mark.once
def test_ten_thousand_phases(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.page("CMD_A")
    box.skill("long", *({"label": str(number), "steps": ["§CMD_A"]} for number in range(10_000)))
    box.sim.start()
    box.sim.skill("long")
    box.shell("engine session activate S long")
    box.shell("engine session phase S 1")
    box.shell("engine session phase S 10001", expect=1)
    assert len(box.printed) < 2000 and "and 180 more" in box.printed
    assert all("there are more than 200 phases" in line for line in box.errors())


def test_a_path_in_a_step(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.write("../secret.md", "secret\n")
    box.skill("steps", {"label": "0", "steps": ["../../secret.md", "CMD_../../../secret", "/etc/passwd"]})
    box.sim.start()
    box.sim.skill("steps")
    assert len([line for line in box.errors() if "not a page name" in line]) == 3
    assert not any("secret" in path or "passwd" in path for path, *_ in box.sim.copies())


def test_duplicate_labels(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.skill(
        "twice", {"label": "0", "name": "A", "steps": ["§CMD_A"]}, {"label": "0", "name": "B", "steps": ["§CMD_B"]}
    )
    box.sim.start()
    box.sim.skill("twice")
    assert any("declared twice" in line for line in box.errors())
    box.deliveries.assert_delivery_count("CMD_A.md", 1)
    box.deliveries.assert_delivery_count("CMD_B.md", 0)


def test_a_skill_that_is_gone(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.skill("short", {"label": "0"}, {"label": "1"})
    box.sim.start()
    box.sim.skill("short")
    box.shell("engine session activate S short")
    (box.project / ".claude/skills/short/SKILL.md").unlink()
    box.shell("engine session phase S 1")
    assert box.printed.startswith("Phase: 1")
    assert any("was not found in any library" in line for line in box.errors())
    box.sim.read("one/f.py")


def test_a_binary_or_unreadable_skill(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.write(".claude/skills/bin/SKILL.md", "x")
    (box.project / ".claude/skills/bin/SKILL.md").write_bytes(b"\0\1\2")
    box.sim.start()
    box.sim.skill("bin")
    assert any("is binary" in line for line in box.errors())
    box.shell("engine session activate S bin", expect=1)
    assert "is binary" in box.printed


def test_a_changed_skill_is_read_anew(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.skill("grow", {"label": "0", "steps": ["§CMD_A"]}, {"label": "1", "steps": ["§CMD_B"]})
    box.sim.start()
    box.sim.skill("grow")
    box.shell("engine session activate S grow")
    box.skill("grow", {"label": "0", "steps": ["§CMD_A"]}, {"label": "1", "steps": ["§CMD_C"]})
    box.shell("engine session phase S 1")
    box.deliveries.assert_delivery_count("CMD_C.md", 1)
    box.deliveries.assert_delivery_count("CMD_B.md", 0)


def test_a_fork_does_not_get_the_skill_a_second_time(make_project: Callable[..., SimulatedProject]) -> None:
    """The client brought it into the window that was forked; only its record tells."""
    box = make_project()
    box.skill("x", {"label": "0", "steps": ["§CMD_A"]})
    box.sim.start()
    folder = box.project / ".claude/skills/x"
    body = {"type": "user", "isMeta": True, "message": {"role": "user", "content": [
        {"type": "text", "text": f"Base directory for this skill: {folder}\n\n# x\n"}]}}  # fmt: skip
    call = [{"type": "tool_use", "id": "t0", "name": "Skill", "input": {"skill": "x"}}]
    box.sim._write(box.sim.transcript, {"type": "assistant", "message": {"role": "assistant", "content": call}})
    box.sim._write(box.sim.transcript, body)
    box.sim.prompt("go")
    box.shell("engine session activate S x")
    box.deliveries.assert_delivery_count("SKILL.md", 0)
    box.deliveries.assert_delivery_count("CMD_A.md", 1)
