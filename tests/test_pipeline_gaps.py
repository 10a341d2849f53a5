"""Events that never reach a hook, records that are never written, and two clients on one session."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from box import Box, assert_once, names
from handbill import evidence
from handbill.simulate import Moment

Make = Callable[..., Box]


@pytest.fixture(autouse=True)
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if seconds lay between two events."""
    monkeypatch.setattr(evidence, "PATIENCE", -1.0)


def nothing(name: str, raw: dict[str, object]) -> list[str]:
    """All hooks are killed."""
    return []


def idle(box: Box) -> Moment:
    return box.sim.batch(("Bash", {"command": "true"}))


def rules_in(box: Box) -> dict[str, int]:
    return {path.rsplit("/", 3)[1]: count for (path, *_), count in box.sim.copies().items() if "/project/" in path}


# --- a record that we do not understand ------------------------------------------------------------


def test_a_client_that_records_deliveries_in_a_new_form(make_box: Make) -> None:
    """Receipts are impossible there. Each file is sent at most three times, and the person is told."""
    box = make_box()
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
    for _ in range(4):
        idle(box)
    assert max(box.sim.copies().values()) == 3
    assert rules_in(box)["two"] == 1, "what follows is not sent again at all"
    assert any("none of the delivered files" in error for error in box.errors())
    assert sum("none of the delivered files" in line for line in told) == 1


def test_hooks_that_die_again_and_again_are_no_new_form(make_box: Make) -> None:
    """The client says that they failed, so what they should have delivered is sent until it arrives."""
    box = make_box()
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


# --- prompts and batches that the client drops -----------------------------------------------------


@pytest.mark.parametrize("prompts", [False, True], ids=["then calls", "then prompts"])
def test_a_prompt_that_is_never_written(make_box: Make, prompts: bool) -> None:
    """Another hook blocked it, or Esc came while the hooks ran: its files are not in the window."""
    box = make_box()
    box.sim.start()
    box.sim.prompt("go")
    idle(box)
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
        idle(box)
        box.sim.read("one/f.py")
        idle(box)
    assert_once(box, "main", "one")


def test_a_batch_whose_hook_hangs_is_undone(make_box: Make) -> None:
    box = make_box()
    box.sim.start()
    box.sim.prompt("go")
    idle(box)
    undone = box.sim.prompt("two")
    box.drop_next()
    box.sim.read("one/f.py")
    box.sim.rewind(undone)
    box.sim.prompt("three")
    idle(box)
    box.sim.read("one/f.py")
    idle(box)
    assert_once(box, "main", "one")


# --- compactions and resumes that nobody told us of -------------------------------------------------


@pytest.mark.parametrize("before", [0, 1], ids=["the first one", "after one that we know of"])
def test_both_hooks_of_a_compaction_are_killed(make_box: Make, before: int) -> None:
    box = make_box()
    box.sim.start()
    box.sim.read("one/f.py")
    for _ in range(before):
        idle(box)
        box.sim.compact()
        box.sim.read("one/f.py")
    idle(box)
    idle(box)
    usual, box.hooks = box.hooks, nothing
    box.sim.compact()
    box.hooks = usual
    idle(box)
    box.sim.read("one/f.py")
    idle(box)
    assert_once(box, "main", "one")
    assert len(box.sim.copies()) == 7 and box.state()["epoch"] == before + 1


def test_a_compaction_is_not_found_again_after_a_resume_or_in_an_adopted_window(make_box: Make) -> None:
    box = make_box()
    box.sim.start()
    box.sim.read("one/f.py")
    idle(box)
    box.sim.compact()
    box.sim.read("one/f.py")
    box.sim.start("resume")
    idle(box)
    assert box.state()["epoch"] == 1
    (box.state_folder / ".windows" / f"{box.sim.session}.jsonl").unlink()
    for _ in range(3):
        box.sim.read("one/f.py")
    assert box.state()["epoch"] == 0
    assert_once(box, "main", "one")
    assert len(box.sim.copies()) == 7


