"""What sessions guarantee: no silent way around phases, proof or debrief; one agent at a time; true states."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from command import engine, run, state_of
from session_command import PROOF, project, session, state

from handbill.cli.verbs.session.update import _VERB_OF

__all__ = ["project"]  # the fixture
W1, W2 = {"CLAUDE_CODE_SESSION_ID": "w1"}, {"CLAUDE_CODE_SESSION_ID": "w2"}
APPROVED = ("--user-approved", "do it now")


def skill(project: Path, name: str, *phases: dict[str, object], **values: object) -> None:
    block = json.dumps({"phases": list(phases), **values})
    path = project / ".claude/skills" / name / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nname: {name}\n---\n# {name}\n\n### Session Parameters\n```json\n{block}\n```\n")


def page(project: Path, name: str, **properties: object) -> None:
    schema = json.dumps({"type": "object", "properties": properties, "required": list(properties)})
    path = project / ".directives/commands" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# {name}\n\n## PROOF FOR §{name}\n```json\n{schema}\n```\n")


def dead_process() -> str:
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return str(done.pid)


# --- another skill --------------------------------------------------------------------------------


def test_switching_skills_leaves_no_phase_out_silently(project: Path) -> None:
    session(project, "activate", "S", "work")
    said = session(project, "activate", "S", "do", expect=1)
    assert "work is not finished" in said and "engine session idle S" in said
    assert state(project)["skill"] == "work"
    session(project, "activate", "S", "do", *APPROVED)
    found = state(project)
    (past,) = found["skillHistory"]
    assert found["skill"] == "do" and past["approved"] == "do it now" and past["coming"] and past["unproven"]
    assert found["approvals"][0]["reason"] == "do it now" and "work" not in found.get("completedSkills", ())


def test_switching_in_the_last_phase_needs_its_proof(project: Path) -> None:
    page(project, "CMD_LAST", result={"type": "string"})
    skill(project, "short", {"label": "0", "name": "Only", "steps": ["§CMD_LAST"], "proof": ["§CMD_LAST"]})
    session(project, "activate", "S", "short")
    assert "result is missing" in session(project, "activate", "S", "do", expect=1)
    session(project, "idle", "S", stdin='{"description": "done", "proof": {"result": "fine"}}')
    session(project, "activate", "S", "do")
    assert state(project)["skill"] == "do"


@pytest.mark.parametrize("verb", ["activate", "idle", "deactivate"])
def test_no_way_out_without_the_debrief(project: Path, verb: str) -> None:
    skill(project, "told", debriefTemplate="assets/TEMPLATE_TOLD.md")
    session(project, "activate", "S", "told")
    words = (verb, "S", "do") if verb == "activate" else (verb, "S")
    assert "debrief sessions/S/TOLD.md is not written" in session(project, *words, stdin=_about(verb), expect=1)
    (project / "sessions/S/TOLD.md").write_text("# Told\n")
    session(project, *words, stdin=_about(verb))


def _about(verb: str) -> str:
    return '{"taskSummary": "t"}' if verb == "activate" else "done"


# --- an agent that died ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words", [("phase", "S", "1"), ("continue", "S"), ("update", "S", "note", "x"), ("activate", "S", "work")]
)
def test_a_dead_agents_session_is_taken_over(project: Path, words: tuple[str, ...]) -> None:
    session(project, "activate", "S", "work", CLAUDE_PID=dead_process(), **W1)
    alive = str(os.getpid())
    session(project, *words, stdin=PROOF if words[0] == "phase" else "", CLAUDE_PID=alive, **W2)
    assert (state(project)["sessionId"], state(project)["pid"]) == ("w2", int(alive))
    assert session(project, "find", **W2).strip().endswith("sessions/S")
    notices = (state_of(project) / ".windows/w2.notices").read_text()
    assert '"continue"' in notices or '"activate"' in notices, "its new agent gets the skill and the pages of the phase"


def test_one_of_several_agents_takes_it_over(project: Path) -> None:
    session(project, "activate", "S", "work", CLAUDE_PID=dead_process(), **W1)
    sleepers = [subprocess.Popen(["sleep", "60"]) for _ in range(6)]

    def attempt(number: int) -> int:
        environ = {"CLAUDE_CODE_SESSION_ID": f"a{number}", "CLAUDE_PID": str(sleepers[number].pid)}
        verb = ("phase", "S", "0") if number % 2 else ("continue", "S")
        return run("session", *verb, cwd=project, **environ).returncode

    with ThreadPoolExecutor(6) as pool:
        codes = list(pool.map(attempt, range(6)))
    for sleeper in sleepers:
        sleeper.kill()
        sleeper.wait()
    assert sorted(codes) == [0, 1, 1, 1, 1, 1]
    assert state(project)["sessionId"] == f"a{codes.index(0)}"


def test_states_as_they_are(project: Path) -> None:
    session(project, "activate", "DEAD", "work", CLAUDE_PID=dead_process(), **W1)
    session(project, "activate", "LEFT", "work", CLAUDE_PID=str(os.getpid()), **W2)
    session(project, "activate", "LIVE", "work", CLAUDE_PID=str(os.getpid()), **W2)
    session(project, "activate", "MINE", "do")
    rows = engine("session", "list", cwd=project)["data"]["sessions"]
    assert {row["name"]: row["state"] for row in rows} == {
        "DEAD": "dead", "LEFT": "abandoned", "LIVE": "active", "MINE": "active",
    }  # fmt: skip
    active = engine("find-sessions", "active", cwd=project)["data"]["sessions"]
    assert {row["name"] for row in active} == {"LIVE", "MINE"}
    assert "dead" in run("session", "status", "DEAD", cwd=project).stdout


# --- proof that nobody can give -------------------------------------------------------------------


def test_contradictory_proof_is_reported_and_can_be_left_with_approval(project: Path) -> None:
    page(project, "CMD_ONE", depth={"type": "string"}, other={"type": "string"})
    page(project, "CMD_TWO", depth={"type": "integer"})
    phases = [{"label": str(n), "name": f"P{n}", "proof": ["§CMD_ONE", "§CMD_TWO"] if n == 0 else []} for n in (0, 1)]
    skill(project, "odd", *phases)
    found = engine("skills", "odd", cwd=project, expect=1)["data"]["problems"]
    assert any("depth cannot be given: §CMD_ONE and §CMD_TWO" in line for line in found)
    assert "depth cannot be given" in run("doctor", cwd=project).stdout.replace("\n", " ")
    session(project, "activate", "S", "odd")
    said = session(project, "phase", "S", "1", stdin='{"depth": "x", "other": "y"}', expect=1)
    assert "depth cannot be given" in said and "--user-approved" in said
    said = session(project, "phase", "S", "1", *APPROVED, stdin='{"depth": "x"}', expect=1)
    assert "other is missing" in said, "approval excuses only what is impossible"
    session(project, "phase", "S", "1", *APPROVED, stdin='{"depth": "x", "other": "y"}')
    first, second = state(project)["phaseHistory"]
    assert first["unproven"] == ["depth"] and first["proof"]["other"] == "y" and second["approved"] == "do it now"


# --- labels and names -----------------------------------------------------------------------------


def test_a_vanished_label_allows_no_jump(project: Path) -> None:
    labels = ("0", "1", "2", "3")
    skill(project, "long", *({"label": label, "name": f"P{label}"} for label in labels))
    session(project, "activate", "S", "long")
    session(project, "phase", "S", "1")
    skill(project, "long", *({"label": label, "name": f"P{label}"} for label in labels if label != "1"))
    session(project, "activate", "S", "long")
    assert "skips 2" in session(project, "phase", "S", "3", expect=1)
    assert "the next phase is 2" in session(project, "idle", "S", stdin="done", expect=1)
    session(project, "phase", "S", "2")
    assert state(project)["currentPhase"] == "2: P2"


@pytest.mark.parametrize("name", ["sessions", "sessions/", "{project}/sessions"])
def test_the_folder_of_all_sessions_is_not_one(project: Path, name: str) -> None:
    said = session(project, "activate", name.format(project=project), "work", expect=1)
    assert "the folder of all sessions" in said and not (project / "sessions/sessions").exists()


@pytest.mark.parametrize("field", sorted(_VERB_OF))
def test_update_forges_nothing_that_a_verb_records(project: Path, field: str) -> None:
    session(project, "activate", "S", "work")
    assert _VERB_OF[field] in session(project, "update", "S", field, "[]", expect=1)


def test_a_completed_session_is_not_ended_again(project: Path) -> None:
    session(project, "activate", "S", "work")
    session(project, "deactivate", "S", *APPROVED, stdin="done")
    assert "completed already" in session(project, "idle", "S", *APPROVED, stdin="again", expect=1)
    assert state(project)["lifecycle"] == "completed"
