"""find-sessions, glob, skills, preview, why."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from command import engine, run

from handbill.cli.verbs.glob import matching
from handbill.store import sessions
from simulated_project import SimulatedProject

TODAY = datetime.date.today()


def make_session(root: Path, name: str, **state: object) -> None:
    (root / "sessions" / name).mkdir(parents=True)
    sessions.update(str(root / "sessions" / name), lambda _: ({"v": 1, **state}, None))
    (root / "sessions" / name / "LOG.md").write_text("x")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".claude").mkdir(parents=True)
    named = (TODAY - datetime.timedelta(days=1)).strftime("%Y_%m_%d")
    make_session(folder, f"{TODAY:%Y_%m_%d}_LOGIN", lifecycle="active", skill="fix", taskSummary="Login form")
    make_session(folder, f"{named}_SEARCH", lifecycle="idle", searchKeywords=["ranking"])
    make_session(folder, "2020_02_03_OLD", lifecycle="completed", sessionDescription="the first one")
    make_session(folder, "unnamed", lifecycle="completed", startedAt="2020-02-05T10:00:00Z")
    (folder / "sessions/broken").mkdir()
    (folder / "sessions/broken/.state.json").write_text("{")
    os.utime(folder / "sessions/broken", (1, 1))
    return folder


def test_sessions_that_are_found(project: Path) -> None:
    found = engine("find-sessions", "all", cwd=project)["data"]["sessions"]
    assert [row["name"].rpartition("_")[2] for row in found] == ["LOGIN", "SEARCH", "unnamed", "OLD", "broken"]
    assert found[0]["day"] == f"{TODAY}" and "login form" in found[0]["words"] and found[-1]["problem"]


def test_sessions_that_are_not_there(project: Path) -> None:
    assert engine("find-sessions", "topic", "nothing", cwd=project, expect=1)["data"]["sessions"] == []
    for words in (["date"], ["date", "yesterday"], ["range", "2020-01-01"]):
        assert run("find-sessions", *words, cwd=project).returncode == 1
    assert run("find-sessions", "sometimes", cwd=project).returncode == 2
    wrong = engine("find-sessions", "date", "2026-01-31", "2026-02-01", cwd=project, expect=1)["error"]["message"]
    assert wrong == "date takes 1 word, not 2"
    files = run("find-sessions", "today", "--files", cwd=project).stdout.splitlines()
    assert [Path(file).name for file in files] == ["LOG.md"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    for number, name in enumerate(("a.md", "sub/b.md", "sub/deep/c.md", "sub/deep/d.txt", ".hidden/e.md", "sub/.f.md")):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
        os.utime(path, (1000 + number, 1000 + number))
    elsewhere = tmp_path / "drive"
    elsewhere.mkdir()
    (elsewhere / "g.md").write_text("x")
    (root / "linked").symlink_to(elsewhere)
    (root / "sub" / "circle").symlink_to(root)
    (root / "dangling").symlink_to(tmp_path / "nowhere")
    return root


@pytest.mark.parametrize(
    "pattern, expected",
    [
        ("*.md", {"a.md"}), ("**/*.md", {"a.md", "sub/b.md", "sub/deep/c.md", "linked/g.md"}), ("sub/*", {"sub/b.md"}),
        ("sub/**", {"sub/b.md", "sub/deep/c.md", "sub/deep/d.txt"}), ("**/deep/*.txt", {"sub/deep/d.txt"}), ("*/*/c.md", {"sub/deep/c.md"}),
        ("sub/**/c.md", {"sub/deep/c.md"}), ("{a,sub/b}.md", {"a.md", "sub/b.md"}), (".hidden/*", {".hidden/e.md"}), ("[ab].md", {"a.md"}),
        ("linked/*.md", {"linked/g.md"}), ("nothing", set()), ("**", {"a.md", "sub/b.md", "sub/deep/c.md", "sub/deep/d.txt", "linked/g.md"}),
    ],
)  # fmt: skip
def test_glob(tree: Path, pattern: str, expected: set[str]) -> None:
    assert {os.path.relpath(path, tree) for path in matching(pattern, str(tree))} == expected


def test_glob_newest_first_and_in_one_folder(tree: Path) -> None:
    found = run("glob", "sub/{b,deep/*}.*", str(tree)).stdout.splitlines()
    assert [os.path.basename(path) for path in found] == ["d.txt", "c.md", "b.md"]
    assert run("glob", "*.md", cwd=tree).stdout.splitlines() == ["a.md"]
    assert run("glob", "**/*.md", "--limit", "1", str(tree / "sub")).stdout.count("\n") == 1
    assert run("glob", "*.none", cwd=tree).returncode == 1
    assert run("glob", "../*", cwd=tree).returncode == 1
    assert run("glob", "*", str(tree / "none")).returncode == 1


def test_skills_are_listed_with_their_pages_and_problems(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.skill("mine", {"label": "0", "name": "Setup", "steps": ["§CMD_A", "§CMD_REPORT_INTENT"]}, logTemplate="none.md")
    (box.project / ".directives/commands/CMD_A.md").unlink()
    done = run("skills", cwd=box.project)
    assert done.returncode == 1 and "none.md" in done.stdout and "implement" in done.stdout
    one = engine("skills", "mine", cwd=box.project, expect=1)["data"]
    (phase,) = one["phases"]
    assert phase["without"] == ["CMD_A"] and phase["files"][0].endswith("commands/CMD_REPORT_INTENT.md")
    assert "does not exist" in one["problems"][0]
    box.page("CMD_P", "## PROOF FOR §CMD_P\n```json\n{,}\n```\n")
    box.page("CMD_Q", '## PROOF FOR §CMD_Q\n```json\n{"required": ["q"]}\n```\n')
    box.skill("odd", {"label": "0", "steps": ["§CMD_P", "§CMD_Q"], "proof": ["p"], "proofs": []}, text="by §FMT_NOPE")
    odd = engine("skills", "odd", cwd=box.project, expect=1)["data"]
    assert odd["phases"][0]["proof"] == ["p", "q"]
    assert "CMD_P.md, line 3" in odd["problems"][0]
    assert "proofs is not a field" in odd["hints"][0] and "§FMT_NOPE" in odd["hints"][1]
    assert "did you mean odd?" in run("skills", "Od", cwd=box.project).stderr
    assert run("skills", "nothing", cwd=box.project).returncode == 1


def test_preview_changes_nothing(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.skill("mine", {"label": "0", "steps": ["§CMD_A"]}, {"label": "1", "steps": ["§CMD_B"]})
    box.sim.start()
    before = {path: path.read_bytes() for path in box.project.parent.rglob("*") if path.is_file()}
    environ = {"CLAUDE_CODE_SESSION_ID": box.sim.session}

    def preview(*words: str) -> dict[str, str]:
        data = engine("preview", *words, cwd=box.project, **environ)["data"]
        return {row["file"].rsplit("/", 1)[1]: row["when"] for row in data["files"]}

    assert preview("one/f.py") == {"AGENTS.md": "now"}
    assert preview("--skill", "mine") == {"CMD_A.md": "now", "SKILL.md": "by the host"}
    assert preview("--write", "two/new.py") == {"AGENTS.md": "now"}
    assert set(preview("--start").values()) == {"now"} and len(preview("--start")) == 6
    assert preview() == {}
    after = {path: path.read_bytes() for path in box.project.parent.rglob("*") if path.is_file()}
    assert after == before
    box.sim.skill("mine")
    box.shell("engine session activate S mine")
    assert preview("--phase", "1") == {"CMD_B.md": "now"}
    assert "declared: 0, 1" in run("preview", "--phase", "99", cwd=box.project, **environ).stderr
    box.deliveries.assert_delivery_count("CMD_B.md", 0)


def test_preview_without_any_window(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    data = engine("preview", "one/f.py", cwd=box.project)["data"]
    assert [row["file"].rsplit("/", 1)[1] for row in data["files"]] == ["AGENTS.md"]
    assert run("preview", "--session", "nope", cwd=box.project).returncode == 1
    assert "no skill is active" in run("preview", "--phase", "1", cwd=box.project).stderr


def test_why(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    box.sim.read("one/f.py")
    found = engine("why", "one/.directives/AGENTS.md", cwd=box.project)["data"]
    assert found["windows"][0]["state"] == "confirmed" and found["windows"][0]["reason"].startswith("directive of")
    assert [line["event"] for line in found["decisions"]] == ["confirmed", "claim-deliver"], "the newest first"
    for file in ("two/.directives/AGENTS.md", "CMD_REPORT_INTENT", "none.md"):
        assert engine("why", file, cwd=box.project, expect=1)["data"]["why_not"]
    assert run("why", "§CMD_NOWHERE", cwd=box.project).returncode == 1
    for name in ("library:COMMANDS.md", "COMMANDS.md", "SIGILS.md"):
        assert engine("why", name, cwd=box.project)["data"]["windows"][0]["reason"] == "standard"
    box.idle()
    box.sim.compact()
    assert engine("why", "one/.directives/AGENTS.md", cwd=box.project)["data"]["windows"][0]["state"] == "in doubt"
    assert "may still be there" in run("window", cwd=box.project).stdout
    box.idle()
    gone = engine("why", "one/.directives/AGENTS.md", cwd=box.project)["data"]
    assert gone["windows"] == [] and "a compaction or a rewind removed it" in gone["why_not"][0]
    assert "confirmed" in run("why", "one/.directives/AGENTS.md", cwd=box.project).stdout
    assert engine("why", "library-free.md", cwd=box.project, expect=1)["data"]["windows"] == []


def test_why_asks_which_file_is_meant(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py", "two/f.py")
    error = engine("why", "AGENTS.md", cwd=box.project, expect=1)["error"]
    assert "means 2 files" in error["message"] and "one/.directives/AGENTS.md" in error["hint"]


def test_why_tells_windows_apart(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    box.sim.start()
    box.sim.read("one/f.py")
    box.sim.subagent("a1b2c3")
    box.sim.read("one/f.py", agent="a1b2c3")
    shown = run("why", "one/.directives/AGENTS.md", cwd=box.project).stdout
    assert f"{box.sim.session[:8]} main" in shown and f"{box.sim.session[:8]} agent a1b2c3" in shown


def test_why_shows_a_name_with_brackets_as_it_is(make_project: Callable[..., SimulatedProject]) -> None:
    """Neither the value nor the screen has the escapes of the other."""
    box = make_project()
    box.write("we[b]/.directives/AGENTS.md", "x\n")
    for words in (["why", "we[b]/.directives/AGENTS.md"], ["why", "we[b]/.directives/AGENTS.md", "--json"]):
        assert "it is delivered when we[b], or a folder below it, is touched" in run(*words, cwd=box.project).stdout


def test_preview_of_nothing(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    assert "there is no nowhere.py" in engine("preview", "nowhere.py", cwd=box.project, expect=1)["error"]["message"]
    assert "no hooks are registered" in engine("preview", "one/f.py", cwd=box.project)["warnings"][0]


def test_usage_errors_are_json_too(make_project: Callable[..., SimulatedProject]) -> None:
    box = make_project()
    for words in (["window", "--no-such-option"], ["nonsense"], ["session", "activate"]):
        done = run(*words, "--json", cwd=box.project)
        assert done.returncode == 2 and json.loads(done.stdout)["error"]["code"] == "usage", words
        assert run(*words, cwd=box.project).returncode == 2


def test_preview_and_discover_directives_agree_about_worktrees(
    make_project: Callable[..., SimulatedProject], tmp_path: Path
) -> None:
    """Inside of the project and next to it; the worktree has its own root."""
    box = make_project()
    git = ("git", "-c", "user.name=x", "-c", "user.email=x@x", "-C", str(box.project))
    box.write("sub/.directives/AGENTS.md", "rules of sub\n")
    box.write(".directives/AGENTS.md", "rules of the root\n")
    box.write("sub/f.py", "x\n")
    for words in (("init", "-q"), ("add", "-A", "-f", "."), ("commit", "-qm", "x")):
        subprocess.run([*git, *words], check=True)
    for place in (box.project / "trees" / "one", tmp_path / "two"):
        subprocess.run([*git, "worktree", "add", "-q", str(place), "-b", place.name], check=True)
        (place / "sub/.directives/AGENTS.md").write_text(f"other rules in {place.name}\n")
        found = engine("discover-directives", str(place / "sub"), "--project", str(box.project))["data"]
        shown = engine("preview", str(place / "sub/f.py"), cwd=box.project)["data"]["files"]
        expected = [str(place / "sub/.directives/AGENTS.md"), str(place / ".directives/AGENTS.md")]
        assert found["root"] == str(place) and [row["file"] for row in found["directives"]] == expected
        assert {row["file"] for row in shown if row["when"] == "now"} >= set(expected), shown
