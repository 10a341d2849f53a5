"""After a compaction a window has what it must have, assert_once; the other windows are left alone."""

from __future__ import annotations

from sandbox import ALMOST_FULL, COMPACTION, STANDARDS, Sandbox, assert_absent, assert_once, copies
from talk import Talk

from conftest import Make
from handbill.lab.live_client import Reply, Script, say

MARKS = "MARK-ONE", "MARK-TWO"


def two_directories(box: Sandbox) -> None:
    for name, mark in zip(("one", "two"), MARKS):
        box.write(f"{name}/.directives/AGENTS.md", f"{mark}\n")
        box.write(f"{name}/f.py", "x\n")


def test_compaction_of_main(make: Make, version: str) -> None:
    box = make(version)
    two_directories(box)
    run = box.run(
        box.read("one/f.py"),
        Reply([box.read("two/f.py")], input_tokens=ALMOST_FULL),  # the client compacts after this batch
        box.bash("echo 1"),
        box.read("two/f.py"),
        box.read("one/f.py"),
        box.bash("echo 2"),
        "done",
        env=COMPACTION,
    )
    requests = run.of()
    assert any(request.is_summary for request in run.requests)
    after = [request for request in requests if "THE SUMMARY" in request.text]
    assert_once(after[0], *STANDARDS, "MARK-TWO")  # two: its batch is the tail that the client keeps
    assert_absent(after[0], "MARK-ONE")
    for request in after[:3]:
        assert_once(request, *STANDARDS, "MARK-TWO")  # touched again: not delivered again
    assert_once(after[-1], *STANDARDS, *MARKS)  # touched again after it was gone: back, assert_once
    resumed = box.run(box.read("one/f.py"), box.read("two/f.py"), "done", args=("--resume", run.session))
    assert_once(resumed.of()[-1], *STANDARDS, *MARKS)


def test_two_compactions(make: Make, version: str) -> None:
    box = make(version)
    two_directories(box)
    full = {"input_tokens": ALMOST_FULL}
    run = box.run(
        box.bash("echo 0"), Reply([box.read("one/f.py")], **full), box.bash("echo 1"), box.bash("echo 2"),
        Reply([box.bash("echo full")], **full),
        box.bash("echo 3"), box.read("one/f.py"), box.bash("echo 4"), "done", env=COMPACTION,
    )  # fmt: skip
    assert sum(request.is_summary for request in run.requests) == 2
    assert_once(run.of()[-1], *STANDARDS, "MARK-ONE")


def test_requests_that_are_refused_as_too_long(make: Make, version: str) -> None:
    """The client compacts then, too, but newer ones keep several turns, with what the last compaction brought."""
    box = make(version)
    two_directories(box)
    too_long = Reply([say("no")], refused="prompt is too long: 210000 tokens > 200000 maximum")
    box.client.model.script = Script([
        box.read("one/f.py"), "first", box.bash("echo 2"), "second", too_long, box.read("two/f.py"), "third",
        box.bash("echo 4"), "fourth", too_long, box.bash("echo 5"), "fifth", box.read("one/f.py"), box.bash("echo 6"), "sixth",
    ])  # fmt: skip
    talk = Talk(box)
    for number in range(1, 7):
        talk.say(f"turn {number}")
    talk.close()
    requests = [r for r in box.client.model.requests if r.body.get("tools") and not r.is_summary]
    assert "THE SUMMARY" in requests[-1].text
    for request in requests:
        assert max(copies(request, *STANDARDS, *MARKS).values()) <= 1
    assert_once(requests[-1], *STANDARDS, "MARK-ONE")


def test_manual_compaction(make: Make, version: str) -> None:
    box = make(version)
    two_directories(box)
    box.client.model.script = Script([box.read("one/f.py"), "turn ends", box.read("one/f.py"), box.bash(), "done"])
    talk = Talk(box)
    talk.say("go")
    talk.say("/compact")
    talk.say("go on")
    talk.close()
    requests = [r for r in box.client.model.requests if r.body.get("tools") and not r.is_summary]
    assert_once(requests[-1], *STANDARDS, "MARK-ONE")


def test_compaction_inside_a_subagent_leaves_main_alone(make: Make, version: str) -> None:
    box = make(version)
    two_directories(box)
    run = box.run(
        box.read("one/f.py"), box.agent(), box.read("one/f.py"), box.read("two/f.py"), box.bash(), "done",
        agent=(
            box.read("one/f.py"), Reply([box.bash("echo s1")], input_tokens=ALMOST_FULL), box.bash("echo s2"),
            box.read("one/f.py"), box.bash("echo s3"), "sub done",
        ),
        env=COMPACTION,
    )  # fmt: skip
    for request in run.of()[1:]:
        assert_once(request, *STANDARDS, "MARK-ONE")
    assert_once(run.of()[-1], "MARK-TWO")
    agent = run.of(None)
    assert "THE SUMMARY" in agent[-1].text
    assert_once(agent[1], "MARK-ONE", "# Invariants\n")
    assert_once(agent[-1], "MARK-ONE", "# Invariants\n")  # gone with the compaction, back with the next touch


def test_compaction_of_main_leaves_a_subagent_alone(make: Make, version: str) -> None:
    """The subagent worked before; main compacts; the subagent is another window."""
    box = make(version)
    two_directories(box)
    run = box.run(
        box.agent(), box.read("one/f.py"), Reply([box.bash("echo 1")], input_tokens=ALMOST_FULL), box.bash("echo 2"),
        box.agent(), box.read("one/f.py"), box.bash("echo 3"), "done",
        agent=(box.read("one/f.py"), "sub one", box.read("one/f.py"), box.bash(), "sub two"),
        env=COMPACTION,
    )  # fmt: skip
    assert_once(run.of()[-1], *STANDARDS, "MARK-ONE")
    for request in run.of(None):
        found = request.text.count("MARK-ONE")
        assert found <= 1
    assert_once(run.of(None)[-1], "MARK-ONE", "# Invariants\n")
