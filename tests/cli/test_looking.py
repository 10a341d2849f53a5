"""The commands that show: window, deliveries, discover-directives, doctor, prune, completion, help."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command import engine, run, state_of

from handbill.cli.deliveries import duplicates_of
from handbill.cli.main import VERBS
from handbill.simulate import Simulator, direct_hooks


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with hooks, and a session that read in two directories."""
    folder = tmp_path / "project"
    for name in ("one", "two"):
        (folder / name / ".directives").mkdir(parents=True)
        (folder / name / ".directives" / "AGENTS.md").write_text(f"rules of {name}\n")
        (folder / name / ".directives" / "TESTING.md").write_text("for skills\n")
    engine("install", "--project", str(folder), "--python", sys.executable)
    environ = {
        "HOME": os.environ["HOME"],
        "CLAUDE_PROJECT_DIR": str(folder),
        "AI_AGENT": "claude-code_2-1-325_x",
        "CLAUDE_PID": "1",
    }
    sim = Simulator(str(folder), str(tmp_path / "transcripts"), direct_hooks(environ), session="abc-session")
    sim.start()
    sim.read("one/f.py")
    sim.read("two/f.py")
    return folder


def test_window(project: Path) -> None:
    data = engine("window", cwd=project)["data"]
    states = {one["file"].rsplit("/project/")[-1]: one["state"] for one in data["files"]}
    assert states["one/.directives/AGENTS.md"] == "confirmed"
    assert states["two/.directives/AGENTS.md"] == "confirmed", "the transcript shows it, though no hook ran since"
    assert len(states) == 8
    shown = run("window", "abc", cwd=project, COLUMNS="200").stdout
    assert "one/.directives/AGENTS.md" in shown and "directive" in shown and "tokens" in shown
    assert engine("window", "--all", cwd=project)["data"]["windows"][0]["session"] == "abc-session"


def test_the_agents_own_shell_finds_its_window(project: Path) -> None:
    data = engine("window", cwd=project / "one", CLAUDE_CODE_SESSION_ID="abc-session")["data"]
    assert data["session"] == "abc-session"
    engine("window", cwd=project, CLAUDE_CODE_SESSION_ID="other", expect=1)


def test_no_window_is_an_error_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "empty" / ".git").mkdir(parents=True)
    answer = engine("window", cwd=tmp_path / "empty", expect=1)
    assert answer["error"]["message"] and "engine doctor" in answer["error"]["hint"]


def test_deliveries_filters(project: Path) -> None:
    rows = engine("deliveries", "--file", "one/", "--event", "claim-deliver", cwd=project)["data"]["deliveries"]
    assert [row["file"].rsplit("/project/")[-1] for row in rows] == ["one/.directives/AGENTS.md"]
    assert len(engine("deliveries", "--last", "3", cwd=project)["data"]["deliveries"]) == 3
    assert engine("deliveries", "--session", "nobody", cwd=project)["data"]["deliveries"] == []
    assert "delivered" in run("deliveries", cwd=project).stdout
    assert "nothing of that is in the log" in run("deliveries", "--session", "nobody", cwd=project).stdout


@pytest.mark.parametrize("name", ["q [/x]", "web [x]", "[red]", "größe 🙂"])
def test_odd_names_are_shown_as_they_are(project: Path, name: str) -> None:
    (project / name / ".directives").mkdir(parents=True)
    (project / name / ".directives" / "AGENTS.md").write_text("x\n")
    environ = {
        "HOME": os.environ["HOME"],
        "CLAUDE_PROJECT_DIR": str(project),
        "AI_AGENT": "claude-code_2-1-325_x",
        "CLAUDE_PID": "1",
    }
    Simulator(str(project), str(project.parent / "t2"), direct_hooks(environ), "abc-session").read(f"{name}/f.py")
    for verb in (["window"], ["deliveries"], ["discover-directives", name], ["doctor"]):
        done = run(*verb, cwd=project, COLUMNS="200")
        assert done.returncode in (0, 1) and done.stderr == "", done.stderr
        assert verb == ["doctor"] or f"{name}/.directives/AGENTS.md" in done.stdout


