"""Category 3: the ways in which the earlier systems delivered twice."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from implement_session import activate, move, with_implement

from simulated_project import SimulatedProject


def test_skill_md_is_never_injected_where_the_client_brought_it(make_project: Callable[..., SimulatedProject]) -> None:
    """Typed, called again by the model, activated, continued: the quadruple delivery."""
    box = with_implement(make_project())
    box.sim.start()
    box.sim.skill("implement", "hooks")
    box.sim.invoke("implement")
    activate(box)
    box.shell("engine session continue")
    box.sim.read("one/f.py")
    box.deliveries.assert_delivery_count("SKILL.md", 0)
    assert len(box.deliveries.of("seed")) == 1
    assert not [title for title in box.sim.copies() if title[0].endswith("SKILL.md")]


def test_skill_md_is_delivered_once_where_nobody_brought_it(make_project: Callable[..., SimulatedProject]) -> None:
    box = with_implement(make_project())
    box.sim.start()
    box.sim.prompt("x")
    activate(box)
    box.shell("engine session continue")
    box.deliveries.assert_delivery_count("SKILL.md", 1)


def test_a_page_shared_by_phases(make_project: Callable[..., SimulatedProject]) -> None:
    box = with_implement(make_project())
    box.sim.start()
    box.sim.skill("implement")
    activate(box)
    for label in ("1", "2", "3.A"):
        move(box, label)
    box.deliveries.assert_delivery_count("CMD_REPORT_INTENT.md", 1)
    assert box.deliveries.skips("CMD_REPORT_INTENT.md") == 4  # activation, and three phases


def test_a_link_and_its_target_are_one_file(make_project: Callable[..., SimulatedProject]) -> None:
    box = with_implement(make_project())
    pages = box.project / ".directives" / "commands"
    (pages / "CMD_ALIAS.md").symlink_to(pages / "CMD_BUILD.md")
    box.skill("linked", {"label": "0", "steps": ["§CMD_BUILD", "§CMD_ALIAS"]})
    box.sim.start()
    box.sim.skill("linked")
    assert box.deliveries.count("CMD_BUILD.md") + box.deliveries.count("CMD_ALIAS.md") == 1
    assert len(box.deliveries.of("skip-inode")) == 1


def test_parallel_hooks_deliver_once(make_project: Callable[..., SimulatedProject]) -> None:
    """Both see the file missing before either has written."""
    box = with_implement(make_project())
    box.sim.start()
    raw = {
        "hook_event_name": "UserPromptExpansion", "command_name": "implement", "session_id": box.sim.session,
        "transcript_path": box.sim.transcript, "cwd": str(box.project), "prompt": "/implement",
    }  # fmt: skip
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: box.hooks("UserPromptExpansion", raw), range(8)))
    box.deliveries.assert_no_duplicates()
    box.deliveries.assert_delivery_count("CMD_SELECT_MODE.md", 1)
