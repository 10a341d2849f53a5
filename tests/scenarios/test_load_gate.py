"""The context-load gate on the host in a box: each mode, once per window, with what came of it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from handbill.gates import CONTEXT_FILES
from handbill.handlers.load_gate import compliance
from handbill.store.disk import StateUnwritable
from handbill.store.files import FileStore
from simulated_project import SimulatedProject

Make = Callable[..., SimulatedProject]
MARKS = {name: f"MARK-{name[:-3]}" for name in CONTEXT_FILES}


@pytest.fixture
def box(make_project: Make) -> SimulatedProject:
    made = make_project()
    for name, mark in MARKS.items():
        made.write(f".context/{name}", f"# {name}\n{mark}\n")
    made.sim.held_tools = ""
    return made


def settings(box: SimulatedProject, **values: object) -> None:
    lines = [f"{name} = {json.dumps(value)}" for name, value in values.items()]
    box.write(".handbill.toml", "[load_gate]\n" + "\n".join(lines) + "\n")


def counts(box: SimulatedProject, window: str = "main") -> dict[str, int]:
    return {name: box.seen(window).count(mark) for name, mark in MARKS.items()}


def how(box: SimulatedProject) -> dict[str, str]:
    window = FileStore(str(box.state_folder)).read((box.sim.session, "main"))
    assert window is not None
    return {os.path.basename(path): word for path, word in compliance(window)}


def test_delivers_the_files_once_the_most_important_first(box: SimulatedProject) -> None:
    text = "\n".join(box.sim.start().texts)
    assert counts(box) == dict.fromkeys(MARKS, 1)
    places = [text.index(mark) for mark in MARKS.values()]
    assert places == sorted(places) and "6 of 6 files" in text
    for _ in range(3):
        assert box.idle().texts == []
    assert box.sim.prompt("go on").texts == [] and box.sim.start("resume").texts == []
    assert set(how(box).values()) == {"in the window"}


def test_comes_again_after_a_compaction(box: SimulatedProject) -> None:
    box.sim.start()
    box.sim.read("one/f.py")
    box.sim.compact()
    assert counts(box) == dict.fromkeys(MARKS, 1)
    assert box.seen().count("6 of 6 files") == 1


def test_what_does_not_fit_is_listed_whole(box: SimulatedProject) -> None:
    box.write(".context/TASKS.md", "MARK-TASKS\n" + "x" * 60_000)
    box.sim.start()
    text = box.seen()
    assert "MARK-TASKS" not in text and counts(box)["AGENT_PLAYBOOK.md"] == 1, "a later one that fits is given"
    assert (
        "5 of 6 files" in text
        and str(box.project / ".context/TASKS.md") in text
        and "1 file does not fit into the budget and was not delivered:" in text
    )
    assert how(box)["TASKS.md"] == ""
    box.sim.read(".context/TASKS.md")
    assert how(box)["TASKS.md"] == "read"


def test_direct_names_every_file_with_the_first_results_and_never_again(box: SimulatedProject) -> None:
    settings(box, mode="direct")
    assert ".context/" not in "\n".join(box.sim.start().texts)
    first = box.idle().texts[0]
    line = first.split("\n", 1)[1]
    assert (
        "\n" not in line.strip()
        and all(str(box.project / ".context" / name) in line for name in MARKS)
        and "read 6 files:" in line
    )
    for _ in range(3):
        assert box.idle().texts == []
    box.sim.read(*(f".context/{name}" for name in list(MARKS)[:2]))
    assert [name for name, word in how(box).items() if word] == list(MARKS)[:2]


def test_direct_says_nothing_when_all_is_read_in_the_first_message(box: SimulatedProject) -> None:
    settings(box, mode="direct")
    box.sim.start()
    assert box.sim.read(*(f".context/{name}" for name in MARKS)).texts == []
    assert box.idle().texts == []


def test_require_holds_calls_until_all_is_read(box: SimulatedProject) -> None:
    settings(box, mode="require")
    box.sim.start()
    held = box.sim.batch(("Bash", {"command": "make"}))
    assert (
        held.denied.startswith("[Held by Handbill]")
        and "you have not read 6 files of this project's context" in held.denied
        and "Handbill has held 1 message and will hold at most 3." in held.denied
        and held.denied.endswith("Read them, then make the call again.")
        and held.texts == []
    )
    names = list(MARKS)
    assert box.sim.read(*(f".context/{name}" for name in names[:3])).denied == "", "reads of them pass"
    held = box.sim.batch(("Bash", {"command": "make"}))
    assert "you have not read 3 files of" in held.denied and names[0] not in held.denied
    shown = " ".join(f".context/{name}" for name in names[3:])
    assert box.sim.batch(("Bash", {"command": f"cat {shown}"})).denied == "", "so do plain shell reads"
    assert box.sim.batch(("Bash", {"command": "make"})).denied == ""
    assert set(how(box).values()) == {"read"} and box.errors() == []


def test_require_lets_go_and_says_so(box: SimulatedProject) -> None:
    settings(box, mode="require", denials=2)
    box.sim.start()
    assert box.sim.batch(("Bash", {"command": "make"}), ("Glob", {"pattern": "*"})).denied
    last = box.sim.batch(("Bash", {"command": "make"}))
    assert last.denied and "no longer holds calls" in last.texts[0] and "have not read 6 context files" in last.texts[0]
    assert box.sim.batch(("Bash", {"command": "make"})).denied == ""
    assert box.seen().count("no longer holds calls") == 1
    assert "held messages: 2" in box.errors()[0] and last.messages


def test_require_never_waits_for_a_file_that_cannot_be_read(box: SimulatedProject) -> None:
    settings(box, mode="require", files=["TASKS.md", "BINARY.md", "GONE.md", "EMPTY.md"])
    (box.project / ".context/BINARY.md").write_bytes(b"\0\1")
    box.write(".context/EMPTY.md", "")
    box.sim.start()
    assert "you have not read 1 file of" in box.sim.batch(("Bash", {"command": "make"})).denied
    read = {"file_path": str(box.project / ".context/TASKS.md")}
    box.sim.batch(("Read", read, "<tool_use_error>cannot be read</tool_use_error>"))
    assert box.sim.batch(("Bash", {"command": "make"})).denied == ""


def test_without_batches_calls_are_let_through_in_the_end(box: SimulatedProject) -> None:
    """No deadlock, even where the hook that counts never runs."""
    settings(box, mode="require", denials=1)
    box.sim.start()
    one = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "x"}, "tool_use_id": "t"}
    answers = [bool(box.sim.send(dict(one)).denied) for _ in range(70)]
    assert answers == [True] * 64 + [False] * 6


def test_require_falls_back_to_words_where_calls_cannot_be_held(box: SimulatedProject) -> None:
    settings(box, mode="require")
    box.sim.held_tools = "Write"
    box.sim.start()
    assert "Before you continue, read" in box.sim.batch(("Bash", {"command": "make"})).texts[0]
    assert box.sim.batch(("Bash", {"command": "make"})).texts == []


@pytest.mark.parametrize("mode", ["deliver", "direct", "require"])
def test_silent_without_the_folder(make_project: Make, mode: str) -> None:
    box = make_project()
    settings(box, mode=mode)
    box.sim.held_tools = ""
    texts = box.sim.start().texts
    assert ".context/" not in "\n".join(texts)
    first = box.idle()
    assert first.denied == "" and first.texts == []


def test_silent_without_a_session_id(box: SimulatedProject) -> None:
    settings(box, mode="require")
    assert box.sim.send({"hook_event_name": "SessionStart", "source": "startup", "session_id": ""}).texts == []


def test_a_subagent_is_directed(box: SimulatedProject) -> None:
    box.sim.start()
    box.sim.subagent("a1")
    assert "read 6 files" in "\n".join(box.sim.batch(("Bash", {"command": "true"}), agent="a1").texts)
    assert not any(counts(box, "a1").values())
    assert box.sim.batch(("Bash", {"command": "true"}), agent="a1").texts == []


def test_fires_before_the_write_gate(box: SimulatedProject) -> None:
    settings(box, mode="require")
    box.sim.start()
    held = box.sim.write("one/new.py").denied
    assert "of this project's context" in held and "was not written yet" not in held
    box.sim.read(*(f".context/{name}" for name in MARKS))
    assert box.sim.write("one/new.py").denied == "" and box.seen().count("rules of one") == 1, (
        "they came with the results"
    )
    assert "was not written yet" in box.sim.write("two/new.py").denied, "the other one has its turn"


@pytest.mark.parametrize(
    "content, why",
    [
        (b"\0\1\2", "is binary"),
        (b"x" * 5_000_000, "5,000,000 bytes"),
        (b"", "is empty"),
        (b"\xff\xfe\xff", "not UTF-8"),
    ],
    ids=["binary", "5 MB", "empty", "latin"],
)
def test_a_bad_context_file_is_named_and_costs_no_other(box: SimulatedProject, content: bytes, why: str) -> None:
    (box.project / ".context/DECISIONS.md").write_bytes(content)
    box.sim.start()
    assert counts(box) == {**dict.fromkeys(MARKS, 1), "DECISIONS.md": 0}
    assert any("DECISIONS.md" in line and why in line for line in box.seen().splitlines())
    assert any(why in line for line in box.errors())


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_context_file(box: SimulatedProject) -> None:
    (box.project / ".context/DECISIONS.md").chmod(0)
    box.sim.start()
    assert counts(box)["DECISIONS.md"] == 0 and "cannot be read" in box.seen()


def test_a_folder_that_leads_out_is_refused(box: SimulatedProject, tmp_path: Path) -> None:
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    (outside / "TASKS.md").write_text("SECRET")
    settings(box, folder="../elsewhere")
    box.sim.start()
    assert "SECRET" not in box.seen() and any("leads out" in line for line in box.errors())


def test_the_documents_own_words(box: SimulatedProject) -> None:
    settings(box, mode="direct", wording="mandatory")
    box.sim.start()
    text = box.idle().texts[0]
    assert "STOP. Read your 6 context files before proceeding: " in text


def test_lost_words_come_again(box: SimulatedProject) -> None:
    settings(box, mode="direct")
    box.sim.start()
    box.drop_next()
    box.idle()
    box.idle()
    box.idle()
    assert box.seen().count("Before you continue, read") == 1


def test_a_call_is_not_held_if_that_cannot_be_written_down(
    box: SimulatedProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings(box, mode="require")
    box.sim.start()

    def unwritable(*_: object) -> None:
        raise StateUnwritable("no state can be written")

    with monkeypatch.context() as full:
        full.setattr(FileStore, "update", unwritable)
        assert box.sim.batch(("Bash", {"command": "make"})).denied == ""
    assert box.sim.batch(("Bash", {"command": "make"})).denied


@pytest.mark.parametrize("mode", ["direct", "require"])
def test_a_bad_context_file_is_named_in_every_mode(box: SimulatedProject, mode: str) -> None:
    settings(box, mode=mode)
    (box.project / ".context/DECISIONS.md").write_bytes(b"\0")
    box.sim.start()
    assert any("DECISIONS.md is binary" in line for line in box.seen().splitlines())
    box.sim.read(*(f".context/{name}" for name in MARKS if name != "DECISIONS.md"))
    assert box.sim.batch(("Bash", {"command": "make"})).denied == "", "the agent cannot read it either"
    status = json.loads(box.process("engine gate status --json").stdout)["data"]["gates"][0]
    assert {"file": str(box.project / ".context/DECISIONS.md"), "state": "cannot be delivered: it is binary"} in status[
        "files"
    ]