def test_the_hook_of_a_resume_is_killed(make_box: Make) -> None:
    """The next event comes from another process: what is in the ledger is compared with the transcript."""
    box = make_box()
    box.sim.start()
    box.sim.read("one/f.py")
    idle(box)
    path = Path(box.sim.transcript)
    path.write_bytes(path.read_bytes().replace(b"rules of one", b"RULES OF ONE"))  # the loader did not take it
    box.sim.views["main"] = [one for one in box.sim.views["main"] if "rules of one" not in one[1]]
    usual, box.hooks = box.hooks, nothing
    box.sim.start("resume")
    box.environ["CLAUDE_PID"] = "4194302"
    box.hooks = usual
    assert names(idle(box)) == ["one"]
    assert_once(box, "main", "one")


def test_a_mention_before_it_is_known_who_was_compacted(make_box: Make) -> None:
    """The client does not say whether main or its subagent was compacted, and writes it down after the next prompt."""
    box = make_box("2-1-260")
    box.sim.start()
    box.sim.read("one/f.py")
    box.sim.subagent("a1")
    box.sim.read("one/f.py", agent="a1")
    idle(box)
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
    for _ in range(3):
        idle(box)
    assert rules_in(box).get("two") == 1


# --- two clients on one session ---------------------------------------------------------------------


@pytest.mark.parametrize("held", [False, True], ids=["with results", "with a denial"])
def test_a_third_client_finds_what_the_second_was_given(make_box: Make, held: bool) -> None:
    box = make_box()
    box.environ["CLAUDE_PID"] = str(os.getpid())  # it runs, and does nothing
    box.sim.start()
    idle(box)
    box.environ["CLAUDE_PID"] = "4194301"
    box.sim.start("resume")
    box.sim.write("one/new.py") if held else box.sim.read("one/f.py")
    idle(box)
    first = box.state()
    assert not any("/one/" in path for path in first["files"])
    path = box.state_folder / ".windows" / f"{box.sim.session}.jsonl"
    path.write_text(path.read_text().replace(f'"pid":{os.getpid()}', '"pid":4194300'))  # it has ended
    box.environ["CLAUDE_PID"] = "4194302"
    box.sim.start("resume")
    box.sim.read("one/f.py")
    idle(box)
    assert_once(box, "main", "one")


