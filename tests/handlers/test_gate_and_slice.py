"""Held writes, tasks handed to subagents, automatic answers: each on the host in a box."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from builders import DictWorld
from handbill.handlers.delegation import named_places
from simulated_project import SimulatedProject


def test_a_new_file_is_held_once(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    held = box.sim.write("one/new.py")
    assert held.denied.startswith("[Held by Handbill]") and "rules of one" in held.denied
    assert box.sim.write("one/new.py").denied == ""
    assert box.sim.write("one/other.py").denied == ""
    assert box.sim.read("one/f.py").texts == []
    assert set(box.sim.copies().values()) == {1}
    record = next(value for path, value in box.state()["files"].items() if "/one/" in path)
    assert record["parts"] == "k", "the denial is found in the client's record"


def test_what_is_known_is_not_held(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    assert box.sim.write("one/new.py").denied == ""
    box.write("none/f.py", "x")
    assert box.sim.write("none/new.py").denied == "", "no directives there"
    assert box.sim.write("one/f.py").denied == "", "no new file"
    assert box.sim.batch(("Write", {"file_path": "/elsewhere/x.py"})).denied == ""
    assert box.sim.batch(("Write", {})).denied == ""


@pytest.mark.parametrize("mode, held", [("off", False), ("new", False), ("edits", True)])
def test_modes_for_a_file_that_exists(make_project: Callable[..., SimulatedProject], mode: str, held: bool) -> None:
    box = make_project()
    box.write(".handbill.toml", f'[write_gate]\nmode = "{mode}"\n')
    box.sim.start()
    assert bool(box.sim.write("one/f.py").denied) is held


def test_an_unknown_window_is_never_held(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    assert box.sim.write("one/new.py").denied == ""


def test_a_denial_that_never_arrived_is_made_good(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    box.drop_next()
    assert box.sim.write("one/new.py").denied == "", "the hook died after its claim: the write went through"
    box.sim.read("two/f.py")
    box.sim.read("two/f.py")
    assert any("/one/" in path for path, *_ in box.sim.copies()), "the directives come all the same"
    assert set(box.sim.copies().values()) == {1}


def test_other_tool_results_with_our_words_prove_nothing(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    box.drop_next()
    box.sim.read("one/f.py")
    title = next(iter(box.state()["files"]))
    quoted = f"[Held by Handbill]\n\n[Preloaded: {title} · 00000000]\nx"
    box.sim.batch(("Bash", {"command": "cat old.log"}, quoted))
    box.sim.read("two/f.py")
    assert any("/one/" in path for path, *_ in box.sim.copies())


def test_a_subagent_gets_what_its_task_names(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    call = {"prompt": "Change one/f.py, nothing else.", "subagent_type": "general-purpose"}
    box.sim.send({"hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": call, "tool_use_id": "a1"})
    first = box.sim.subagent("x1")
    assert any("/one/" in path for path, *_ in first.titles) and any("INVARIANTS" in path for path, *_ in first.titles)
    assert not any("/two/" in path for path, *_ in first.titles)
    box.sim.read("one/f.py", agent="x1")
    assert set(box.sim.copies("x1").values()) == {1}
    box.sim.send(
        {
            "hook_event_name": "PostToolBatch",
            "tool_calls": [{"tool_name": "Agent", "tool_input": call, "tool_use_id": "a1"}],
        }
    )
    assert box.sim.subagent("x2").titles and not any("/one/" in path for path, *_ in box.sim.copies("x2"))


def test_a_subagent_gets_the_types_of_the_skill_at_work(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.write("one/.directives/TESTING.md", "how to test one\n")
    box.skill("implement", {"label": "0"}, directives=["TESTING.md"])
    box.sim.start()
    box.sim.skill("implement")
    call = {"prompt": "look around", "subagent_type": "Explore"}
    box.sim.send({"hook_event_name": "PreToolUse", "tool_name": "Task", "tool_input": call, "tool_use_id": "a1"})
    box.sim.send({"hook_event_name": "SubagentStart", "agent_id": "x1", "agent_type": "Explore"})
    box.sim.read("one/f.py", agent="x1")
    assert any(path.endswith("one/.directives/TESTING.md") for path, *_ in box.sim.copies("x1"))


TREE = {"/p/src/a.py": "x", "/p/lib/deep/b.py": "x", "/p/README.md": "x", "/home/u/notes/n.md": "x"}


@pytest.mark.parametrize(
    "text, expected",
    [
        ("look at src/a.py", ["/p/src"]), ("`lib/deep/` and (src/a.py:12), please.", ["/p/lib/deep", "/p/src"]),
        ("see /p/lib/deep/b.py.", ["/p/lib/deep"]), ("README.md only", []), ("http://x/src/a.py", []), ("and/or src/none.py", []),
        ("~/notes/n.md", ["/home/u/notes"]), ("", []), ("src/a.py src/a.py", ["/p/src"]), ("a\0b/c", []),
    ],
)  # fmt: skip
def test_places_that_a_task_names(text: str, expected: list[str]) -> None:
    assert named_places(text, "/p", DictWorld(TREE)) == expected  # type: ignore[arg-type]


def test_a_subagents_first_pages_stay_under_the_cap(make_project: Callable[..., SimulatedProject]) -> None:
    """What does not fit into its start comes with its first steps: nothing is cut, nothing is lost."""
    box = make_project()
    for number in range(8):
        box.write(f"big{number}/.directives/AGENTS.md", f"rules {number} " + "x" * 4000)
        box.write(f"big{number}/f.py", "x")
    box.sim.start()
    call = {"prompt": " ".join(f"big{number}/f.py" for number in range(8)), "subagent_type": "general-purpose"}
    box.sim.send({"hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": call, "tool_use_id": "a1"})
    first = box.sim.subagent("x1")
    assert len(first.texts) == 1 and len(first.texts[0]) <= 9500 and len(first.titles) >= 2
    for _ in range(4):
        box.sim.batch(("Bash", {"command": "true"}), agent="x1")
    assert sum("/big" in path for path, *_ in box.sim.copies("x1")) == 8
    assert set(box.sim.copies("x1").values()) == {1}


def test_a_task_is_matched_by_the_type_of_its_agent(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    for id, kind, place in (("a1", "general-purpose", "one"), ("a2", "Explore", "two")):
        call = {"prompt": f"Change {place}/f.py.", "subagent_type": kind}
        box.sim.send({"hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": call, "tool_use_id": id})
    first = box.sim.send({"hook_event_name": "SubagentStart", "agent_id": "x1", "agent_type": "Explore"})
    paths = [path for path, *_ in first.titles]
    assert any("/two/" in path for path in paths) and not any("/one/" in path for path in paths)


def test_a_denial_carries_only_what_it_is_about(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.write("one/.directives/AGENTS.md", "y" * 9300 + "\n")
    box.write("two/.directives/AGENTS.md", "x" * 1500 + "\n")
    box.write("three/.directives/AGENTS.md", "rules of three\n")
    box.sim.start()
    box.sim.read("one/f.py", "two/f.py")
    assert list(box.state()["pendingPreloads"]) == [str(box.project / "two/.directives/AGENTS.md")]
    held = box.sim.write("three/new.py")
    assert "rules of three" in held.denied and "xxx" not in held.denied