def test_main_is_shown_before_its_subagents(project: Path, tmp_path: Path) -> None:
    environ = {
        "HOME": os.environ["HOME"],
        "CLAUDE_PROJECT_DIR": str(project),
        "AI_AGENT": "claude-code_2-1-325_x",
        "CLAUDE_PID": "1",
    }
    Simulator(str(project), str(tmp_path / "transcripts"), direct_hooks(environ), "abc-session").subagent("a77")
    data = engine("window", cwd=project)["data"]
    assert data["agent"] == "main" and data["subagents"] == ["a77"]
    assert engine("window", "--agent", "a7", cwd=project)["data"]["agent"] == "a77"
    engine("window", "--agent", "b", cwd=project, expect=1)


def test_a_nested_repository_is_its_own_project(project: Path) -> None:
    (project / "vendor" / "inner" / ".git").mkdir(parents=True)
    assert engine("doctor", cwd=project / "vendor" / "inner", expect=1)["data"]["project"].endswith("vendor/inner")
    assert engine("doctor", cwd=project / "one")["data"]["project"] == str(project)


def test_a_project_that_does_not_exist(tmp_path: Path) -> None:
    for verb in ("install", "doctor", "window", "deliveries", "prune", "uninstall"):
        assert "there is no folder" in engine(verb, "--project", str(tmp_path / "nope"), expect=1)["error"]["message"]
    assert not (tmp_path / "nope").exists()


def test_doctor_sees_that_hooks_are_switched_off(project: Path) -> None:
    (project / ".claude" / "settings.json").write_text('{"disableAllHooks": true}')
    assert any("disableAllHooks" in check["text"] for check in checks(project, 1)["wiring"])


def test_doctor_looks_for_the_standards(project: Path) -> None:
    (project / ".handbill.toml").write_text('[standards]\nfiles = ["nope.md"]\n')
    assert any("nope.md is in no library" in check["text"] for check in checks(project, 1)["standards"])


def test_demo_with_something_that_is_no_client(tmp_path: Path) -> None:
    for path in ("/bin/true", "/etc/hostname", str(tmp_path)):
        assert engine("demo", "--client", path, expect=1)["error"]["hint"]


def test_deliveries_follow(project: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "handbill.cli.main", "deliveries", "--follow", "--json", "--file", "marker"],
        cwd=project, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    time.sleep(1)
    with open(state_of(project) / ".engine" / "deliveries.jsonl", "a") as log:
        log.write(json.dumps({"ts": 1, "event": "lost", "file": "/marker", "window": "w.main"}) + "\n")
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["file"] == "/marker"
    process.terminate()


def test_duplicates_report(project: Path) -> None:
    assert engine("deliveries", "--duplicates", cwd=project)["data"] == {"duplicates": [], "deliveries": 8}
    with open(state_of(project) / ".engine" / "deliveries.jsonl", "a") as log:
        log.write(json.dumps({"ts": 1, "window": "abc-session.main", "handler": "x", "event": "claim-deliver",
                              "file": str(project / "one/.directives/AGENTS.md"), "source": "y"}) + "\n")  # fmt: skip
    found = engine("deliveries", "--duplicates", cwd=project, expect=1)["data"]["duplicates"]
    assert found[0]["copies"] == 2


@pytest.mark.parametrize(
    "events, copies",
    [
        (["claim-deliver", "claim-deliver"], 2), (["claim-deliver", "lost", "claim-deliver"], None),
        (["claim-deliver", "new-epoch", "claim-deliver"], None), (["claim-deliver", "skip-dedup"], None),
        (["direct-deliver", "lost", "claim-deliver", "claim-deliver"], 2),
    ],
)  # fmt: skip
def test_what_counts_as_a_duplicate(events: list[str], copies: int | None) -> None:
    found = duplicates_of([{"window": "w", "file": "" if e == "new-epoch" else "/a", "event": e} for e in events])
    assert [one["copies"] for one in found] == ([copies] if copies else [])