def test_a_failing_hook_marks_the_window_of_its_own_terminal(make_box: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    box = make_box()
    box.environ["CLAUDE_PID"] = str(os.getpid())
    box.sim.start()
    idle(box)
    box.environ["CLAUDE_PID"] = "4194301"
    box.sim.start("resume")
    idle(box)
    with monkeypatch.context() as patch:
        patch.setattr("handbill.pipeline.decide", lambda *_: 1 / 0)
        box.sim.read("one/f.py")
    assert names(idle(box)) == ["one"]


# --- files that belong together ----------------------------------------------------------------------


def test_a_page_that_is_named_by_one_that_is_still_there(make_box: Make) -> None:
    box = make_box()
    box.page("CMD_Y", "the text of Y\n")
    box.write("one/.directives/AGENTS.md", "rules of one: do §CMD_Y\n")
    box.sim.start()
    box.sim.prompt("one")
    box.sim.read("one/f.py")
    undone = box.sim.prompt("two")  # brings Y
    assert any(path.endswith("CMD_Y.md") for path, *_ in undone.titles)
    idle(box)
    box.sim.rewind(undone)
    box.sim.prompt("three")
    idle(box)
    idle(box)
    assert [count for (path, *_), count in box.sim.copies().items() if path.endswith("CMD_Y.md")] == [1]


def test_a_mention_after_a_rewind_in_a_window_that_was_adopted(make_box: Make) -> None:
    """A mention has no call, and neither has a file that was found in the transcript: they are not one moment."""
    box = make_box()
    box.sim.start()
    box.sim.prompt("one")
    idle(box)
    undone = box.sim.prompt("two")
    box.sim.read("one/f.py")
    idle(box)
    (box.state_folder / ".windows" / f"{box.sim.session}.jsonl").unlink()
    idle(box)
    box.sim.rewind(undone)
    box.sim.prompt("three")
    box.sim.answer("yes")
    box.sim.prompt("four: @two/f.py")
    box.sim.read("one/f.py")
    idle(box)
    assert_once(box, "main", "one", "two")


@pytest.mark.parametrize("case", ["queued", "interrupted", "made good"])
def test_rules_of_a_call_before_the_rewind_that_came_after_it(make_box: Make, case: str) -> None:
    box = make_box()
    big = "".join(f"line {number:04} of one {'x' * 60}\n" for number in range(400))
    box.write("one/.directives/AGENTS.md", big if case == "queued" else "rules of one\n")
    box.sim.start()
    box.sim.prompt("one")
    usual = box.hooks
    if case == "made good":
        box.hooks = nothing
    box.sim.read("one/f.py")
    box.hooks = usual
    if case == "made good":
        box.sim.fail("PostToolBatch")
    undone = box.sim.prompt("two")
    idle(box)
    box.sim.rewind(undone)
    box.sim.prompt("three")
    for _ in range(6):
        idle(box)
    seen = "".join(text for _, text in box.sim.views["main"])
    assert [seen.count(line) for line in (big if case == "queued" else "rules of one").splitlines()] == [1] * (
        400 if case == "queued" else 1
    )


def test_a_line_that_refers_to_a_text_and_the_text_itself(make_box: Make) -> None:
    """A compaction keeps the line and not the text; then the text is delivered under the same title, once."""
    box = make_box()
    for name in ("one", "two"):
        box.write(f"{name}/.directives/AGENTS.md", "THE-RULE\n")
    box.sim.start()
    box.sim.read("one/f.py")
    box.sim.read("two/f.py")
    box.sim.compact()
    box.sim.read("two/f.py")
    for _ in range(6):
        idle(box)
    assert sum(text.count("THE-RULE") for _, text in box.sim.views["main"]) == 1


def test_a_rule_that_the_agent_opens_itself(make_box: Make) -> None:
    box = make_box()
    box.sim.start()
    assert names(box.sim.read("one/.directives/AGENTS.md")) == []
    assert names(box.sim.read("one/f.py")) == []
    box.write("one/.directives/AGENTS.md", "new rules of one, longer than before\n")
    assert "new rules" in "".join([*box.sim.prompt("x").texts, *box.sim.read("one/f.py").texts])
    part = ("Read", {"file_path": str(box.project / "two/.directives/AGENTS.md"), "limit": 1})
    assert names(box.sim.batch(part)) == ["two"]


def test_one_rewind_is_logged_once(make_box: Make) -> None:
    box = make_box()
    box.sim.start()
    box.sim.prompt("one")
    idle(box)
    undone = box.sim.prompt("two")
    box.sim.read("one/f.py")
    idle(box)
    box.sim.rewind(undone)
    box.sim.prompt("three")
    new = {"file_path": str(box.project / "new.py"), "content": "x"}
    box.sim.batch(("Write", new), ("Write", {**new, "file_path": str(box.project / "other.py")}))
    idle(box)
    assert len(box.log("new-epoch")) == 1 and len(box.log("lost")) == 1


# --- where the client was started -------------------------------------------------------------------


@pytest.mark.parametrize("mark", [".git", ".handbill.toml"])
def test_a_client_that_is_started_in_a_subfolder(make_box: Make, mark: str) -> None:
    """The rules and the context of the whole repository count, and commands see the window from everywhere."""
    box = make_box()
    (box.project / mark).touch()
    box.write(".directives/INVARIANTS.md", "rules of the root\n")
    box.write(".context/TASKS.md", "tasks of the project\n")
    box.environ["CLAUDE_PROJECT_DIR"] = str(box.project / "one")
    box.sim.start()
    box.sim.read("two/f.py")
    idle(box)
    seen = "".join(text for _, text in box.sim.views["main"])
    assert all(seen.count(words) == 1 for words in ("rules of the root", "tasks of the project", "rules of two"))
    for folder in ("", "one", "two"):
        done = box.process(f"cd {box.project / folder} && engine window", CLAUDE_CODE_SESSION_ID="")
        assert "two/.directives/AGENTS.md" in done.stdout, (folder, done.stdout, done.stderr)


def test_what_was_unpacked_below_a_project_is_not_a_part_of_it(make_box: Make) -> None:
    box = make_box()
    box.write(".directives/INVARIANTS.md", "rules of the root\n")
    box.environ["CLAUDE_PROJECT_DIR"] = str(box.project / "one")  # only a folder `.claude` is above it
    box.sim.start()
    box.sim.read("one/f.py")
    assert "rules of the root" not in "".join(text for _, text in box.sim.views["main"])
