"""Re-reading after a compaction on the real client: roles, the held first message, the failsafe, workers."""

from __future__ import annotations

import json
import shlex
import subprocess

from sandbox import ALMOST_FULL, COMPACTION, NEW, Sandbox, assert_absent, assert_once
from talk import Talk

from conftest import Make
from handbill.lab.live_client import Block, Reply, Script, call

TAKE_TURNS = True

HELD = "[Held by Handbill]"
DISPATCH = "# Login\nStatus: in-progress\n\n## Task\nMARK-TASK\n\n## Progress\n- MARK-PROGRESS\n"
LISTED = "The role handler still needs 1 file:"


def handler(box: Sandbox, state: str = "MARK-STATE\n") -> Sandbox:
    box.write("handler-state.md", state)
    box.write("docs/handler-dispatches/login.md", DISPATCH)
    box.skill("handler", text="handles")
    box.engine("install", "--project", str(box.project))
    return box


def full(*blocks: Block) -> Reply:
    return Reply(list(blocks), input_tokens=ALMOST_FULL)


def test_a_handler_has_its_files_again(make: Make, version: str) -> None:
    box = handler(make(version))
    run = box.run(
        box.bash("echo 0"), full(box.bash("echo 1")), [box.bash("touch ran-1"), box.bash("touch ran-2")], box.bash(), "done",
        prompt="/handler", env=COMPACTION,
    )  # fmt: skip
    after = [request for request in run.of() if "THE SUMMARY" in request.text]
    assert_absent(run.of()[0], "MARK-STATE", "MARK-TASK")
    for request in after:
        assert_once(request, "MARK-STATE", "MARK-TASK", "MARK-PROGRESS", "role is handler")
    assert_absent(run.of()[-1], HELD)
    assert (box.project / "ran-1").exists()
    resumed = box.run(box.bash(), "done", args=("--resume", run.session))
    assert_once(resumed.of()[-1], "MARK-STATE", "MARK-TASK", "role is handler")
    fork = box.run(box.bash(), box.bash(), "done", args=("--resume", run.session, "--fork-session"))
    assert_once(fork.of()[-1], "MARK-STATE", "MARK-TASK", "role is handler")


def test_what_does_not_fit_holds_the_first_message_once(make: Make, version: str) -> None:
    box = handler(make(version), "MARK-STATE\n" + "word " * 20_000)
    first = [box.bash("touch no-1"), box.bash("touch no-2")]
    again = [box.bash("touch yes-1"), box.bash("touch yes-2")]
    run = box.run(box.bash(), full(box.bash("echo 1")), first, box.read("handler-state.md"), again, box.bash(), "done",
                  prompt="/handler", env=COMPACTION)  # fmt: skip
    assert_once(run.of()[-1], LISTED, "MARK-TASK")
    assert run.of()[-1].text.count(HELD) == 2, "both calls of that message, and none after it"
    assert not (box.project / "no-1").exists() and not (box.project / "no-2").exists()
    assert (box.project / "yes-1").exists() and (box.project / "yes-2").exists()
    assert_once(box.run(box.bash(), "done", args=("--resume", run.session)).of()[-1], LISTED)


def test_a_model_that_ignores_it(make: Make, version: str) -> None:
    box = handler(make(version), "MARK-STATE\n" + "word " * 20_000)
    run = box.run(box.bash(), full(box.bash("echo 1")), box.bash("touch no"), box.bash("touch yes"), box.bash(), "done",
                  prompt="/handler", env=COMPACTION)  # fmt: skip
    assert_once(run.of()[-1], LISTED, HELD)
    assert not (box.project / "no").exists() and (box.project / "yes").exists()


def test_a_turn_without_calls(make: Make, version: str) -> None:
    """The failsafe: the agent wants to rest without having read anything."""
    box = handler(make(version), "MARK-STATE\n" + "word " * 20_000)
    run = box.run(box.bash(), full(box.bash("echo 1")), "that is all", "now it is", prompt="/handler", env=COMPACTION)
    stop = "because the role handler still needs 1 file:"
    last = run.of()[-1]
    assert stop in last.text and box.path("handler-state.md") in last.text
    assert sum(stop in request.text for request in run.of()) == 1, "one more request, then it rests"
    after = box.run(box.bash("touch yes"), "done", args=("--resume", run.session))
    assert (box.project / "yes").exists() and HELD not in after.of()[-1].text


