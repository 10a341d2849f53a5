"""Events that never reach a hook, and records that are never written or that we do not understand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from simulated_project import SimulatedProject, assert_once, names, nothing

Make = Callable[..., SimulatedProject]

pytestmark = pytest.mark.usefixtures("no_patience")


def rules_in(box: SimulatedProject) -> dict[str, int]:
    return {path.rsplit("/", 3)[1]: count for (path, *_), count in box.sim.copies().items() if "/project/" in path}


def test_a_client_that_records_deliveries_in_a_new_form(make_project: Make) -> None:
    """Receipts are impossible there. Each file is sent at most three times, and the person is told."""
    box = make_project()
    usual, told = box.hooks, []

    def renaming(name: str, raw: dict[str, object]) -> list[str]:
        path = Path(box.sim.transcript)
        if path.exists():
            path.write_bytes(path.read_bytes().replace(b"hook_additional_context", b"hook_context_of_the_future"))
        return usual(name, raw)

    box.hooks = renaming
    box.sim.start()
    for _ in range(8):
        told += box.sim.read("one/f.py").messages
    told += box.sim.read("two/f.py").messages
    box.idle(4)
    assert max(box.sim.copies().values()) == 3
    assert rules_in(box)["two"] == 1, "what follows is not sent again at all"
    assert any("none of the delivered files" in error for error in box.errors())
    assert sum("none of the delivered files" in line for line in told) == 1


def test_hooks_that_die_again_and_again_are_no_new_form(make_project: Make) -> None:
    """The client says that they failed, so what they should have delivered is sent until it arrives."""
    box = make_project()
    box.drop_next()
    box.sim.start()
    for _ in range(5):
        box.sim.fail("PostToolBatch")
        box.drop_next()
        box.sim.read("one/f.py")
    box.sim.fail("PostToolBatch")
    box.sim.read("one/f.py")
    assert_once(box, "main", "one")
    assert len(box.sim.copies()) == 7


@pytest.mark.parametrize("prompts", [False, True], ids=["then calls", "then prompts"])
def test_a_prompt_that_is_never_written(make_project: Make, prompts: bool) -> None:
    """Another hook blocked it, or Esc came while the hooks ran: its files are not in the window."""
    box = make_project()
    box.sim.start()
    box.sim.prompt("go")
    box.idle()
    box.hooks("UserPromptSubmit", {
        "hook_event_name": "UserPromptSubmit", "session_id": box.sim.session, "cwd": str(box.project),
        "transcript_path": box.sim.transcript, "prompt": "look at @one/f.py", "prompt_id": "never",
    })  # fmt: skip
    box.sim.prompt("something else")
    if prompts:
        box.sim.answer("done")
        box.sim.prompt("more")
        box.sim.answer("done")
        box.sim.prompt("and more")
    else:
        box.idle()
        box.sim.read("one/f.py")
        box.idle()
    assert_once(box, "main", "one")


@pytest.mark.parametrize("before", [0, 1], ids=["the first one", "after one that we know of"])
def test_both_hooks_of_a_compaction_are_killed(make_project: Make, before: int) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    for _ in range(before):
        box.idle()
        box.sim.compact()
        box.sim.read("one/f.py")
    box.idle(2)
    usual, box.hooks = box.hooks, nothing
    box.sim.compact()
    box.hooks = usual
    box.idle()
    box.sim.read("one/f.py")
    box.idle()
    assert_once(box, "main", "one")
    assert len(box.sim.copies()) == 7 and box.state()["epoch"] == before + 1


def test_a_compaction_is_not_found_again_after_a_resume_or_in_an_adopted_window(make_project: Make) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    box.idle()
    box.sim.compact()
    box.sim.read("one/f.py")
    box.sim.start("resume")
    box.idle()
    assert box.state()["epoch"] == 1
    box.lose_ledger()
    for _ in range(3):
        box.sim.read("one/f.py")
    assert box.state()["epoch"] == 0
    assert_once(box, "main", "one")
    assert len(box.sim.copies()) == 7


def test_the_hook_of_a_resume_is_killed(make_project: Make) -> None:
    """The next event comes from another process: what is in the ledger is compared with the transcript."""
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    box.idle()
    path = Path(box.sim.transcript)
    path.write_bytes(path.read_bytes().replace(b"rules of one", b"RULES OF ONE"))  # the loader did not take it
    box.sim.views["main"] = [one for one in box.sim.views["main"] if "rules of one" not in one[1]]
    usual, box.hooks = box.hooks, nothing
    box.sim.start("resume")
    box.environ["CLAUDE_PID"] = "4194302"
    box.hooks = usual
    assert names(box.idle()) == ["one"]
    assert_once(box, "main", "one")


def test_a_mention_before_it_is_known_who_was_compacted(make_project: Make) -> None:
    """The client does not say whether main or its subagent was compacted, and writes it down after the next prompt."""
    box = make_project("2-1-260")
    box.sim.start()
    box.sim.read("one/f.py")
    box.sim.subagent("a1")
    box.sim.read("one/f.py", agent="a1")
    box.idle()
    box.sim.compact()
    usual, path = box.hooks, Path(box.sim.transcript)

    def early(name: str, raw: dict[str, object]) -> list[str]:
        whole = path.read_bytes()
        path.write_bytes(whole[: whole.find(b'"subtype":"compact_boundary"')].rpartition(b"\n")[0] + b"\n")
        answer = usual(name, raw)
        path.write_bytes(whole)
        return answer

    box.hooks = early
    box.sim.prompt("look at @two/f.py")
    box.hooks = usual
    box.idle(3)
    assert rules_in(box).get("two") == 1


def interrupt(box: SimulatedProject, *paths: str) -> None:
    """The user presses Esc while these files are read: the client sends no event."""
    usual, box.hooks = box.hooks, nothing
    box.sim.read(*paths)
    box.hooks = usual
    said = [{"type": "text", "text": "[Request interrupted by user for tool use]"}]
    box.sim._write(box.sim.transcript, {"type": "user", "message": {"role": "user", "content": said}})


def test_a_batch_that_the_user_interrupted(make_project: Make) -> None:
    """Nothing else is open: the row of the interruption alone shows it."""
    box = make_project()
    box.sim.start()
    box.sim.prompt("go")
    box.idle(2)
    interrupt(box, "one/f.py")
    box.sim.prompt("go on")
    box.idle(2)
    assert_once(box, "main", "one")


@pytest.mark.parametrize("version", ["2-1-197", "2-1-260", "2-1-325"])
def test_an_interrupted_read_brings_no_imports(make_project: Make, version: str) -> None:
    """The client reads the CLAUDE.md of a folder only together with the results of the whole batch."""
    box = make_project(version)
    box.write("one/CLAUDE.md", "@.directives/AGENTS.md\n")
    box.sim.start()
    box.sim.prompt("go")
    box.idle(2)
    interrupt(box, "one/f.py")
    assert "rules of one" in "".join(box.sim.prompt("go on").texts)
    box.idle(2)
    assert_once(box, "main", "one")


@pytest.mark.parametrize("shown", [True, False])
def test_an_interrupted_read_beside_a_bare_agents_md(make_project: Make, shown: bool) -> None:
    """The client shows it as soon as the file is read, and records that."""
    box = make_project()
    box.write("sub/AGENTS.md", "bare rules\n")
    box.write("sub/f.py", "x\n")
    box.sim.start()
    box.sim.prompt("go")
    box.idle(2)
    if shown:
        text = f"Contents of {box.project}/sub/AGENTS.md:\n\nbare rules\n"
        attachment = {"type": "hook_additional_context", "content": [text], "hookName": "tool.call"}
        box.sim._write(box.sim.transcript, {"type": "attachment", "attachment": attachment})
    interrupt(box, "sub/f.py")
    box.sim.prompt("go on")
    box.idle(3)
    assert box.seen().count("bare rules") == (not shown)
