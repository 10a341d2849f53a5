"""Files that the body of a typed command or skill mentions: the client attaches them, so their rules are delivered."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from simulated_project import SimulatedProject, names

Make = Callable[..., SimulatedProject]


@pytest.mark.parametrize(
    "name, body, typed, expected",
    [
        ("look", "Look at @one/f.py.", "", ["one"]),
        ("ns:look", "Look at @one/f.py.", "", ["one"]),
        ("look", "Look at @$ARGUMENTS", "one/f.py", ["one"]),
        ("look", "Compare @$1 with @$2", "one/f.py two/f.py", ["one", "two"]),
        ("look", "Mail me@one/f.py", "", []),
        ("other", "", "", []),
        ("../look", "", "", []),
    ],
)
def test_rules_for_what_a_command_mentions(
    make_project: Make, name: str, body: str, typed: str, expected: list[str]
) -> None:
    box = make_project()
    if body:
        box.write(f".claude/commands/{name.replace(':', '/')}.md", f"---\ndescription: x\n---\n{body}\n")
    box.sim.start()
    box.idle()
    assert sorted(names(box.sim.skill(name, typed))) == expected
    assert names(box.sim.read("one/f.py")) == ([] if "one" in expected else ["one"])


def test_rules_for_what_a_skill_mentions(make_project: Make) -> None:
    box = make_project()
    box.skill("ship", text="Ship @one/f.py.")
    box.sim.start()
    assert "one" in names(box.sim.skill("ship"))


@pytest.mark.parametrize("answer, expected", [("Launching skill: ship", ["one"]), ("Unknown skill: ship", [])])
def test_rules_for_what_a_skill_mentions_that_the_model_calls(
    make_project: Make, answer: str, expected: list[str]
) -> None:
    box = make_project()
    box.skill("ship", text="Ship @$1.")
    box.sim.start()
    assert names(box.sim.batch(("Skill", {"skill": "ship", "args": "one/f.py"}, answer))) == expected


def test_a_rule_that_a_command_mentions_is_delivered(make_project: Make) -> None:
    """We do not check how much of it the client shows."""
    box = make_project()
    box.write(".claude/commands/look.md", "See @one/.directives/AGENTS.md")
    box.sim.start()
    assert names(box.sim.skill("look")) == ["one"]


def test_the_body_of_a_command_that_cannot_be_read(make_project: Make) -> None:
    box = make_project()
    (box.project / ".claude/commands/look.md").mkdir(parents=True)
    box.sim.start()
    assert names(box.sim.skill("look")) == [] and box.errors() == []