def test_a_regular_session_is_left_alone(make: Make, version: str) -> None:
    box = handler(make(version), "MARK-STATE\n" + "word " * 20_000)
    run = box.run(box.bash(), full(box.bash("echo 1")), box.bash("touch yes"), "done", env=COMPACTION)
    assert_absent(run.of()[-1], HELD, "MARK-TASK", "role is")
    assert (box.project / "yes").exists() and any("THE SUMMARY" in request.text for request in run.of())


def test_a_subagents_compaction_is_not_the_handlers(make: Make, version: str) -> None:
    box = handler(make(version), "MARK-STATE\n" + "word " * 20_000)
    run = box.run(
        box.bash(), box.agent(), box.bash("touch yes"), box.bash(), "done",
        agent=(box.bash("echo s0"), full(box.bash("echo s1")), box.bash("touch sub"), box.bash(), "sub done"),
        prompt="/handler", env=COMPACTION,
    )  # fmt: skip
    assert "THE SUMMARY" in run.of(None)[-1].text
    for request in (run.of()[-1], run.of(None)[-1]):
        assert_absent(request, HELD, "MARK-TASK", "role is")
    assert (box.project / "yes").exists() and (box.project / "sub").exists()


def test_the_handlers_own_compaction_after_a_subagent_worked(make: Make, version: str) -> None:
    """An old client does not say whose compaction it was: its own record does, one message later."""
    box = handler(make(version))
    run = box.run(
        box.agent(), box.bash("echo 0"), full(box.bash("echo 1")), box.bash("echo 2"), box.bash("echo 3"), box.bash(), "done",
        agent=(box.bash("echo s0"), "sub done"), prompt="/handler", env=COMPACTION,
    )  # fmt: skip
    assert any("THE SUMMARY" in request.text for request in run.of())
    assert_once(run.of()[-1], "MARK-STATE", "MARK-TASK", "role is handler")


def test_two_compactions_with_the_gate_between_them(make: Make, version: str) -> None:
    box = handler(make(version), "MARK-STATE\n" + "word " * 20_000)
    run = box.run(
        box.bash(), full(box.bash("echo 1")), full(box.bash("touch held-1")), box.bash("touch held-2"), box.bash("touch yes"),
        box.bash(), "done", prompt="/handler", env=COMPACTION,
    )  # fmt: skip
    assert sum(request.is_summary for request in run.requests) == 2
    assert not (box.project / "held-1").exists() and (box.project / "yes").exists()
    assert_once(run.of()[-1], "MARK-TASK")


def test_a_manual_compaction_with_a_role_that_was_set(make: Make, version: str) -> None:
    box = make(version)
    box.write("lead.md", "MARK-LEAD\n")
    box.write(".handbill.toml", '[roles.lead]\ntargets = ["lead.md"]\n')
    box.engine("install", "--project", str(box.project))
    box.client.model.script = Script([box.bash("engine role set lead"), "one", box.bash(), "two"])
    talk = Talk(box)
    for prompt in ("go", "/compact", "go on"):
        talk.say(prompt)
    talk.close()
    requests = [r for r in box.client.model.requests if r.body.get("tools") and not r.is_summary]
    assert_once(requests[-1], "MARK-LEAD", "role is lead")


