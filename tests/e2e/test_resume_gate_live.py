"""Auto-resume and handovers on the real client."""

from __future__ import annotations

import json
import os
import re
from typing import Any

from sandbox import ALMOST_FULL, COMPACTION, STANDARDS, Sandbox, assert_absent, assert_once
from talk import Talk

from conftest import Make
from handbill.lab.live_client import Block, Reply, Request, Script

TAKE_TURNS = True

HOME = "02-projects/24-login"
MARKS = ("MARK-RESUME", "MARK-OVERVIEW", "MARK-STEPS")
CONTEXT = {
    "summary": "MARK-SUMMARY", "lastAction": "MARK-LAST", "nextSteps": ["MARK-NEXT"], "handoverInstructions": "MARK-HOW",
    "userHistory": "MARK-USER", "requiredFiles": ["src/kept.md", "gone.md"],
}  # fmt: skip


def project(box: Sandbox, files: str = "[01-planning/overview.md, 01-planning/steps.md]") -> Sandbox:
    head = (
        f"---\ncurrent_phase: execution\ncurrent_task: 15\nfiles_to_load: {files}\nnext_action: execute-project\n---\n"
    )
    box.write(f"{HOME}/01-planning/_resume.md", head + "MARK-RESUME\n")
    box.write(f"{HOME}/01-planning/overview.md", "MARK-OVERVIEW\n")
    box.write(f"{HOME}/01-planning/steps.md", "MARK-STEPS\n")
    box.write(f"{HOME}/code.py", "x\n")
    box.write(f"{HOME}/more.py", "x\n")
    box.engine("install", "--project", str(box.project))
    return box


def full(*blocks: Block) -> Reply:
    return Reply(list(blocks), input_tokens=ALMOST_FULL)


def work(box: Sandbox) -> list[Any]:
    return [box.read(f"{HOME}/code.py"), box.read(f"{HOME}/more.py"), full(box.bash("echo 1"))]


def mode(request: Request) -> dict[str, Any]:
    found = re.findall(r"^resume_mode: (.*)$", request.text, re.M)
    assert len(found) == 1, found
    answer: dict[str, Any] = json.loads(found[0])
    return answer


def after(run: Any) -> list[Request]:
    return [request for request in run.of() if "THE SUMMARY" in request.text]


def test_the_work_is_handed_over_once(make: Make, version: str) -> None:
    box = project(make(version))
    run = box.run(*work(box), [box.bash("echo 2"), box.bash("echo 3")], box.bash(), "done", env=COMPACTION)
    assert_absent(run.of()[0], "resume_mode")
    for request in after(run):
        assert_once(request, *MARKS, *STANDARDS)
        assert mode(request) | {"active": True, "project_id": "24-login", "confidence": "high"} == mode(request)
    text = after(run)[0].text
    for fact in (
        "phase execution",
        "task 15",
        "of 3 files that you need are",
        "1. What problem",
        "[ ] the current task is clear",
        "Next step: execute-project.",
        f"- {HOME}/01-planning/_resume.md",
    ):
        assert fact in text, fact
    resumed = box.run(box.bash(), "done", args=("--resume", run.session))
    assert_once(resumed.of()[-1], *MARKS, "resume_mode")
    fork = box.run(box.bash(), box.bash(), "done", args=("--resume", run.session, "--fork-session"))
    assert_once(fork.of()[-1], *MARKS, "resume_mode")


def test_each_of_two_compactions_hands_over(make: Make, version: str) -> None:
    box = project(make(version))
    run = box.run(
        *work(box), box.bash("echo 2"), full(box.bash("echo 3")), box.bash("echo 4"), box.bash(), "done", env=COMPACTION
    )
    assert sum(request.is_summary for request in run.requests) == 2
    assert_once(run.of()[-1], *MARKS, "resume_mode")


def test_a_large_handover_is_whole_or_listed(make: Make, version: str) -> None:
    box = project(make(version), "[big.md, huge.md, 01-planning/steps.md]")
    box.write(f"{HOME}/big.md", "BEGIN-BIG\n" + "word " * 9_000 + "\nEND-BIG\n")
    box.write(f"{HOME}/huge.md", "BEGIN-HUGE\n" + "word " * 60_000 + "\nEND-HUGE\n")
    run = box.run(*work(box), box.bash("echo 2"), box.bash("echo 3"), "done", env=COMPACTION)
    first = after(run)[0]
    assert_once(first, "BEGIN-BIG", "END-BIG", "MARK-STEPS", "MARK-RESUME")
    assert_absent(run.of()[-1], "BEGIN-HUGE", "END-HUGE")
    assert re.search(r"huge\.md \(about [\d,]+ tokens\)", first.text), "listed as left out"
    assert "persisted-output" not in first.text


