"""A subagent is a window of its own."""

from __future__ import annotations

import re

from sandbox import STANDARDS, Sandbox, assert_absent, assert_once

from conftest import Make
from handbill.lab.live_client import Reply, Request, Script, call, say


def test_a_subagent_gets_its_own_copy_and_main_no_second(make: Make, version: str) -> None:
    box = make(version)
    box.write("one/.directives/AGENTS.md", "MARK-ONE\n")
    box.write("one/f.py", "x\n")
    run = box.run(
        box.read("one/f.py"), box.agent(), box.bash(), "done",
        agent=(box.read("one/f.py"), box.read("one/f.py"), box.bash(), "sub done"),
    )  # fmt: skip
    for request in run.of()[1:]:
        assert_once(request, *STANDARDS, "MARK-ONE")
    agent = run.of(None)
    assert_absent(agent[0], "MARK-ONE")
    assert_once(agent[0], "# Invariants\n")
    assert_absent(agent[0], "# Sigils\n")
    for request in agent[1:]:
        assert_once(request, "MARK-ONE", "# Invariants\n")


def test_two_subagents_at_once(make: Make, version: str) -> None:
    box = make(version)
    box.write("one/.directives/AGENTS.md", "MARK-ONE\n")
    box.write("one/f.py", "x\n")
    main, done = Script([[box.agent("first"), box.agent("second")], "done"]), dict[str, int]()

    def each(request: Request) -> Reply:
        """Every subagent reads first, whoever is quicker."""
        if not request.agent:
            return main(request)
        done[request.agent] = done.get(request.agent, 0) + 1
        return Reply([[box.read("one/f.py"), box.bash(), box.bash(), say("done")][min(done[request.agent], 4) - 1]])

    run = box.client.run("go", each)
    agents = {request.agent for request in run.of(None)}
    assert len(agents) == 2
    for name in agents:
        last = [request for request in run.of(None) if request.agent == name][-1]
        assert_once(last, "MARK-ONE", "# Invariants\n")
    assert_absent(run.of()[-1], "MARK-ONE")


class Continuing:
    """Main starts a subagent, then goes on with it by SendMessage; the subagent reads before and after."""

    def __init__(self, box: Sandbox) -> None:
        self.box = box
        self.sent = False
        self.agent = [
            box.read("one/f.py"),
            box.bash("echo 1"),
            "first",
            box.read("one/f.py"),
            box.bash("echo 2"),
            "second",
        ]

    def __call__(self, request: Request) -> Reply:
        if not request.body.get("tools"):
            return Reply([say("ok")])
        if request.agent:
            step = self.agent.pop(0) if self.agent else "more"
            return Reply([say(step) if isinstance(step, str) else step])
        found = re.search(r"agentId: (a[0-9a-f]+)", request.text)
        if found is None:
            return Reply([self.box.agent()])
        if not self.sent:
            if not any(tool["name"] == "SendMessage" for tool in request.body["tools"]):
                return Reply([call("ToolSearch", query="select:SendMessage")])
            self.sent = True
            return Reply([call("SendMessage", to=found.group(1), message="go on", summary="go on please now")])
        return Reply([self.box.bash("sleep 1")] if self.agent else [say("done")])


def test_a_continued_subagent_has_one_copy(make: Make, version: str) -> None:
    """Newer clients keep what it was given; older ones lose it, and it is given again."""
    box = make(version)
    box.write("one/.directives/AGENTS.md", "MARK-ONE\n")
    box.write("one/f.py", "x\n")
    run = box.client.run("go", Continuing(box))
    agent = run.of(None)
    assert run.exit_code == 0 and len(agent) >= 6 and len({request.agent for request in agent}) == 1
    assert_once(agent[2], "MARK-ONE", "# Invariants\n")
    assert_once(agent[-1], "MARK-ONE", "# Invariants\n")
