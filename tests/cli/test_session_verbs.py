"""`engine session` as people and agents call it, each verb a real process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command import state_of
from session_command import PROOF, project, session, state

__all__ = ["project"]  # the fixture


@pytest.mark.parametrize(
    "given, words",
    [
        ("{}", "taskSummary is missing"), ("[" * 100_000, "too deep"), ('{"scope": "x"}', "taskSummary is missing"), ('{"taskSummary": 3}', "taskSummary must be a string, not 3"),
        ('{"taskSummary": "t", "contextPaths": "a"}', "contextPaths must be an array"), ('{"taskSummary": "t", "dirs": []}', "dirs is unknown"),
        ('{"taskSummary": "t", "directoriesOfInterest": [1]}', "directoriesOfInterest[0] must be a string"), ("nonsense", "not JSON"),
    ],
)  # fmt: skip
def test_parameters_are_checked_field_by_field(project: Path, given: str, words: str) -> None:
    assert words in session(project, "activate", "S", "work", stdin=given, expect=1)
    assert not (project / "sessions").exists() or not (project / "sessions/S/.state.json").exists()


def test_parameters_are_kept_and_static_ones_come_from_the_skill(project: Path) -> None:
    given = {"taskSummary": "t", "extraInfo": None, "phases": [{"label": "9"}], "nextSkills": ["mine"]}
    text = session(project, "activate", "S", "work", stdin=json.dumps(given))
    assert "phases, nextSkills: taken from SKILL.md" in text
    found = state(project)
    assert (found["taskSummary"], found["extraInfo"], found["nextSkills"]) == ("t", None, ["rest", "do"])


@pytest.mark.parametrize("words", [("activate", "S", "work"), ("phase", "S", "1")])
def test_an_open_stdin_never_hangs(project: Path, words: tuple[str, ...]) -> None:
    session(project, "activate", "S", "work")
    reader, writer = os.pipe()
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "handbill.cli.main", "session", *words], cwd=project, stdin=reader, capture_output=True,
        text=True, check=False, timeout=30,
    )  # fmt: skip
    os.close(writer)
    os.close(reader)
    assert time.monotonic() - started < 20
    assert "stayed open but sent nothing" in done.stdout or "depth is missing" in done.stderr


@pytest.mark.parametrize("name", ["S", "sessions/S", "{project}/sessions/S", "sessions/S/"])
def test_names_and_paths(project: Path, name: str) -> None:
    session(project, "activate", name.format(project=project), "work")
    assert state(project)["skill"] == "work"


@pytest.mark.parametrize("name", ["..", "../x", "a/b", "/tmp/x", "", ".hidden", "sessions/../../x", "a\nb"])
def test_names_that_are_none(project: Path, name: str) -> None:
    assert "is not a session name" in session(project, "init", name, expect=1)
    assert not list(project.parent.glob("x"))


def test_init_find_status_list(project: Path) -> None:
    assert "New session created: sessions/S" in session(project, "init", "S")
    assert "already exists" in session(project, "init", "S")
    assert "nothing was activated yet" in session(project, "status", "S", expect=1)
    session(project, "activate", "S", "work", CLAUDE_CODE_SESSION_ID="w1")
    assert session(project, "find", CLAUDE_CODE_SESSION_ID="w1").strip() == str(project / "sessions/S")
    assert "no session" in session(project, "find", CLAUDE_CODE_SESSION_ID="w2", expect=1)
    assert "does not belong to an agent" in session(project, "find", expect=1)
    assert "0: Setup" in session(project, "status", "S")
    assert "work" in session(project, "status", CLAUDE_CODE_SESSION_ID="w1")
    assert "S" in session(project, "list")
    data = json.loads(session(project, "list", "--json"))["data"]["sessions"]
    assert [(row["name"], row["lifecycle"], row["phase"]) for row in data] == [("S", "active", "0: Setup")]
    assert json.loads(session(project, "--json", "list"))["ok"] is True


@pytest.mark.parametrize(
    "value, kept",
    [
        ("true", True),
        ("12", 12),
        ("1.5", 1.5),
        ("null", None),
        ('["a"]', ["a"]),
        ("plain text", "plain text"),
        ("007", "007"),
    ],
)
def test_update_keeps_the_type(project: Path, value: str, kept: object) -> None:
    session(project, "activate", "S", "work")
    session(project, "update", "S", "mine", value)
    assert state(project)["mine"] == kept
    session(project, "update", "S", "mine", value, "--text")
    assert state(project)["mine"] == value


@pytest.mark.parametrize("field", ["pid", "currentPhase", "phases", "lifecycle", "skill", "v"])
def test_update_leaves_to_other_verbs_what_is_theirs(project: Path, field: str) -> None:
    session(project, "activate", "S", "work")
    assert "is set by" in session(project, "update", "S", field, "1", expect=1)


def test_ending_asks_for_what_is_open(project: Path) -> None:
    session(project, "activate", "S", "work")
    assert "engine session idle NAME" in session(project, "idle", "S", expect=1)
    assert "engine session deactivate NAME" in session(project, "deactivate", "S", expect=1)
    assert "the next phase is 1" in session(project, "idle", "S", stdin="done", expect=1)
    session(project, "phase", "S", "1", stdin=PROOF)
    session(project, "phase", "S", "2")
    refused = session(project, "idle", "S", stdin="done", expect=1)
    assert "seen is missing" in refused and '{"description": "…", "proof": {"seen": …}}' in refused
    assert "seen" in session(project, "check", "S", expect=1)
    text = session(project, "idle", "S", stdin='{"description": "done", "keywords": ["k"], "proof": {"seen": true}}')
    assert text.startswith("Session idle: sessions/S") and "Next skills: do" in text.splitlines()
    assert "is idle" in session(project, "phase", "S", "0", expect=1)
    assert "seen true" in session(project, "status", "S") and "done" in session(project, "status", "S")
    assert "nothing is open" in session(project, "check", "S")
    session(project, "deactivate", "S", stdin="all done")
    assert "completed" in session(project, "continue", "S", expect=1)
    assert "completed in this session" in session(project, "activate", "S", "work", expect=1)


def test_requests_must_be_answered(project: Path) -> None:
    (project / "REQUEST_A.md").write_text("# Ask\n#needs-review\n")
    given = {"taskSummary": "t", "requestFiles": ["REQUEST_A.md", "none.md"]}
    session(project, "activate", "S", "work", stdin=json.dumps(given))
    text = session(project, "check", "S", expect=1)
    assert "none.md does not exist" in text and "still says #needs" in text and "no `## Response`" in text
    (project / "REQUEST_A.md").write_text("# Ask\n`#needs-review`\n\n## Response\nyes\n")
    assert "REQUEST_A" not in session(project, "check", "S", expect=1)


def test_one_window_one_session(project: Path) -> None:
    """Right within one call of the agent's shell: no hook has to run in between."""
    agent = {"CLAUDE_CODE_SESSION_ID": "w1"}
    assert "no hook has run in this window" in session(project, "activate", "S", "work", **agent)
    text = session(project, "activate", "T", "work", **agent)
    assert "sessions/S was released" in text
    assert session(project, "find", **agent).strip().endswith("sessions/T")
    assert "sessionId" not in state(project, "S") and state(project, "S")["lifecycle"] == "active"
    session(project, "continue", "S", **agent)
    assert session(project, "find", **agent).strip().endswith("sessions/S")
    session(project, "idle", "--user-approved", "x", stdin="done", **agent)
    assert state(project, "S")["lifecycle"] == "idle" and state(project, "T")["lifecycle"] == "active"
    assert "no session" in session(project, "find", expect=1, **agent)