def test_discover_directives(project: Path) -> None:
    rows = engine("discover-directives", str(project / "one"))["data"]["directives"]
    assert [(row["type"], row["delivered"]) for row in rows] == [
        ("AGENTS.md", "always"),
        ("TESTING.md", "skill-filtered"),
    ]
    assert len(engine("discover-directives", str(project / "one"), "--core")["data"]["directives"]) == 1
    (project / "node_modules").mkdir()
    engine("discover-directives", str(project / "node_modules"), expect=1)
    assert "there is no" in engine("discover-directives", "nope", cwd=project, expect=1)["error"]["message"]
    assert "one/.directives/AGENTS.md" in run("discover-directives", "one", cwd=project).stdout


def checks(project: Path, expect: int) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = {}
    for check in engine("doctor", cwd=project, expect=expect)["data"]["checks"]:
        found.setdefault(check["check"], []).append(check)
    return found


def test_doctor_finds_all_well(project: Path) -> None:
    found = checks(project, 0)
    assert found["wiring"][0]["state"] == found["interpreter"][0]["state"] == found["receipts"][0]["state"] == "ok"
    assert "all is well" in run("doctor", cwd=project).stdout


def test_doctor_names_each_fault_with_its_fix(project: Path) -> None:
    windows = state_of(project) / ".windows"
    (windows / "x.jsonl.corrupt-1").write_text("?")
    (windows / "x.jsonl.corrupt-1").chmod(0o644)
    (project / ".handbill.toml").write_text("[standards]\nfiles = 7\n")
    with open(state_of(project) / ".engine" / "errors.jsonl", "a") as log:
        log.write(json.dumps({"ts": time.time(), "where": "hook X", "error": "it broke"}) + "\n")
    settings = project / ".claude" / "settings.local.json"
    settings.write_text(settings.read_text().replace(os.path.realpath(sys.executable), "/gone/python"))
    found = checks(project, 1)
    for name, words in [
        ("interpreter", "/gone/python"),
        ("permissions", "read by others"),
        ("settings", "must be a list"),
        ("errors", "it broke"),
    ]:
        bad = [check for check in found[name] if check["state"] == "bad"]
        assert any(words in check["text"] and check["fix"] for check in bad), name
    assert any("put aside" in check["text"] for check in found["state"])
    engine("doctor", "--forget", cwd=project, expect=1)
    assert found["errors"] != checks(project, 1)["errors"]


def test_doctor_tells_of_a_state_folder_that_others_can_enter(project: Path) -> None:
    (state_of(project) / ".windows").chmod(0o755)
    found = checks(project, 1)
    assert "read by others" in found["permissions"][0]["text"] and "chmod" in found["permissions"][0]["fix"]


def test_doctor_without_hooks(tmp_path: Path) -> None:
    (tmp_path / "bare" / ".git").mkdir(parents=True)
    assert checks(tmp_path / "bare", 1)["wiring"][0]["fix"] == "engine install"


def test_prune_keeps_the_young_and_the_living(project: Path) -> None:
    windows = state_of(project) / ".windows"
    old = time.time() - 30 * 86400
    for name, pid in (("dead", 2**22 + 1), ("alive", os.getpid())):
        (windows / f"{name}.jsonl").write_text(json.dumps({"v": 1, "pid": pid}) + "\n")
        (windows / f"{name}.lock").write_text("")
        for suffix in ("jsonl", "lock"):
            os.utime(windows / f"{name}.{suffix}", (old, old))
    assert "dead.jsonl" in engine("prune", cwd=project)["data"]["removed"]
    left = {path.name for path in windows.iterdir()}
    assert "dead.lock" not in left
    assert {"alive.jsonl", "abc-session.jsonl"} <= left and "dead.jsonl" not in left


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_names_every_verb(shell: str) -> None:
    script = engine("completion", shell)["data"]["script"]
    assert all(verb in script for verb in VERBS)
    assert "--dry-run" in script or "-l dry-run" in script