def test_sixty_thousand_characters_arrive_whole_before_the_agent_acts(make: Make, version: str) -> None:
    box = project(make(version), "[a.md, b.md]")
    for name in ("a", "b"):
        box.write(f"{HOME}/{name}.md", f"BEGIN-{name}\n" + "word " * 5_900 + f"\nEND-{name}\n")
    run = box.run(*work(box), box.bash("echo 2"), "done", env=COMPACTION)
    assert_once(after(run)[0], "BEGIN-a", "END-a", "BEGIN-b", "END-b", *STANDARDS)


def test_bad_resume_files_are_said(make: Make, version: str) -> None:
    box = project(make(version), '["../../etc/passwd", "/etc/shadow", 01-planning/steps.md, gone.md]')
    run = box.run(*work(box), box.bash("echo 2"), "done", env=COMPACTION)
    request = after(run)[-1]
    assert_once(request, "MARK-STEPS")
    assert "root:" not in request.text and len(mode(request)["problems"]) == 3
    assert any("/etc/shadow" in line for line in box.traces())
    box.write(f"{HOME}/01-planning/_resume.md", "---\nfiles_to_load:\n\t- x\n---\n")
    run = box.run(*work(box), box.bash("echo 2"), "done", env=COMPACTION)
    assert mode(after(run)[-1])["active"] is False and "line 3" in mode(after(run)[-1])["error"]
    assert any("line 3" in line for line in box.traces())


def test_low_confidence_resumes_nothing(make: Make, version: str) -> None:
    box = project(make(version))
    os.utime(box.path(f"{HOME}/01-planning/_resume.md"), (1000, 1000))
    run = box.run(box.bash("echo 24-login"), full(box.bash("echo 1")), box.bash("echo 2"), "done", env=COMPACTION)
    assert_absent(after(run)[-1], *MARKS)
    assert_absent(after(run)[-1], "resume_mode")
    gate = box.engine("gate", "status", run.session)["data"]["gates"][2]
    assert "the confidence is low" in gate["state"]


def test_a_subagents_compaction_resumes_nothing(make: Make, version: str) -> None:
    box = project(make(version))
    run = box.run(
        box.read(f"{HOME}/code.py"), box.read(f"{HOME}/more.py"), box.agent(), box.bash(), box.bash(), "done",
        agent=(box.bash("echo s0"), full(box.bash("echo s1")), box.bash("echo s2"), "sub done"), env=COMPACTION,
    )  # fmt: skip
    assert "THE SUMMARY" in run.of(None)[-1].text
    for request in (run.of()[-1], run.of(None)[-1]):
        assert_absent(request, "resume_mode", "MARK-RESUME")
    resumed = box.run(box.bash(), "done", args=("--resume", run.session))
    assert_absent(resumed.of()[-1], "resume_mode")


def test_a_session_that_was_set_down_is_taken_up_by_the_next_start(make: Make, version: str) -> None:
    box = make(version)
    box.skill("fix", ("0", ("CMD_ONE",)))
    box.write("src/kept.md", "MARK-KEPT\n")
    context = json.dumps(CONTEXT).replace("'", "")
    run = box.run(
        box.session("activate LOGIN fix"), box.session("dehydrate LOGIN", f"echo '{context}' | "), "done",
    )  # fmt: skip
    assert "Handover saved" in run.of()[-1].text
    marks = ("MARK-LAST", "MARK-NEXT", "MARK-HOW", "MARK-USER", "MARK-KEPT")
    taken = box.run(box.session("continue LOGIN"), box.bash(), "done")
    assert_once(taken.of()[0], *marks, "MARK-SUMMARY", "engine session continue LOGIN", "gone.md does not exist")
    assert "Session continued" in taken.of()[-1].text and "PAGE-CMD_ONE" in taken.of()[-1].text
    assert_once(taken.of()[-1], *marks)
    assert_absent(box.run("nothing").of()[0], *marks)


def test_a_session_that_was_set_down_survives_clear(make: Make, version: str) -> None:
    box = make(version)
    box.skill("fix", ("0", ("CMD_ONE",)))
    context = json.dumps({"summary": "MARK-SUMMARY", "nextSteps": ["MARK-NEXT"]})
    box.client.model.script = Script(
        [box.session("activate LOGIN fix"), box.session("dehydrate", f"echo '{context}' | "), "one", box.bash(), "two"]
    )
    talk = Talk(box)
    for prompt in ("go", "/clear", "go on"):
        talk.say(prompt)
    talk.close()
    requests = [r for r in box.client.model.requests if r.body.get("tools")]
    assert_once(requests[-1], "MARK-SUMMARY", "MARK-NEXT")