def test_text_that_no_terminal_can_show(project: Path) -> None:
    given = '{"taskSummary": "a\\ud800b \\u001b[31m red"}'
    session(project, "activate", "S", "work", stdin=given)
    for words in (("list",), ("status", "S"), ("list", "--json"), ("status", "S", "--json")):
        text = session(project, *words)
        assert "\x1b" not in text and "red" in text


def test_what_is_only_in_git_by_choice(project: Path) -> None:
    session(project, "activate", "S", "work")
    (project / "sessions/S/LOG.md").write_text("x")
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    done = subprocess.run(
        ["git", "status", "--porcelain", "-uall"], cwd=project, capture_output=True, text=True, check=True
    )
    assert "sessions/S/LOG.md" in done.stdout and ".state" not in done.stdout


def test_no_such_skill_or_session(project: Path) -> None:
    assert "did you mean work?" in session(project, "activate", "S", "wrk", expect=1)
    assert "did you mean work?" in session(project, "activate", "S", "/Work", expect=1)
    assert "there is no skill 'nope'" in session(project, "activate", "S", "nope", expect=1)
    assert "there is no session" in session(project, "phase", "T", "1", expect=1)
    assert json.loads(session(project, "phase", "T", "1", "--json", expect=1))["error"]["code"] == "no-session"