def test_a_worker_is_launched_with_its_own_hooks(make: Make, version: str) -> None:
    """Nothing of the repository is changed; the contract stands outside of it."""
    box = make(version, install=False)
    dispatch = box.home / "tickets" / "login.md"
    dispatch.parent.mkdir()
    dispatch.write_text(DISPATCH)
    launched = box.engine(
        "worker",
        "launch",
        "w1",
        str(box.project),
        "Do the work.",
        str(dispatch),
        "--with=-p --dangerously-skip-permissions",
    )["data"]
    assert not (box.project / ".claude").exists() and not (box.project / "sessions").exists()
    box.client.model.script = Script([
        box.bash(f"engine dispatch progress {shlex.quote(str(dispatch))} 'MARK-NEW'"), full(box.bash("echo 1")),
        call("Read", file_path=str(dispatch)), box.bash("touch yes"), "done",
    ])  # fmt: skip
    words = [box.client.binary, *launched["words"][1:]]
    done = subprocess.run(
        words,
        cwd=launched["repo"],
        env={**box.client.environment(), **COMPACTION},
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    requests = [r for r in box.client.model.requests if r.body.get("tools") and not r.is_summary]
    after = [request for request in requests if "THE SUMMARY" in request.text]
    assert_once(after[0], "MARK-TASK", "MARK-PROGRESS", "role is worker")
    assert "MARK-NEW" in after[0].text and "MARK-NEW" in dispatch.read_text()
    assert (box.project / "yes").exists() and not (box.project / "sessions").exists()


def test_a_worker_keeps_its_role_and_contract_across_clear(make: Make, version: str) -> None:
    box = make(version, install=False)
    dispatch = box.home / "tickets" / "login.md"
    dispatch.parent.mkdir()
    dispatch.write_text(DISPATCH)
    words = box.engine("worker", "launch", "w1", str(box.project), "Do the work.", str(dispatch))["data"]["words"]
    box.client.model.script = Script([box.bash(), "one", box.bash("engine gate status --json > status"), "two"])
    talk = Talk(box, *words[1 : words.index("--")])
    for prompt in ("go", "/clear", "go on"):
        talk.say(prompt)
    talk.close()
    first, *_, last = [r for r in box.client.model.requests if r.body.get("tools") and not r.is_summary]
    assert_absent(first, "MARK-TASK", "role is")
    assert_once(last, "MARK-TASK", "MARK-PROGRESS", "Your role is still worker")
    gate = json.loads((box.project / "status").read_text())["data"]["gates"][1]
    assert gate["role"] == "worker" and "install" not in gate["state"]
    assert [row["file"] for row in gate["files"]] == [str(dispatch)]


def test_the_report_of_a_compaction(make: Make, version: str) -> None:
    box = handler(make(version))
    box.write("one/.directives/AGENTS.md", "MARK-ONE\n")
    box.write("one/f.py", "x\n")
    run = box.run(
        box.read("one/f.py"), box.bash("echo 0"), full(box.bash("echo 1")), box.bash("engine compaction restore"), box.bash(),
        "done", prompt="/handler", env=COMPACTION,
    )  # fmt: skip
    assert_once(run.of()[-1], "MARK-ONE")
    found = box.engine("compaction", "report", "--session", run.session)["data"]
    fates = {row["file"]: row["fate"] for row in found["files"]}
    assert fates[box.path("one/.directives/AGENTS.md")] == "delivered again"
    assert fates[box.path("one/f.py")] == "put back by the client"
    assert fates[box.path(".claude/skills/handler/SKILL.md")] == "put back by the client"
    assert box.path("handler-state.md") in found["new"] and found["trigger"] == "auto"


def test_hooks_of_two_places_do_not_deny_twice(make: Make) -> None:
    """A worker's own hooks beside those of the repository: said once, all the same."""
    box = handler(make(NEW), "MARK-STATE\n" + "word " * 20_000)
    settings = json.loads(box.settings().read_text())
    path = box.write("extra.json", json.dumps({"hooks": settings["hooks"]}))
    run = box.run(box.bash(), full(box.bash("echo 1")), box.bash("touch no"), box.bash("touch yes"), "done",
                  prompt="/handler", env=COMPACTION, args=("--settings", str(path)))  # fmt: skip
    assert_once(run.of()[-1], LISTED, HELD, "MARK-TASK")


def test_a_subagent_restores_its_own_window(make: Make, version: str) -> None:
    box = make(version)
    box.write("one/.directives/AGENTS.md", "MARK-ONE\n")
    box.write("one/f.py", "x\n")
    box.write("two/.directives/AGENTS.md", "MARK-TWO\n")
    box.write("two/f.py", "x\n")
    run = box.run(
        box.read("two/f.py"), box.agent(), box.bash(), "done", env=COMPACTION,
        agent=(box.read("one/f.py"), box.bash("echo 0"), full(box.bash("echo 1")),
               box.bash("engine compaction restore > told 2>&1"), box.bash(), "sub done"),
    )  # fmt: skip
    told = (box.project / "told").read_text()
    last = [request for request in run.requests if request.agent and not request.is_summary][-1]
    assert told.startswith("restoring") and box.path("one/.directives/AGENTS.md") in told, told
    assert_once(last, "MARK-ONE", "THE SUMMARY", "# Invariants\n")
    assert_once(run.of()[-1], "MARK-TWO")
    assert_absent(run.of()[-1], "MARK-ONE")