def test_completion_works_in_bash() -> None:
    script = engine("completion", "bash")["data"]["script"]
    ask = f"{script}\nCOMP_WORDS=(engine doc); COMP_CWORD=1; _handbill; echo ${{COMPREPLY[@]}}"
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "doctor"


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself(verb: str) -> None:
    done = run(verb, "--help")
    assert done.returncode == 0 and "--json" in done.stdout


def test_exit_codes() -> None:
    assert run().returncode == 0
    assert run("nonsense").returncode == 2
    assert run("window", "--nonsense").returncode == 2
    assert run("--version").stdout.startswith("handbill ")


def test_an_unexpected_error_leaves_a_report(tmp_path: Path) -> None:
    broken = "import handbill.cli.window as w, handbill.cli.main as m\nw.run = lambda a: 1/0\nraise SystemExit(m.main(['window']))"
    done = subprocess.run([sys.executable, "-c", broken], capture_output=True, text=True, check=False)
    assert done.returncode == 3 and "ZeroDivisionError" in done.stderr
    report = Path(done.stderr.split("a report is in ")[1].strip())
    assert str(tmp_path) in str(report) and "ZeroDivisionError" in report.read_text()


def test_doctor_looks_at_skills_sessions_and_the_write_gate(project: Path) -> None:
    engine("install", "--project", str(project))
    assert not [row for row in engine("doctor", cwd=project)["data"]["checks"] if row["check"] == "held calls"]
    (project / ".handbill.toml").write_text('[write_gate]\nmode = "edits"\n')
    (project / ".claude/skills/bad").mkdir(parents=True)
    (project / ".claude/skills/bad/SKILL.md").write_text("### Session Parameters\n```json\n{,}\n```\n")
    (project / "sessions/S").mkdir(parents=True)
    (project / "sessions/S/.state.json").write_text("{")
    found = {
        row["check"]: row for row in engine("doctor", cwd=project, expect=1)["data"]["checks"] if row["state"] == "bad"
    }
    assert "Edit" in found["held calls"]["text"] and found["held calls"]["fix"] == "engine install"
    assert "bad/SKILL.md, line 3: not JSON" in found["skills"]["text"]
    assert "S/.state.json is broken" in found["sessions"]["text"]
    engine("install", "--project", str(project))
    settings = json.loads((project / ".claude/settings.local.json").read_text())
    assert "|Edit|" in settings["hooks"]["PreToolUse"][0]["matcher"]
    assert not [
        row for row in engine("doctor", cwd=project, expect=1)["data"]["checks"] if row["check"] == "held calls"
    ]


def test_discover_directives_outside_of_any_project(project: Path, tmp_path: Path) -> None:
    assert "not in a project" in engine("discover-directives", "/etc", cwd=project, expect=1)["error"]["message"]
    (tmp_path / "elsewhere").mkdir()
    found = engine("discover-directives", str(tmp_path / "elsewhere"), "--project", str(project), cwd=project, expect=1)
    assert "is outside of" in found["error"]["message"]


def test_discover_directives_of_a_type_and_up_to_a_root(project: Path) -> None:
    (project / "one/deep").mkdir(parents=True)
    (project / ".directives").mkdir(exist_ok=True)
    (project / ".directives/PITFALLS.md").write_text("mind this\n")

    def found(*words: str) -> list[str]:
        data = engine("discover-directives", "one/deep", "--walk-up", *words, cwd=project)["data"]
        return [Path(row["file"]).relative_to(project).as_posix() for row in data["directives"]]

    assert found() == ["one/.directives/AGENTS.md", "one/.directives/TESTING.md", ".directives/PITFALLS.md"]
    assert found("--type", "PITFALLS.md") == [".directives/PITFALLS.md"]
    assert found("--root", str(project / "one")) == ["one/.directives/AGENTS.md", "one/.directives/TESTING.md"]
    error = engine("discover-directives", "one", "--root", str(project / "two"), cwd=project, expect=1)["error"]
    assert "is not above" in error["message"]
