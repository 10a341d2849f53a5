"""What `engine record` reads back from a real session, `engine replay` delivers again, event by event."""

from __future__ import annotations

import json

import pytest
from sandbox import ALMOST_FULL, COMPACTION, Sandbox
from test_skill_runs import implement, through_the_phases

from conftest import Make
from engine_server import run_engine
from handbill.lab.live_client import Reply, call


def assert_same_again(box: Sandbox, *more: str) -> list[str]:
    """Everything that was delivered, in order."""
    box.engine("record", "stream.jsonl", "--force", *more)
    done = run_engine(("replay", "stream.jsonl", "--json"), cwd=box.project, environ=box.environment())
    rows = json.loads(done.stdout)["data"]["events"]
    assert [(row["event"], row["delivered"], row["expected"]) for row in rows if row["differs"]] == []
    return [name for row in rows for name in row["delivered"]]


@pytest.mark.client
def test_a_session_with_calls_of_every_kind(make: Make, version: str) -> None:
    box = make(version)
    for name in ("pkg", "lib", "far"):
        box.write(f"{name}/.directives/AGENTS.md", f"rules of {name}\n")
        box.write(f"{name}/f.py", "x\n")
    held = [call("Write", file_path=box.path("lib/new.py"), content="x\n")]
    run = box.run(
        [box.read("pkg/f.py"), box.read("none.py"), box.bash("exit 3")], held, held, [box.agent("look at far/f.py")],
        Reply([box.bash()], input_tokens=ALMOST_FULL), box.read("pkg/f.py"), box.bash(), "done",
        agent=(box.read("far/f.py"), box.bash(), "seen"), env=COMPACTION,
    )  # fmt: skip
    box.run(box.read("far/f.py"), "done", args=("--resume", run.session))
    names = assert_same_again(box)
    assert {"pkg/.directives/AGENTS.md", "lib/.directives/AGENTS.md", "far/.directives/AGENTS.md"} <= set(names)


@pytest.mark.client
def test_a_typed_skill_through_its_phases(make: Make, version: str) -> None:
    box = make(version)
    implement(box)
    box.run(*through_the_phases(box), "done", prompt="/implement add auth")
    names = assert_same_again(box)
    assert {f".directives/commands/CMD_{name}.md" for name in ("START", "ASK", "PLAN", "BUILD", "END")} <= set(names)
