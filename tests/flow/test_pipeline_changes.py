"""Rules that change, appear, or have the same text as others."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from test_pipeline_undone import drop_prompt

from simulated_project import SimulatedProject, nothing

pytestmark = pytest.mark.usefixtures("no_patience")
Make = Callable[..., SimulatedProject]
RULE = "one/.directives/AGENTS.md"


@pytest.mark.parametrize(
    "first, second", [(RULE, "two/.directives/AGENTS.md"), (RULE, "one/.directives/INVARIANTS.md")]
)
@pytest.mark.parametrize("changed", [0, 1])
def test_one_of_two_rules_with_the_same_text_changes(make_project: Make, first: str, second: str, changed: int) -> None:
    box = make_project()
    for path in (first, second):
        box.write(path, "shared rules\n")
    box.sim.start()
    box.sim.prompt("go")
    box.sim.read("one/f.py", "two/f.py")
    box.idle()
    assert box.seen().count("shared rules") == 1
    box.write((first, second)[changed], "other rules\n")
    for _ in range(2):
        box.sim.prompt("more")
        box.sim.read("one/f.py", "two/f.py")
        box.idle(3)
    # the text that the second one shared is no longer the first one's, so it is delivered under its own name
    assert box.seen().count("other rules") == 1
    assert box.seen().count("shared rules") == 2 - changed


def test_a_link_to_a_rule_that_the_agent_read_in_a_turn_that_is_undone(make_project: Make) -> None:
    box = make_project()
    (box.project / "two/.directives/AGENTS.md").unlink()
    (box.project / "two/.directives/AGENTS.md").symlink_to(box.project / RULE)
    box.sim.start()
    box.sim.prompt("one")
    box.idle()
    undone = box.sim.prompt("two")
    box.sim.read(RULE)
    box.attach(RULE)
    box.sim.read("two/f.py")
    box.idle()
    box.sim.rewind(undone)
    box.sim.prompt("three")
    box.sim.read("two/f.py")
    box.idle(3)
    assert box.seen().count("rules of one") == 1


@pytest.mark.parametrize(
    "tools, ours",
    [(("Grep", "Edit"), 1), (("Edit", "Grep"), 1), (("Edit", "Read"), 0), (("Grep", "Read"), 0), (("Grep",), 0)],
)
def test_several_calls_in_the_folder_of_a_bare_agents_md(make_project: Make, tools: tuple[str, ...], ours: int) -> None:
    """The host brings it along with a file that is read, and only then."""
    box = make_project()
    box.write("sub/AGENTS.md", "bare rules\n")
    box.write("sub/f.py", "x\n")
    box.sim.start()
    box.sim.prompt("go")
    path = str(box.project / "sub/f.py")
    box.sim.batch(*(("Grep", {"path": path}) if tool == "Grep" else (tool, {"file_path": path}) for tool in tools))
    box.idle(2)
    assert box.seen().count("bare rules") == ours


@pytest.mark.parametrize("touch", ["read", "write"])
def test_a_bare_agents_md_that_is_made_later(make_project: Make, touch: str) -> None:
    box = make_project("2-1-260")
    box.write("sub/f.py", "x\n")
    box.sim.start()
    box.sim.prompt("go")
    box.sim.read("sub/f.py")
    box.idle()
    box.write("sub/AGENTS.md", "bare rules\n")
    if touch == "write":
        assert "bare rules" in box.sim.write("sub/new.py").denied
    box.sim.read("sub/f.py")
    box.idle(2)
    assert box.seen().count("bare rules") == 1


@pytest.mark.parametrize("before", ["write", "read"])
def test_a_rule_that_is_added_where_a_write_was_held(make_project: Make, before: str) -> None:
    box = make_project()
    box.sim.start()
    box.sim.prompt("go")
    if before == "write":
        assert box.sim.write("one/a.py").denied
    else:
        box.sim.read("one/f.py")
    box.sim.write("one/a.py")
    box.write("one/.directives/INVARIANTS.md", "late invariants\n")
    assert "late invariants" in box.sim.write("one/b.py").denied


@pytest.mark.parametrize("count, shown", [(2600, False), (1900, True)])
def test_a_read_shows_two_thousand_lines(make_project: Make, count: int, shown: bool) -> None:
    box = make_project()
    box.write(RULE, "".join(f"rule {n}\n" for n in range(count)))
    box.sim.start()
    box.sim.prompt("go")
    box.sim.read(RULE)
    box.idle(6)
    assert (f"rule {count - 1}" not in box.seen()) is shown


@pytest.mark.parametrize(
    "text",
    [
        "[Preloaded: a title\n\\[Preloaded: an escaped title\n",
        'The same rules as in "/x" apply here. Their text is in this window.\n',
        "\\\\[Preloaded: x\n[Updated: y\n",
        "\\ > [Preloaded: x\n > [Preloaded: y\n",
    ],
)
@pytest.mark.parametrize("call", ["read", "write"])
def test_texts_that_look_like_ours_are_confirmed(make_project: Make, text: str, call: str) -> None:
    box = make_project()
    box.write(RULE, text)
    box.sim.start()
    box.sim.prompt("go")
    box.sim.read("one/f.py") if call == "read" else box.sim.write("one/new.py")
    box.idle(6)
    copies = [count for (path, *_), count in box.sim.copies().items() if path.endswith(RULE)]
    assert copies == [1] and box.state()["files"][str(box.project / RULE)]["parts"] == "k"


def test_a_rule_that_is_away_for_a_while_and_comes_back_as_it_was(make_project: Make) -> None:
    box = make_project()
    box.sim.start()
    box.sim.prompt("go")
    box.sim.read(RULE)
    box.attach(RULE)
    box.idle()
    text = (box.project / RULE).read_text()
    (box.project / RULE).unlink()
    box.idle()
    box.write(RULE, text)
    box.sim.prompt("more")
    box.sim.read("one/f.py")
    box.idle(2)
    assert "rules of one" not in box.seen()  # the client shows it
    box.write(RULE, "other rules\n")
    box.sim.prompt("even more")
    assert box.seen().count("other rules") == 1


def test_a_changed_rule_that_the_prompt_mentions_comes_from_the_host_alone(make_project: Make) -> None:
    box = make_project()
    box.sim.start()
    box.sim.prompt("go")
    box.sim.read("one/f.py")
    box.idle()
    box.write(RULE, "newer rules\n")
    box.sim.prompt(f"see @{RULE}")
    box.attach(RULE)
    box.sim.read("one/f.py")
    box.idle(2)
    assert "newer rules" not in box.seen()


@pytest.mark.parametrize("then", ["failed hook", "prompt"])
def test_a_rule_that_changed_after_it_was_mentioned(make_project: Make, then: str) -> None:
    box = make_project()
    box.sim.start()
    box.sim.prompt(f"see @{RULE}")
    box.attach(RULE)
    box.idle()
    box.write(RULE, "newer rules\n")
    if then == "prompt":
        box.sim.prompt("more")
    else:
        box.sim.fail("PostToolBatch")
        box.idle()
        box.sim.read("one/f.py")
    box.idle(2)
    assert box.seen().count("newer rules") == 1


def test_a_rule_that_was_lost_with_a_blocked_prompt_and_is_mentioned_then(make_project: Make) -> None:
    box = make_project()
    box.sim.start()
    box.sim.prompt("go")
    drop_prompt(box, "see @one/f.py")
    box.sim.prompt(f"see @{RULE}")
    box.attach(RULE)
    box.idle(3)
    assert "rules of one" not in box.seen()  # the client shows it


def test_prompts_that_were_blocked_say_nothing_about_the_record(make_project: Make) -> None:
    """The standards came with blocked prompts, three times: they are sent again all the same."""
    box = make_project()
    box.environ["CLAUDE_CODE_ENTRYPOINT"] = "cli"
    box.sim.start()
    box.sim.prompt("go")
    box.idle(2)
    box.sim.send({"hook_event_name": "PreCompact", "trigger": "manual"})
    box.sim.start("compact")
    for number in range(3):
        drop_prompt(box, "secret", f"blocked{number}")
        box.sim.prompt(f"fine {number}")
        box.sim.answer("ok")
    box.idle(6)
    assert "# Commands\n" in box.seen()


def test_two_resumes_in_one_moment_with_an_unnoticed_compaction_between(make_project: Make) -> None:
    box = make_project()
    box.sim.start()
    box.sim.prompt("see @one/f.py")
    box.sim.answer("x")
    box.write(RULE, "newer rules\n")
    box.environ["CLAUDE_PID"] = "4194300"
    box.sim.start("resume")
    box.sim.prompt("again")
    box.idle()
    usual, box.hooks = box.hooks, nothing
    box.sim.compact()
    box.hooks = usual
    box.sim.answer("x")
    box.environ["CLAUDE_PID"] = "4194299"
    box.sim.start("resume")
    box.sim.prompt("again")
    box.sim.read("one/f.py")
    box.idle(4)
    assert "newer rules" in box.seen()
