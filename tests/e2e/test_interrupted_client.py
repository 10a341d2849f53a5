"""A client or a hook dies, or a request fails. Then the session is resumed, and each rule is there once."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from faults import break_hooks
from interrupted import API, BIG, LIB, SLOW, WEB, asked, killed, project, resumed, transcript, until
from sandbox import ALMOST_FULL, COMPACTION, STANDARDS, assert_absent, assert_once
from talk import Talk

from conftest import Make
from handbill.lab.live_client import Reply, Script, call, say

BROKEN = [Reply([say("no")], refused="x")] * 20  # the client tries again and again


@pytest.mark.long
@pytest.mark.parametrize("seconds, pause", [(20, 0), (3, 4)], ids=["much later", "before"])
def test_the_client_dies_before_its_hook_has_answered(make: Make, version: str, seconds: int, pause: int) -> None:
    """The hook goes on when its client is dead, and claims what nobody will hear, perhaps before the resume."""
    box, oracle = project(make(version))
    plain, count = box.settings().read_text(), box.home / "count"
    wait = f"import time\nwith open({str(count)!r}, 'a+') as f: f.write('x'); n = f.tell()\ntime.sleep({seconds} * (n == 2))\n"
    settings = json.loads(plain)
    handler = settings["hooks"]["PostToolBatch"][0]["hooks"][0]
    first, about, code = Path(handler["command"]).read_text().split("\n", 2)
    slow = box.home / "slow-handbill.hook"
    slow.write_text(f"{first}\n{about}\n{wait}{code}")
    slow.chmod(0o700)
    handler["command"] = str(slow)
    box.settings().write_text(json.dumps(settings))
    steps = [box.read("api/f.py"), [box.read("web/f.py"), box.bash()], "never"]
    killed(box, steps, lambda: count.exists() and count.stat().st_size == 2)
    box.settings().write_text(plain)
    assert_absent(asked(box)[-1], WEB)
    time.sleep(pause)
    again = ("--resume", transcript(box).stem)
    run = box.run(box.bash(), box.bash("sleep 3"), box.read("lib/f.py"), box.bash(), "done", args=again)
    assert_once(run.of()[-1], *STANDARDS, WEB, API, LIB)
    resumed(box, oracle, box.read("web/f.py"), box.read("lib/f.py"), box.bash())


@pytest.mark.long
@pytest.mark.parametrize(
    "how, compact",
    [("ended", True), ("killed", True), ("failed", False), ("killed, ledger lost", True)],
)
def test_parts_are_pending_when_the_session_is_resumed(make: Make, version: str, how: str, compact: bool) -> None:
    """Where the turn broke off, the client writes an answer of its own: no proof of anything."""
    box, oracle = project(make(version))
    steps: list[Any] = [box.read("web/f.py"), box.read("big/f.py")]
    if how.startswith("killed"):
        killed(
            box,
            [*steps, Reply([say(SLOW)], stops_for=30)],
            lambda: BIG[0] in asked(box)[-1].text if asked(box) else False,
        )
    else:
        box.client.run("go", Script([*steps, *(BROKEN if how == "failed" else ["done"])]))
    assert 0 < sum(mark in asked(box)[-1].text for mark in BIG) < len(BIG)
    if how == "failed":
        box.client.run("go", Script(BROKEN), "--resume", transcript(box).stem)
        assert '"<synthetic>"' in transcript(box).read_text()
    if "lost" in how:
        shutil.rmtree(box.state_folder)
    if compact:
        box.run("done", prompt="/compact", args=("--resume", transcript(box).stem))
    run = resumed(box, oracle, *[box.bash(f"echo {number}") for number in range(6)])
    found = {run.of()[-1].text.count(mark) for mark in BIG}
    assert found == {1} or (compact and found == {0})  # all of it, or nothing
    run = resumed(box, oracle, box.read("big/f.py"), box.read("web/f.py"), *[box.bash(f"echo {n}") for n in range(5)])
    assert_once(run.of()[-1], *STANDARDS, *BIG, WEB)


@pytest.mark.long
def test_the_client_is_killed_while_it_compacts(make: Make, version: str) -> None:
    """The hooks of the new start have answered, and the compaction is never recorded."""
    box, oracle = project(make(version))
    flag, plain = box.home / "flag", box.settings().read_text()
    settings = json.loads(plain)
    slow = {"matcher": "compact", "hooks": [{"type": "command", "command": f"touch {flag}; sleep 6; true"}]}
    settings["hooks"]["SessionStart"].append(slow)
    box.settings().write_text(json.dumps(settings))
    box.client.model.script = Script([box.bash(), "turn ends"])
    talk = Talk(box)
    talk.say("go")
    talk.send("/compact")
    until(flag.exists)
    time.sleep(1.5)  # our hook answers meanwhile
    talk.kill()
    box.settings().write_text(plain)
    assert "compact_boundary" not in transcript(box).read_text()
    env = break_hooks(box, {"PostToolBatch:1": "after-claim"})
    steps = [box.read("web/f.py"), box.bash(), box.bash("sleep 3"), box.read("web/f.py"), box.bash(), box.bash()]
    run = box.run(*steps, "done", args=("--resume", transcript(box).stem), env=env)
    assert_once(run.of()[-1], WEB, *STANDARDS)
    resumed(box, oracle, box.read("web/f.py"), box.bash())


@pytest.mark.parametrize("fault, agent", [("before-claim", False), ("after-claim", True)], ids=["main", "subagent"])
def test_a_hook_fails_and_much_is_said_before_the_next(make: Make, version: str, fault: str, agent: bool) -> None:
    box, oracle = project(make(version))
    box.write("long.txt", "".join(f"{line} of many lines that are read\n" for line in range(800)))
    env = break_hooks(box, {"PostToolBatch:1": fault})
    steps = [box.read("web/f.py"), [box.bash(f"cat long.txt; echo {n}") for n in range(12)], box.bash(), box.bash()]
    run = box.run(box.agent(), "done", agent=(*steps, "sub"), env=env) if agent else box.run(*steps, "done", env=env)
    assert max(path.stat().st_size for path in box.home.glob(".claude/projects/**/*.jsonl")) > 300 << 10
    assert_once(run.of(None if agent else "")[-1], WEB)
    resumed(box, oracle, box.bash(), box.read("api/f.py"), box.bash())


@pytest.mark.parametrize("kept", [False, True], ids=["gone", "kept"])
@pytest.mark.parametrize("agent", [False, True], ids=["", "a subagent has worked"])
def test_a_write_right_after_a_compaction(make: Make, version: str, agent: bool, kept: bool) -> None:
    box, oracle = project(make(version))
    first, last = box.read("api/f.py" if kept else "web/f.py"), box.read("web/f.py") if kept else box.bash("echo 1")
    writes = [call("Write", file_path=box.path("web/new.py"), content=f"{number}\n") for number in (1, 2)]
    run = box.run(
        box.agent() if agent else box.bash(), first, box.bash("echo 0"), Reply([last], input_tokens=ALMOST_FULL),
        *[Reply([write], delay=0.3) for write in writes], box.bash(), box.bash(), "done",
        agent=(box.read("web/f.py"), "sub done"), env=COMPACTION,
    )  # fmt: skip
    after = [request for request in run.of() if "THE SUMMARY" in request.text]
    assert (WEB in after[0].text) == kept
    assert [request.text.count(WEB) for request in after[1:]] == [1] * len(after[1:])
    assert (box.project / "web/new.py").read_text() == "2\n"
    resumed(box, oracle, box.bash(), box.read("web/f.py"), box.read("api/f.py"), box.bash())
    assert ("[Held by Handbill]" in after[1].text) != kept
