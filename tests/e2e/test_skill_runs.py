"""Skills, sessions and phases on the real client: the right pages at the right moment, each once."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from sandbox import ALMOST_FULL, COMPACTION, STANDARDS, Sandbox, assert_absent, assert_extends, assert_once
from talk import Talk

from conftest import Make
from handbill.lab.live_client import Block, Client, Reply, Request, Script, call

TAKE_TURNS = True

START, ASK, PLAN, BUILD, SPREAD, END = (
    f"PAGE-CMD_{name}." for name in ("START", "ASK", "PLAN", "BUILD", "SPREAD", "END")
)
SHARED = "PAGE-CMD_SHARED."


def implement(box: Sandbox) -> None:
    box.skill(
        "implement", ("0", ("CMD_SHARED", "CMD_START")), ("1", ("CMD_SHARED", "CMD_ASK")), ("2", ("CMD_SHARED", "CMD_PLAN")),
        ("3.A", ("CMD_SHARED", "CMD_BUILD")), ("3.B", ("CMD_SPREAD",)), ("4", ("CMD_END",)), text="§FMT_LIST",
        logTemplate="assets/TEMPLATE_LOG.md", directives=["TESTING.md"],
    )  # fmt: skip
    box.write(".claude/skills/implement/assets/TEMPLATE_LOG.md", "TEMPLATE-LOG\n")
    box.write(".directives/formats/FMT_LIST.md", "PAGE-FMT_LIST\n")
    box.write("src/.directives/TESTING.md", "MARK-TESTING\n")
    box.write("src/.directives/PITFALLS.md", "MARK-PITFALLS\n")
    box.write("src/f.py", "x\n")


BEGUN = (SHARED, START, "PAGE-FMT_LIST", "TEMPLATE-LOG")


def through_the_phases(box: Sandbox) -> tuple[Block, ...]:
    return (
        box.session("activate W implement </dev/null"), box.session("phase W '1: Phase1' </dev/null"), box.read("src/f.py"),
        box.session("phase W 2 </dev/null"), box.session("phase W 3.A </dev/null"), box.read("src/f.py"),
        box.session("phase W 4 </dev/null"), box.bash(),
    )  # fmt: skip


def assert_lifecycle(requests: list[Request]) -> None:
    """`requests[0]` is the first one after the skill began."""
    for request in requests:
        assert_once(request, *STANDARDS, *BEGUN, "BODY-implement")
    for number, marks in ((2, (ASK,)), (3, ("MARK-TESTING",)), (4, (PLAN,)), (5, (BUILD,)), (7, (END,))):
        assert_absent(requests[number - 1], *marks)
        for request in requests[number:]:
            assert_once(request, *marks)
    assert_absent(requests[-1], SPREAD, "MARK-PITFALLS")


def test_typed_skill_from_beginning_to_end(make: Make, version: str) -> None:
    box = make(version)
    implement(box)
    run = box.run(*through_the_phases(box), "done", prompt="/implement add auth")
    assert_lifecycle(run.of())
    for before, after in zip(run.of(), run.of()[1:]):
        assert_extends(before, after)
    assert box.engine("deliveries", "--duplicates")["data"]["duplicates"] == []
    resumed = box.run(box.session("phase W 4 </dev/null"), box.read("src/f.py"), "done", args=("--resume", run.session))
    for request in resumed.of():
        assert_once(request, *STANDARDS, *BEGUN, ASK, PLAN, BUILD, END, "MARK-TESTING", "BODY-implement")


def test_skill_that_the_model_calls(make: Make, version: str) -> None:
    box = make(version)
    implement(box)
    run = box.run(call("Skill", skill="implement", args="auth"), *through_the_phases(box), "done")
    assert_absent(run.of()[0], *BEGUN, "BODY-implement")
    assert_lifecycle(run.of()[1:])


def test_a_typed_command_that_mentions_a_file(make: Make, version: str) -> None:
    box = make(version)
    for name in ("web", "api"):
        box.write(f"{name}/.directives/AGENTS.md", f"MARK-{name}\n")
        box.write(f"{name}/f.py", f"TEXT-{name}\n")
    box.write(".claude/commands/look.md", "---\ndescription: look\n---\nCompare @web/f.py with @$ARGUMENTS\n")
    run = box.run(box.bash(), "done", prompt="/look api/f.py")
    assert_once(run.of()[0], "TEXT-web", "TEXT-api", "MARK-web", "MARK-api")


def test_a_called_skill_that_mentions_a_file(make: Make, version: str) -> None:
    box = make(version)
    box.write("web/.directives/AGENTS.md", "MARK-web\n")
    box.write("web/f.py", "TEXT-web\n")
    box.skill("ship", text="Look at @web/f.py now.")
    run = box.run(call("Skill", skill="ship", args=""), box.bash(), "done")
    assert_once(run.of()[1], "BODY-ship", "TEXT-web", "MARK-web")


def test_fix_then_test_in_one_window(make: Make, version: str) -> None:
    box = make(version)
    box.skill("fix", ("0", ("CMD_SHARED", "CMD_START")), ("1", ("CMD_BUILD",)))
    box.skill("test", ("0", ("CMD_SHARED", "CMD_ASK")), ("1", ("CMD_END",)))
    idle = box.session("idle W", "echo fixed | ")
    box.client.model.script = Script([
        box.session("activate W fix </dev/null"), box.session("phase W 1 </dev/null"), idle, "fixed",
        box.session("activate W test </dev/null"), box.bash(), "tested",
    ])  # fmt: skip
    talk = Talk(box)
    talk.say("/fix login")
    talk.say("/test login")
    talk.close()
    requests = [request for request in box.client.model.requests if request.body.get("tools")]
    assert_absent(requests[0], "BODY-test", ASK)
    assert_once(requests[-1], *STANDARDS, "BODY-fix", "BODY-test", SHARED, START, BUILD, ASK)
    assert_absent(requests[-1], END)
    state = json.loads((box.project / "sessions/W/.state.json").read_text())
    assert state["skill"] == "test" and state["completedSkills"] == ["fix"], state


def test_overflow_restart_and_resume(make: Make, version: str) -> None:
    """A compaction in the middle of a phase; then a new process; then a resume of that one."""
    box = make(version)
    implement(box)
    first = box.run(
        box.session("activate W implement </dev/null"), box.session("phase W 1 </dev/null"), box.bash(),
        Reply([box.bash("echo full")], input_tokens=ALMOST_FULL), box.bash(), box.bash(), box.bash(), "done",
        prompt="/implement x", env=COMPACTION,
    )  # fmt: skip
    after = [request for request in first.of() if "THE SUMMARY" in request.text]
    assert_once(after[-1], *STANDARDS, SHARED, ASK, "TEMPLATE-LOG")
    assert_absent(after[-1], START)
    second = box.run(box.session("continue W"), box.bash(), box.bash(), "done")
    assert second.session != first.session
    assert_absent(second.of()[0], SHARED, ASK)
    assert_once(second.of()[-1], *STANDARDS, SHARED, ASK, "TEMPLATE-LOG", "BODY-implement", "PAGE-FMT_LIST")
    assert_absent(second.of()[-1], START)
    third = box.run(box.session("phase W 2 </dev/null"), box.bash(), "done", args=("--resume", second.session))
    assert_once(third.of()[-1], *STANDARDS, SHARED, ASK, PLAN, "BODY-implement")


def test_two_agents_in_one_project(make: Make, version: str) -> None:
    box = make(version)
    implement(box)
    one = [
        box.session("activate W implement </dev/null"),
        Reply([box.bash("sleep 4")]),
        box.session("phase W 1 </dev/null"),
        box.bash(),
        "done",
    ]
    two = [
        box.bash("sleep 2"), box.session("activate W implement </dev/null || true"),
        box.session("activate V implement </dev/null"), box.bash(), "done",
    ]  # fmt: skip
    clients = [Client(box.client.binary, str(box.project), str(box.home), extra=box.client.extra) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda pair: pair[0].run("go", Script(json.loads(json.dumps(pair[1], default=vars)))), zip(clients, (
            [step.blocks if isinstance(step, Reply) else step for step in one], two))))  # fmt: skip
    assert [run.exit_code for run in runs] == [0, 0]
    assert_once(runs[0].of()[-1], *STANDARDS, *BEGUN, ASK, "BODY-implement")
    assert "another agent works on this session" in runs[1].of()[2].text
    assert runs[0].session in runs[1].of()[2].text
    assert_once(runs[1].of()[-1], *STANDARDS, *BEGUN, "BODY-implement")
    assert_absent(runs[1].of()[-1], ASK)
    states = [json.loads((box.project / f"sessions/{name}/.state.json").read_text()) for name in ("W", "V")]
    assert [state["currentPhase"] for state in states] == ["1: Phase1", "0: Phase0"]
    assert [state["sessionId"] for state in states] == [run.session for run in runs]


def test_a_phase_changed_twice_in_one_message(make: Make, version: str) -> None:
    box = make(version)
    implement(box)
    both = [box.session("phase W 1 </dev/null && sleep 1"), box.session("phase W 2 </dev/null", "sleep 2; ")]
    run = box.run(box.session("activate W implement </dev/null"), both, box.bash(), "done", prompt="/implement x")
    assert_absent(run.of()[1], ASK, PLAN)
    for request in run.of()[2:]:
        assert_once(request, *BEGUN, ASK, PLAN)


@pytest.mark.parametrize("typed", [True, False])
def test_forty_pages_over_the_cap(make: Make, version: str, typed: bool) -> None:
    """100,000 characters: every page whole, each once, none cut."""
    box = make(version)
    pages = tuple(f"CMD_P{number:02}" for number in range(40))
    for page in pages:
        box.write(f".directives/commands/{page}.md", f"# {page}\nPAGE-{page}.\n{'lorem ipsum ' * 200}\nEND-{page}.\n")
    box.skill("big", ("0", pages))
    steps = [box.bash(f"echo {number}") for number in range(14)]
    if typed:
        run = box.run(*steps, "done", prompt="/big")
        assert sum(run.of()[0].text.count(f"END-{page}.") for page in pages) >= 12, "four lanes at once"
    else:
        run = box.run(call("Skill", skill="big"), *steps, "done")
    last = run.of()[-1]
    assert_once(last, *(f"PAGE-{page}." for page in pages), *(f"END-{page}." for page in pages))
    assert "persisted-output" not in last.text
    assert_once(last, *STANDARDS)


def test_questions_are_answered_by_the_rule(make: Make, version: str) -> None:
    box = make(version)
    implement(box)
    options = [{"label": "Quick", "description": "a"}, {"label": "Deep (Recommended)", "description": "b"}]
    question = {"question": "How deep?", "header": "Depth", "multiSelect": False, "options": options}
    box.client.model.script = Script([
        box.session("activate W implement </dev/null"), call("AskUserQuestion", questions=[question]),
        box.session("phase W 1 </dev/null"), box.bash(), "done",
    ])  # fmt: skip
    hook = {"type": "command", "command": f"{sys.executable} -m handbill.lab.auto_answer recommended"}
    groups = [{"matcher": "AskUserQuestion", "hooks": [hook]}]
    box.write(".claude/settings.json", json.dumps({"hooks": {"PreToolUse": groups}}))
    talk = Talk(box, "--permission-prompt-tool", "stdio")
    talk.say("/implement x")
    talk.close()
    requests = [request for request in box.client.model.requests if request.body.get("tools")]
    assert '"selected": "Deep (Recommended)"' in requests[2].text
    assert_once(requests[-1], *BEGUN, ASK)


def test_a_phase_changed_in_a_subagents_shell(make: Make, version: str) -> None:
    box = make(version)
    implement(box)
    run = box.run(
        box.session("activate W implement </dev/null"), box.agent("move on"), box.bash(), "done",
        agent=(box.session("phase W 1 </dev/null"), box.bash(), "moved"), prompt="/implement x",
    )  # fmt: skip
    assert_once(run.of(None)[-1], ASK, SHARED)
    assert_absent(run.of()[-1], ASK)


def test_a_skill_of_an_installed_plugin(make: Make, version: str) -> None:
    box = make(version)
    implement(box)
    market = box.project.parent / "market"
    for path, text in {
        ".claude-plugin/marketplace.json": json.dumps(
            {
                "name": "mk",
                "owner": {"name": "x"},
                "plugins": [{"name": "tools", "source": "./tools", "description": "d"}],
            }
        ),
        "tools/.claude-plugin/plugin.json": '{"name": "tools", "version": "1.0.0", "description": "d"}',
    }.items():
        (market / path).parent.mkdir(parents=True)
        (market / path).write_text(text)
    shutil.move(box.project / ".claude/skills", market / "tools/skills")
    for words in (["marketplace", "add", str(market)], ["install", "tools@mk"]):
        command = [box.client.binary, "plugin", *words]
        subprocess.run(
            command, cwd=box.project, env=box.client.environment(), check=True, capture_output=True, timeout=60
        )
    run = box.run(
        box.session("activate W tools:implement </dev/null"), box.session("phase W 1 </dev/null"), box.bash(), "done",
        prompt="/tools:implement x",
    )  # fmt: skip
    for request in run.of():
        assert_once(request, *STANDARDS, *BEGUN, "BODY-implement")
    assert_once(run.of()[-1], ASK)
