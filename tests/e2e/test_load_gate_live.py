"""The context-load gate on the real client: what the model was sent is the only truth."""

from __future__ import annotations

import json

from sandbox import ALMOST_FULL, COMPACTION, NEW, STANDARDS, Sandbox, assert_absent, assert_once
from talk import Talk

from conftest import Make
from handbill.gates import CONTEXT_FILES
from handbill.lab.live_client import Reply, Run, Script

TAKE_TURNS = True

MARKS = tuple(f"MARK-{name[:-3]}" for name in CONTEXT_FILES)
HELD = "[Held by Handbill]"
DIRECTED = "working context is not in this window yet"


def context(box: Sandbox, install: bool = True, **settings: object) -> Sandbox:
    for name, mark in zip(CONTEXT_FILES, MARKS):
        box.write(f".context/{name}", f"# {name}\n{mark}\n")
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    box.write(".handbill.toml", "[load_gate]\n" + "\n".join(lines) + "\n")
    if install:
        box.engine("install", "--project", str(box.project))
    return box


def read_all(box: Sandbox) -> list[dict[str, object]]:
    return [box.read(f".context/{name}") for name in CONTEXT_FILES]


def test_delivered_before_the_agent_acts_and_never_again(make: Make, version: str) -> None:
    box = context(make(version))
    run = box.run([box.bash(), box.read("a.py"), box.bash()], box.bash(), "done")
    for request in run.of():
        assert_once(request, *MARKS, *STANDARDS, "6 of 6 files")
    resumed = box.run(box.bash(), "done", args=("--resume", run.session))
    assert_once(resumed.of()[-1], *MARKS, "6 of 6 files")
    fork = box.run(box.bash(), box.bash(), "done", args=("--resume", run.session, "--fork-session"))
    assert_once(fork.of()[-1], *MARKS, "6 of 6 files")
    status = box.engine("gate", "status", run.session)["data"]["gates"][0]
    assert {one["state"] for one in status["files"]} == {"in the window"}


def test_delivered_again_after_a_compaction_in_the_middle_of_a_batch(make: Make, version: str) -> None:
    box = context(make(version))
    run = box.run(
        box.bash(), Reply([box.bash("echo 1"), box.read("a.py"), box.bash("echo 2")], input_tokens=ALMOST_FULL),
        [box.bash("echo 3"), box.bash("echo 4")], box.bash(), "done", env=COMPACTION,
    )  # fmt: skip
    after = [request for request in run.of() if "THE SUMMARY" in request.text]
    assert len(after) >= 3
    for request in after:
        assert_once(request, *MARKS, "6 of 6 files")


def test_a_session_of_one_call_and_one_of_none(make: Make, version: str) -> None:
    box = context(make(version))
    assert_once(box.run(box.bash(), "done").of()[0], *MARKS)
    assert_once(box.run("no call at all").of()[0], *MARKS)


def test_what_does_not_fit_is_listed(make: Make, version: str) -> None:
    box = context(make(version), install=False)
    box.write(".context/TASKS.md", "MARK-TASKS\n" + "word " * 12_000 + "END-TASKS")
    box.engine("install", "--project", str(box.project))
    run = box.run(box.bash(), "done")
    assert_absent(run.of()[-1], "MARK-TASKS", "END-TASKS")
    assert (
        "1 file does not fit into the budget and was not delivered:" in run.of()[0].text
        and box.path(".context/TASKS.md") in run.of()[0].text
    )
    assert_once(run.of()[0], "MARK-AGENT_PLAYBOOK")


def test_directed_with_the_first_results(make: Make, version: str) -> None:
    box = context(make(version), mode="direct")
    run = box.run([box.bash(), box.bash("echo 2"), box.read("a.py")], read_all(box), box.bash(), box.bash(), "done")
    assert_absent(run.of()[0], DIRECTED)
    for request in run.of()[1:]:
        assert_once(request, DIRECTED)
    assert all(box.path(f".context/{name}") in run.of()[1].text for name in CONTEXT_FILES)
    assert_once(box.run(box.bash(), "done", args=("--resume", run.session)).of()[-1], DIRECTED)
    ignored = box.run(box.bash(), box.bash(), box.bash(), "done")
    assert_once(ignored.of()[-1], DIRECTED)
    window = box.engine("window", ignored.session)["data"]["context"]
    assert {one["state"] for one in window} == {"not read"}, "a model that ignores it, on record"
    assert {one["state"] for one in box.engine("window", run.session)["data"]["context"]} == {"read"}


