"""What must not be delivered, written or held a second time, and what must, after the first answer seemed to suffice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from test_pipeline_undone import begin, drop_prompt

from handbill.errors import TookTooLong
from handbill.library import directive_levels
from simulated_project import SimulatedProject

pytestmark = pytest.mark.usefixtures("no_patience")
Make = Callable[..., SimulatedProject]
RULE, TWO, BESIDE = "one/.directives/AGENTS.md", "two/.directives/AGENTS.md", "one/.directives/INVARIANTS.md"


def share_text(box: SimulatedProject, *paths: str) -> None:
    for path in paths:
        box.write(path, "shared rules\n")
    begin(box, "go")
    box.sim.read("one/f.py", "two/f.py")
    box.idle()
    assert box.seen().count("shared rules") == 1


@pytest.mark.parametrize("first", ["held", "read"])
def test_a_line_about_a_text_far_before_it(make_project: Make, first: str) -> None:
    """The receipt of the line is looked for in the newest rows only, and the text is not there."""
    box = make_project()
    for path in (RULE, TWO):
        box.write(path, "shared rules\n")
    begin(box, "go")
    if first == "held":
        assert box.sim.write("one/new.py").denied
    else:
        box.sim.read("one/f.py")
    box.idle()
    box.sim.answer("x" * 300_000)
    box.sim.prompt("next")
    box.sim.read("two/f.py")
    box.idle()
    for _ in range(2):
        box.sim.prompt("again")
        box.idle()
    assert (box.seen().count("The same rules as in"), box.seen().count("shared rules")) == (1, 1)


def test_a_changed_rule_that_a_blocked_prompt_mentions(make_project: Make) -> None:
    box = make_project()
    begin(box, "go")
    box.sim.read("one/f.py")
    box.idle()
    box.write(RULE, "newer rules\n")
    drop_prompt(box, f"see @{RULE}")
    for _ in range(2):
        box.sim.prompt("fine")
        box.sim.read("one/f.py")
        box.idle(2)
    assert box.seen().count("newer rules") == 1


def read_long_before(box: SimulatedProject, *paths: str) -> None:
    """The agent has read these rules; only the end of the record is read now."""
    begin(box, "one")
    for path in paths:
        box.sim.read(path)
        box.attach(path)
    box.idle()
    for _ in range(4):
        box.sim.prompt("hm")
        box.sim.answer("x" * 1_000_000)
    box.idle()


@pytest.mark.parametrize("how", ["blocked", "not attached again", "attached again"])
def test_a_prompt_mentions_a_rule_that_the_agent_had_read_long_before(make_project: Make, how: str) -> None:
    box = make_project()
    read_long_before(box, RULE)
    if how == "blocked":
        drop_prompt(box, f"see @{RULE}")
    box.sim.prompt("fine" if how == "blocked" else f"see @{RULE}")
    if how == "attached again":
        box.attach(RULE)
    box.idle()
    box.sim.read("one/f.py")
    box.idle(3)
    assert "rules of one" not in box.seen()  # the client shows it


@pytest.mark.parametrize("how", ["blocked", "not attached again"])
def test_a_prompt_mentions_two_rules_that_the_agent_had_read_long_before(make_project: Make, how: str) -> None:
    box = make_project()
    read_long_before(box, RULE, TWO)
    text = f"see @{RULE} and @{TWO}"
    if how == "blocked":
        drop_prompt(box, text)
    box.sim.prompt("fine" if how == "blocked" else text)
    box.idle()
    for place in ("one", "two"):
        box.sim.read(f"{place}/f.py")
    box.idle(3)
    assert "rules of" not in box.seen()  # the client shows them


def test_the_agent_reads_a_rule_right_after_a_rewind(make_project: Make) -> None:
    box = make_project()
    begin(box, "one")
    box.sim.read("one/f.py")
    box.idle()
    undone = box.sim.prompt("two")
    box.write(RULE, "newer rules\n")
    box.sim.batch(("Edit", {"file_path": str(box.project / RULE)}))
    box.idle()
    box.sim.rewind(undone)
    box.sim.prompt("three")
    box.sim.read(RULE)
    box.idle(3)
    assert "newer rules" not in box.seen()


@pytest.mark.parametrize("drop", [False, True])
def test_a_line_does_not_confirm_the_text_that_follows_it(make_project: Make, drop: bool) -> None:
    """Both have the same title."""
    box = make_project()
    share_text(box, RULE, TWO)
    box.write(RULE, "other rules\n")
    box.sim.prompt("more")
    if drop:
        box.drop_next()
    box.idle(6)
    box.sim.read("two/f.py")
    box.idle(2)
    assert box.seen().count("shared rules") == 2


def test_two_rules_that_change_to_the_same_text(make_project: Make) -> None:
    box = make_project()
    share_text(box, RULE, TWO)
    for path in (RULE, TWO):
        box.write(path, "other rules\n")
    box.sim.prompt("more")
    box.idle(3)
    assert box.seen().count("The same rules as in") == 2  # of the old state, and of the new one
    assert box.seen().count("other rules") == 1


@pytest.mark.parametrize("known", ["read by the agent", "mentioned", "ledger lost"])
def test_a_rule_that_changes_to_another_directorys_text(make_project: Make, known: str) -> None:
    """The agent must be told. Otherwise the old text, which it has seen, still seems to apply."""
    box = make_project()
    box.write(RULE, "shared rules\n")
    box.write(TWO, "old rules\n")
    begin(box, "go")
    box.sim.read("one/f.py")
    if known == "read by the agent":
        usual = box.sim._result
        shown = {"type": "tool_result", "is_error": False, "content": "     1\told rules\n"}
        box.sim._result = lambda call: {"tool_use_id": call, **shown}  # type: ignore[method-assign]
        box.sim.read(TWO)
        box.sim._result = usual  # type: ignore[method-assign]
    elif known == "mentioned":
        box.sim.prompt(f"see @{TWO}")
        box.attach(TWO)
    else:
        box.sim.read("two/f.py")
        box.idle()
        box.lose_ledger()
    box.idle()
    box.write(TWO, "shared rules\n")
    box.sim.prompt("more")
    box.sim.read("two/f.py")
    box.idle(2)
    assert box.seen().count("The same rules as in") == 1 and box.seen().count("Updated") >= 1
    assert box.seen().count("shared rules") == 1


def test_a_rule_with_another_ones_text_that_can_no_longer_be_read(make_project: Make) -> None:
    box = make_project()
    share_text(box, RULE, BESIDE)
    (box.project / BESIDE).write_bytes(b"\xff\xfe\x00" * 50)
    log = box.state_folder / ".engine" / "deliveries.jsonl"
    box.sim.read("one/f.py")
    before = log.read_text()
    for _ in range(3):
        box.sim.read("one/f.py")
    assert log.read_text() == before


@pytest.mark.parametrize("touch", ["Bash", "Write"])
def test_a_nested_agents_md_is_gone_although_a_result_of_its_prompt_is_kept(make_project: Make, touch: str) -> None:
    box = make_project()
    box.write("sub/AGENTS.md", "bare rules\n")
    box.write("sub/f.py", "x\n")
    begin(box, "one")
    prompt = box.sim.prompt("two").event["prompt_id"]
    usual = box.sim._write

    def with_prompt(path: str, row: dict[str, Any], *more: Any) -> Any:
        results = row.get("type") == "user" and "tool_result" in str(row.get("message"))
        return usual(path, {**row, "promptId": prompt} if results else row, *more)

    box.sim._write = with_prompt  # type: ignore[method-assign]
    loaded = {"hook_event_name": "InstructionsLoaded", "prompt_id": prompt, "load_reason": "nested_traversal"}
    box.sim.send({**loaded, "file_path": str(box.project / "sub/AGENTS.md")})
    box.sim.read("sub/f.py")
    box.idle(4)
    box.sim.compact()
    box.idle()
    if touch == "Write":
        assert "bare rules" in box.sim.write("sub/new.py").denied
    box.sim.batch(("Bash", {"command": "sed -i s/x/y/ sub/f.py"}))
    box.idle(3)
    assert box.seen().count("bare rules") == 1


@pytest.mark.parametrize("version", ["2-1-197", "2-1-325"])
@pytest.mark.parametrize("shown", [True, False])
def test_a_lost_ledger_and_a_rule_that_a_nested_claude_md_brought(
    make_project: Make, version: str, shown: bool
) -> None:
    box = make_project(version)
    box.write("one/CLAUDE.md", "@.directives/AGENTS.md\n")
    begin(box, "go")
    box.sim.read("two/f.py")
    if shown:
        content = {"path": str(box.project / RULE), "type": "Project", "content": "rules of one\n"}
        attachment = {"type": "nested_memory", "path": str(box.project / RULE), "content": content}
        box.sim._write(box.sim.transcript, {"type": "attachment", "attachment": attachment})
    box.idle()
    box.lose_ledger()
    box.idle()
    box.sim.batch(("Bash", {"command": "sed -i s/x/y/ one/f.py"}))
    box.idle(3)
    assert box.seen().count("rules of one") == (not shown)


def test_a_bare_agents_md_that_is_switched_off_costs_nothing(make_project: Make) -> None:
    box = make_project()
    box.own_settings("[directives]\nbare_agents_md = false\n")
    box.write("sub/AGENTS.md", "bare rules\n")
    box.write("sub/f.py", "x\n")
    begin(box, "go")
    box.sim.read("sub/f.py")
    box.idle(2)
    ledger = box.state_folder / ".windows" / f"{box.sim.session}.jsonl"
    before = ledger.stat().st_ino
    box.sim.read("sub/f.py")
    assert "bare rules" not in box.seen() and ledger.stat().st_ino == before


def test_a_slow_directory_with_a_bare_agents_md(make_project: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    box = make_project()
    box.write("slow/AGENTS.md", "x\n")
    box.write("slow/f.py", "x\n")
    begin(box, "one")
    usual = directive_levels.present

    def present(level: str, world: Any, *more: Any) -> Any:
        if level.endswith("/slow"):
            began = world.spent()
            while world.spent() - began < 0.05:
                pass
            raise TookTooLong
        return usual(level, world, *more)

    monkeypatch.setattr(directive_levels, "present", present)
    for _ in range(5):
        box.sim.read("slow/f.py", "one/f.py")
    assert "rules of one" in box.seen()
