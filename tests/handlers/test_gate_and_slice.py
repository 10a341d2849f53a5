"""Held writes, tasks handed to subagents, automatic answers: each on the host in a box."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from builders import DictWorld, config, window
from handbill.event import TOOL_CALLED, Event, Tool
from handbill.handlers.auto_answer import handle as auto_answer
from handbill.handlers.delegation import named_places
from handbill.handlers.write_gate import FLAG
from handbill.handlers.write_gate import handle as write_gate
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
    assert named_places(text, "/p", DictWorld(TREE), config()) == expected  # type: ignore[arg-type]


def question(*labels: str) -> dict[str, object]:
    return {"question": "Q?", "options": [{"label": label} for label in labels]}


@pytest.mark.parametrize(
    "rule, expected",
    [("first", "A"), ("1", "A"), ("recommended", "B (Recommended)"), ("random", "C")],  # DictWorld rolls the last
)
def test_automatic_answers(rule: str, expected: str) -> None:
    tools = [Tool("AskUserQuestion", "t", values={"questions": [question("A", "B (Recommended)", "C"), question()]})]
    setting = config()
    setting.auto_answer = rule
    plan = auto_answer(Event(TOOL_CALLED, "s", tools=tools), window(), DictWorld({}), setting)  # type: ignore[arg-type]
    assert plan is not None and plan.verdict == "block"
    chosen = json.loads(plan.gate_text.partition("(auto): ")[2].rpartition(". Treat")[0])
    assert chosen == [{"question": "Q?", "selected": expected}, {"question": "Q?", "selected": ""}]


def test_automatic_answers_are_off_unless_asked_for(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    ask = ("AskUserQuestion", {"questions": [question("A")]})
    assert box.sim.batch(ask).denied == ""
    box.write(".handbill.toml", '[testing]\nauto_answer = "first"\n')
    assert box.sim.batch(ask).denied == "", "a project does not answer for the user"
    own = Path(box.environ["HOME"]) / ".config" / "handbill" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[testing]\nauto_answer = "first"\n')
    assert '"selected":"A"' in box.sim.batch(ask).denied


@pytest.mark.parametrize("values", [{}, {"questions": "no"}, {"questions": [7]}, {"questions": [{"options": 3}]}])
def test_odd_questions(values: dict[str, object]) -> None:
    setting = config()
    setting.auto_answer = "first"
    event = Event(TOOL_CALLED, "s", tools=[Tool("AskUserQuestion", "t", values=values)])
    assert auto_answer(event, window(), DictWorld({}), setting) is not None  # type: ignore[arg-type]


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


def test_no_question_is_answered_in_a_window_that_is_not_known(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.own_settings('[testing]\nauto_answer = "first"\n')
    call = {"tool_name": "AskUserQuestion", "tool_use_id": "t1"}
    ask = {"questions": [{"question": "which?", "options": [{"label": "a"}, {"label": "b"}]}]}
    event = {"hook_event_name": "PreToolUse", **call, "tool_input": ask}
    assert not box.sim.send(event).denied
    box.sim.start()
    assert box.sim.send({**event, "tool_use_id": "t2"}).denied


@pytest.mark.parametrize(
    "waiting, held",
    [
        (".directives/AGENTS.md", True),
        ("one/.directives/AGENTS.md", True),
        ("one/deep/.directives/AGENTS.md", False),
        ("two/.directives/AGENTS.md", False),
        ("one/.directives/commands/CMD_X.md", False),
        ("one/plan.md", False),
    ],
)
def test_the_pending_files_that_a_write_waits_for(waiting: str, held: bool) -> None:
    event = Event(TOOL_CALLED, "s", tools=[Tool("Write", "t1", ("/p/one/new.py",))], project="/p", cwd="/p")
    before = window(pending={f"/p/{waiting}": "why"})
    plan = write_gate(event, before, DictWorld({f"/p/{waiting}": "rules"}), config())  # type: ignore[arg-type]
    wanted = {want.path for want in (plan.wants if plan else ())}
    assert (f"/p/{waiting}" in wanted) is held


@pytest.mark.parametrize("epoch, places, held", [(0, 2, True), (0, 3, False), (1, 3, True)])
def test_how_often_a_directory_is_held_counts_anew_after_a_compaction(epoch: int, places: int, held: bool) -> None:
    event = Event(TOOL_CALLED, "s", tools=[Tool("Write", "t1", ("/p/one/new.py",))], project="/p", cwd="/p")
    before = window(epoch=epoch, flags={FLAG: {"epoch": 0, "places": ["/p/one"] * places}})
    plan = write_gate(event, before, DictWorld({"/p/one/.directives/AGENTS.md": "rules"}), config())  # type: ignore[arg-type]
    assert [want.path for want in (plan.wants if plan else ())] == ["/p/one/.directives/AGENTS.md"] * held


def test_the_places_that_were_held_last_are_remembered() -> None:
    event = Event(TOOL_CALLED, "s", tools=[Tool("Write", "t1", ("/p/one/new.py",))], project="/p", cwd="/p")
    flags: dict[str, object] = {FLAG: {"epoch": 0, "places": [f"/p/{number}" for number in range(60)]}}
    world = DictWorld({"/p/one/.directives/AGENTS.md": "rules"})
    for times in range(3):
        plan = write_gate(event, window(flags=flags), world, config())  # type: ignore[arg-type]
        assert plan is not None, f"held {times} times"
        flags = plan.flags
    assert write_gate(event, window(flags=flags), world, config()) is None  # type: ignore[arg-type]