def test_the_agent_confirms_what_it_loaded(make: Make, version: str) -> None:
    box = context(make(version), mode="direct", wording="mandatory")
    said = {"type": "text", "text": "Context Loaded\n- Read: CONSTITUTION.md\n- Skipped: the rest, too long"}
    run = box.run(box.bash(), [said, box.read(".context/CONSTITUTION.md")], box.bash(), "done")
    assert_once(run.of()[1], "STOP. Read your 6 context files before proceeding", "- Skipped: [files that")
    load = box.engine("gate", "status", run.session)["data"]["gates"][0]
    assert load["said"] == {"read": "CONSTITUTION.md", "skipped": "the rest, too long"}
    assert load["state"] == "5 of 6 files not read yet", "what it says is recorded beside what it did"


def denials(run: Run) -> list[int]:
    return [request.text.count(HELD) for request in run.of()]


def test_required_denied_then_retried(make: Make, version: str) -> None:
    box = context(make(version), mode="require")
    shows = " ".join(f".context/{name}" for name in CONTEXT_FILES)
    run = box.run(
        [box.bash(f"cat {shows}; touch no-1"), box.bash("touch no-2")], box.bash("touch no-3"), read_all(box),
        [box.bash("touch ran-1"), box.bash("touch ran-2")], box.bash(), "done",
    )  # fmt: skip
    assert denials(run) == [0, 2, 3, 3, 3, 3], "both first calls, then one, and never again"
    assert not list(box.project.glob("no-*")), "a call that was held has shown nothing"
    assert all(box.path(f".context/{name}") in run.of()[1].text for name in CONTEXT_FILES)
    assert (box.project / "ran-1").exists() and (box.project / "ran-2").exists()
    resumed = box.run(box.bash(), "done", args=("--resume", run.session))
    assert denials(resumed)[-1] == 3
    fork = box.run(box.bash(), box.bash(), "done", args=("--resume", run.session, "--fork-session"))
    assert denials(fork)[-1] == 3, "what the parent read is in the fork"


def test_required_and_ignored(make: Make, version: str) -> None:
    box = context(make(version), mode="require", denials=2)
    run = box.run(box.bash("touch no-1"), box.bash("touch no-2"), box.bash("touch yes"), box.bash(), "done")
    assert denials(run) == [0, 1, 2, 2, 2]
    assert_once(run.of()[-1], "no longer holds calls")
    assert (
        not (box.project / "no-1").exists() and not (box.project / "no-2").exists() and (box.project / "yes").exists()
    )
    assert any("held messages: 2" in line for line in box.traces())


def test_required_with_a_compaction_while_it_holds(make: Make, version: str) -> None:
    box = context(make(version), mode="require")
    run = box.run(
        box.bash("echo 0"), Reply([box.bash("echo 1")], input_tokens=ALMOST_FULL), box.bash("echo 2"), read_all(box),
        box.bash("touch ran"), "done", env=COMPACTION,
    )  # fmt: skip
    assert any("THE SUMMARY" in request.text for request in run.of())
    assert (box.project / "ran").exists()
    assert run.of()[-1].text.count(HELD) == 2, "in the kept message, and once more in the new window"


def test_a_subagent_is_another_window(make: Make) -> None:
    box = context(make(NEW), mode="require", subagents="require")
    run = box.run(
        read_all(box), box.agent(), box.bash(), "done",
        agent=(box.bash(), read_all(box), box.bash("touch sub"), "sub done"),
    )  # fmt: skip
    assert denials(run)[-1] == 0
    assert run.of(None)[-1].text.count(HELD) == 1 and (box.project / "sub").exists()


def test_two_turns_of_one_process(make: Make, version: str) -> None:
    box = context(make(version), mode="direct")
    box.client.model.script = Script(["no call", box.bash(), "one", box.bash(), "two"])
    talk = Talk(box)
    for prompt in ("hello", "go", "go on"):
        talk.say(prompt)
    talk.close()
    requests = [request for request in box.client.model.requests if request.body.get("tools")]
    assert_absent(requests[1], DIRECTED)
    assert_once(requests[-1], DIRECTED)
