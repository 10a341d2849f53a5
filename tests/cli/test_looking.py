"""The commands that show: window, discover-directives, prune, completion, help."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from command import engine, run, state_of
from looked_at import project

from handbill.cli.project import marked_project
from handbill.cli.screen import listed
from handbill.cli.verb_table import VERBS
from handbill.lab.simulator import Simulator, direct_hooks
from simulated_project import SimulatedProject

__all__ = ["project"]  # the fixture


def test_window(project: Path) -> None:
    data = engine("window", cwd=project)["data"]
    states = {one["file"].rsplit("/project/")[-1]: one["state"] for one in data["files"]}
    assert states["one/.directives/AGENTS.md"] == "confirmed"
    assert states["two/.directives/AGENTS.md"] == "confirmed", "the transcript shows it, though no hook ran since"
    assert len(states) == 8
    shown = run("window", "abc", cwd=project, COLUMNS="200").stdout
    assert "one/.directives/AGENTS.md" in shown and "directive" in shown and "tokens" in shown
    assert engine("window", "--all", cwd=project)["data"]["windows"][0]["session"] == "abc-session"


def test_a_program_is_told_what_the_window_costs(project: Path) -> None:
    data = engine("window", cwd=project)["data"]
    cost = data["cost"]
    assert cost["window"]["total"]["files"] == len(data["files"]) == 8
    assert cost["window"]["total"]["characters"] == sum(one["chars"] for one in data["files"])
    assert cost["window"]["by_reason"]["directive"]["files"] == 2
    totals = engine("deliveries", "--summary", cwd=project)["data"]
    assert cost["session"]["total"]["characters"] == totals["characters"]
    assert list(cost["session"]["by_window"]) == ["abc-session.main"]


def test_files_that_wait_are_counted_apart(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    for name in ("one", "two", "three"):
        box.write(f"{name}/.directives/AGENTS.md", f"rules of {name}\n" * 500)
    box.sim.start()
    box.sim.read("one/f.py", "two/f.py", "three/f.py")
    files = json.loads(box.process(f"engine window {box.sim.session} --json").stdout)["data"]["files"]
    waiting = sum(one["state"] == "pending" for one in files)
    shown = " ".join(box.process(f"engine window {box.sim.session}").stdout.split())
    assert waiting == 2 and f" {len(files) - 2} files, about" in shown and "; 2 files pending" in shown, shown


def test_the_agents_own_shell_finds_its_window(project: Path) -> None:
    data = engine("window", cwd=project / "one", CLAUDE_CODE_SESSION_ID="abc-session")["data"]
    assert data["session"] == "abc-session"
    engine("window", cwd=project, CLAUDE_CODE_SESSION_ID="other", expect=1)


def test_no_window_is_an_error_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "empty" / ".git").mkdir(parents=True)
    answer = engine("window", cwd=tmp_path / "empty", expect=1)
    assert answer["error"]["message"] and "engine doctor" in answer["error"]["hint"]


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


def test_the_home_folder_is_no_project_of_what_is_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client keeps its own files in ~/.claude: that is not the mark of a project."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("home/.claude", "home/loose", "home/work/.git", "home/work/src"):
        (tmp_path / name).mkdir(parents=True)
    assert marked_project(str(tmp_path / "home/loose")) == ""
    assert marked_project(str(tmp_path / "home/work/src")) == str(tmp_path / "home/work")


def test_a_project_that_does_not_exist(tmp_path: Path) -> None:
    for verb in ("install", "doctor", "window", "deliveries", "prune", "uninstall"):
        assert "there is no folder" in engine(verb, "--project", str(tmp_path / "nope"), expect=1)["error"]["message"]
    assert not (tmp_path / "nope").exists()


def test_demo_with_something_that_is_no_client(tmp_path: Path) -> None:
    for path in ("/bin/true", "/etc/hostname", str(tmp_path)):
        assert engine("demo", "--client", path, expect=1)["error"]["hint"]


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


def test_prune_keeps_the_young_and_the_living(project: Path) -> None:
    windows = state_of(project) / ".windows"
    old = time.time() - 30 * 86400
    for name, pid in (("dead", 2**22 + 1), ("alive", os.getpid())):
        (windows / f"{name}.jsonl").write_text(json.dumps({"v": 1, "pid": pid}) + "\n")
        (windows / f"{name}.lock").write_text("")
        for suffix in ("jsonl", "lock"):
            os.utime(windows / f"{name}.{suffix}", (old, old))
    planned = engine("prune", "--dry-run", cwd=project)["data"]["removed"]
    assert "\n  dead\n" in run("prune", "--dry-run", cwd=project).stdout and (windows / "dead.jsonl").exists()
    removed = engine("prune", cwd=project)["data"]["removed"]
    assert "dead.jsonl" in removed and removed == planned
    left = {path.name for path in windows.iterdir()}
    assert "dead.lock" not in left
    assert {"alive.jsonl", "abc-session.jsonl"} <= left and "dead.jsonl" not in left


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_names_every_verb(shell: str) -> None:
    script = engine("completion", shell)["data"]["script"]
    assert all(verb in script for verb in VERBS)
    assert "--dry-run" in script or "-l dry-run" in script


@pytest.mark.parametrize(
    "typed, offered",
    [
        ("doc", "doctor"), ("session pha", "phase"), ("session phase x --us", "--user-approved"),
        ("completion z", "zsh"), ("window --au", "--audit"), ("dispatch progress --task", ""), ("preview ''", ""),
    ],
)  # fmt: skip
def test_completion_works_in_bash(typed: str, offered: str) -> None:
    script = engine("completion", "bash")["data"]["script"]
    ask = f"{script}\nCOMP_WORDS=(engine {typed}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _handbill"
    done = subprocess.run(["bash", "-c", f"{ask}; echo ${{COMPREPLY[@]}}"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == offered


def test_exit_codes() -> None:
    assert run().returncode == 0
    assert run("nonsense").returncode == 2
    assert run("window", "--nonsense").returncode == 2


@pytest.mark.parametrize("words", [["--help"], ["window", "--bogus", "--json"], ["doctor", "--json"]])
def test_a_reader_that_went_away(words: list[str], tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "handbill.cli.main", *words]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, cwd=tmp_path, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_closed_output(tmp_path: Path) -> None:
    command = f"{sys.executable} -m handbill.cli.main role list >&-"
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, cwd=tmp_path, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_reader_that_goes_away_in_the_middle(tmp_path: Path) -> None:
    """The text is longer than what Python keeps back, so the command itself meets the closed pipe."""
    reader, writer = os.pipe()
    os.close(reader)
    run_long = "w.run = lambda a: print('x' * 200_000)\nraise SystemExit(m.main(['window']))"
    long = f"import handbill.cli.verbs.window as w, handbill.cli.main as m\n{run_long}"
    command, environ = [sys.executable, "-c", long], {**os.environ, "XDG_STATE_HOME": str(tmp_path)}
    done = subprocess.run(
        command, stdout=writer, stderr=subprocess.PIPE, cwd=tmp_path, env=environ, text=True, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "") and not (tmp_path / "handbill").exists()


def test_an_unexpected_error_leaves_a_report(tmp_path: Path) -> None:
    broken = "import handbill.cli.verbs.window as w, handbill.cli.main as m\nw.run = lambda a: 1/0\nraise SystemExit(m.main(['window']))"
    done = subprocess.run([sys.executable, "-c", broken], capture_output=True, text=True, check=False)
    assert done.returncode == 3 and "ZeroDivisionError" in done.stderr
    report = Path(done.stderr.split("a report is in ")[1].strip())
    assert str(tmp_path) in str(report) and "ZeroDivisionError" in report.read_text()


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


@pytest.mark.parametrize(
    "names, said", [([], ""), (["a"], "a"), (["a", "b"], "a, b"), (["a", "b", "c"], "a, b and 1 more")]
)
def test_a_long_list_says_how_many_more(names: list[str], said: str) -> None:
    assert listed(names, 2) == said