def test_a_broken_state_is_put_aside_by_activate_only(project: Path) -> None:
    session(project, "activate", "S", "work")
    path = project / "sessions/S/.state.json"
    path.write_text("{broken")
    assert "is broken" in session(project, "phase", "S", "1", stdin=PROOF, expect=1)
    assert path.read_text() == "{broken"
    assert "broken" in session(project, "list")
    assert "the file was renamed" in session(project, "activate", "S", "work")
    assert [kept.read_text() for kept in path.parent.glob(".state.json.corrupt-*")] == ["{broken"]


def test_a_session_folder_that_is_a_file(project: Path) -> None:
    (project / "sessions").mkdir()
    (project / "sessions/S").write_text("mine")
    for words in (("init", "S"), ("activate", "S", "work"), ("phase", "S", "1"), ("status", "S")):
        assert "is a file" in session(project, *words, expect=1)
    assert (project / "sessions/S").read_text() == "mine"


@pytest.mark.skipif(os.getuid() == 0, reason="root writes everywhere")
def test_a_read_only_session(project: Path) -> None:
    session(project, "activate", "S", "work")
    (project / "sessions/S").chmod(0o500)
    assert "nothing was changed" in session(project, "phase", "S", "1", stdin=PROOF, expect=1)


def test_a_full_disk(project: Path) -> None:
    """The kernel refuses the write: the state is what it was."""
    session(project, "activate", "S", "work")
    before = (project / "sessions/S/.state.json").read_bytes()
    command = f"ulimit -f 0; exec {sys.executable} -B -m handbill.cli.main session phase S 1"
    done = subprocess.run(["sh", "-c", command], cwd=project, input=PROOF, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert (project / "sessions/S/.state.json").read_bytes() == before


def test_from_a_folder_deep_in_the_project(project: Path) -> None:
    """A shell that went elsewhere still finds its window's project, nested repositories or not."""
    (state_of(project) / ".windows").mkdir(parents=True)
    (state_of(project) / ".windows/w1.jsonl").write_text('{"v":1}\n\n')
    inner = project / "vendor/other"
    (inner / ".git").mkdir(parents=True)
    done = subprocess.run(
        [sys.executable, "-m", "handbill.cli.main", "session", "activate", "S", "work"], cwd=inner, input="", text=True,
        capture_output=True, check=False, env={**os.environ, "CLAUDE_CODE_SESSION_ID": "w1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert state(project)["sessionId"] == "w1" and not (inner / "sessions").exists()


def test_options_may_stand_before_the_name(project: Path) -> None:
    session(project, "activate", "--user-approved", "x", "S", "work")
    session(project, "phase", "--user-approved=y", "S", "1", stdin=PROOF)
    session(project, "idle", "--keywords", "a, b", "--user-approved", "z", "S", stdin="done")
    assert state(project)["searchKeywords"] == ["a", "b"]
