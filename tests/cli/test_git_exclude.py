"""The settings file stays out of git, if the user wants that; nothing else of a repository is touched."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command import engine

LINE = "/.claude/settings.local.json"
SOURCE = str(Path(__file__).parents[2] / "src")


def git(*words: str, cwd: Path) -> str:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    return subprocess.run(["git", *identity, *words], cwd=cwd, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git("init", "-q", cwd=folder)
    return folder


def install(project: Path, *words: str) -> dict[str, Any]:
    answer = engine("install", "--python", sys.executable, *words, cwd=project)
    return {**answer["data"]["exclude"], "notes": "\n".join(answer["warnings"])}


def exclude(project: Path) -> Path:
    return project / ".git" / "info" / "exclude"


def test_it_is_said_and_with_the_option_done_and_undone(project: Path) -> None:
    before = exclude(project).read_bytes()
    told = install(project)
    assert told["added"] is False and "--exclude adds /.claude/settings.local.json to" in told["notes"]
    assert exclude(project).read_bytes() == before and git("status", "--short", cwd=project) == "?? .claude/\n"
    assert install(project, "--exclude")["added"] is True
    assert exclude(project).read_bytes() == before + f"{LINE}\n".encode()
    assert git("status", "--short", cwd=project) == ""
    again = install(project)
    assert again == {"line": "", "file": "", "added": False, "notes": ""}, "git ignores it by now"
    assert engine("uninstall", cwd=project)["data"]["exclude"] == str(exclude(project))
    assert exclude(project).read_bytes() == before


@pytest.mark.parametrize("before", [b"", b"mine\n", b"mine", b"\xff/.claude/settings.local.json.bak\r\nx"])
def test_what_was_in_that_file_comes_back(project: Path, before: bytes) -> None:
    exclude(project).write_bytes(before)
    exclude(project).chmod(0o644)
    install(project, "--exclude")
    assert exclude(project).read_bytes().splitlines()[-1] == LINE.encode()
    assert exclude(project).stat().st_mode & 0o777 == 0o644
    engine("uninstall", cwd=project)
    assert (exclude(project).read_bytes() if exclude(project).exists() else b"") == before


def test_a_line_of_yours_that_ends_like_ours_stays(project: Path) -> None:
    install(project, "--exclude")
    exclude(project).write_text(f"other{LINE}\n")
    assert engine("uninstall", cwd=project)["data"]["exclude"] == ""
    assert exclude(project).read_text() == f"other{LINE}\n"


def test_dry_run_only_says_it(project: Path) -> None:
    before = exclude(project).read_bytes()
    assert "would ask whether" in install(project, "--dry-run")["notes"]
    assert "would add" in install(project, "--dry-run", "--exclude")["notes"]
    assert exclude(project).read_bytes() == before


@pytest.mark.parametrize(
    "file, line, ignored",
    [
        (".gitignore", LINE, True),
        (".gitignore", ".claude/settings.local.json", True),
        (".gitignore", ".claude/", True),
        (".gitignore", ".claude/*", True),
        (".gitignore", "**/.claude/settings.local.json", True),
        (".gitignore", "*.local.json", True),
        (".claude/.gitignore", "settings.local.json", True),
        ("../home/.config/git/ignore", "**/.claude/settings.local.json", True),
        (".git/info/exclude", "settings.local.json", True),
        (".gitignore", "# .claude", False),
        (".gitignore", "claude/", False),
        (".gitignore", "other/.claude/settings.local.json", False),
        (".gitignore", "/", False),
    ],
)
def test_what_git_ignores_already(project: Path, file: str, line: str, ignored: bool) -> None:
    path = project / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"other\n{line}\n")
    assert (install(project)["line"] == "") is ignored
    done = subprocess.run(["git", "check-ignore", "-q", ".claude/settings.local.json"], cwd=project, check=False)
    assert (done.returncode == 0) is ignored, "git sees it in the same way"


def test_a_tracked_file_is_not_excluded(project: Path) -> None:
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.local.json").write_text("{}\n")
    git("add", ".", cwd=project)
    assert install(project, "--exclude") == {"line": "", "file": "", "added": False, "notes": ""}


def test_a_project_deep_in_a_repository(project: Path) -> None:
    deep = project / "odd [x]" / "app"
    (deep / ".claude").mkdir(parents=True)
    answer = engine("install", "--exclude", "--python", sys.executable, "--project", str(deep))
    assert answer["data"]["exclude"]["line"] == "/odd \\[x]/app/.claude/settings.local.json"
    assert git("status", "--short", cwd=project) == ""
    engine("uninstall", "--project", str(deep))
    assert "settings.local.json" not in exclude(project).read_text()


def test_a_worktree(project: Path, tmp_path: Path) -> None:
    git("commit", "-q", "--allow-empty", "-m", "x", cwd=project)
    git("worktree", "add", "-q", str(tmp_path / "tree"), cwd=project)
    made = install(tmp_path / "tree", "--exclude")
    assert (made["added"], made["file"]) == (True, str(exclude(project)))
    assert git("status", "--short", cwd=tmp_path / "tree") == ""
    engine("uninstall", cwd=tmp_path / "tree")
    assert LINE not in exclude(project).read_text()


def test_no_repository_and_all_projects(project: Path, tmp_path: Path) -> None:
    (tmp_path / "plain" / ".claude").mkdir(parents=True)
    assert install(tmp_path / "plain", "--exclude")["line"] == ""
    assert install(project, "--user", "--exclude")["line"] == ""


def other_repository(tmp_path: Path) -> Path:
    """One of the user's that a malicious project would like to write to."""
    (tmp_path / "victim").mkdir()
    git("init", "-q", cwd=tmp_path / "victim")
    return tmp_path / "victim"


def link_to_folder(project: Path, victim: Path) -> None:
    (project / ".git").rename(project / "git")
    (project / ".git").symlink_to(victim / ".git")


def file_that_names_a_folder(project: Path, victim: Path) -> None:
    (project / ".git").rename(project / "git")
    (project / ".git").write_text(f"gitdir: {victim}/.git\n")


def file_that_names_a_worktree(project: Path, victim: Path) -> None:
    git("commit", "-q", "--allow-empty", "-m", "x", cwd=victim)
    git("worktree", "add", "-q", str(victim.parent / "tree"), cwd=victim)
    (project / ".git").rename(project / "git")
    (project / ".git").write_text(f"gitdir: {victim}/.git/worktrees/tree\n")


def link_to_info(project: Path, victim: Path) -> None:
    exclude(project).unlink()
    exclude(project).parent.rmdir()
    exclude(project).parent.symlink_to(victim / ".git" / "info")


def link_to_file(project: Path, victim: Path) -> None:
    exclude(project).unlink()
    exclude(project).symlink_to(victim / ".git" / "info" / "exclude")


def link_to_own_hook(project: Path, victim: Path) -> None:
    exclude(project).unlink()
    exclude(project).symlink_to("../hooks/post-checkout")


def a_pipe(project: Path, victim: Path) -> None:
    exclude(project).unlink()
    os.mkfifo(exclude(project))


def too_large(project: Path, victim: Path) -> None:
    exclude(project).write_bytes(b"x\n" * (1 << 20))


def no_folder(project: Path, victim: Path) -> None:
    exclude(project).unlink()
    exclude(project).parent.rmdir()


ODD = [link_to_folder, file_that_names_a_folder, file_that_names_a_worktree, link_to_info, link_to_file, link_to_own_hook,
       a_pipe, too_large, no_folder]  # fmt: skip


@pytest.mark.parametrize("make", ODD, ids=lambda make: make.__name__)
def test_where_anything_is_odd_the_line_is_only_shown(project: Path, tmp_path: Path, make: Any) -> None:
    victim = other_repository(tmp_path)
    make(project, victim)
    before = {path: path.read_bytes() for path in victim.rglob("*") if path.is_file()}
    told = install(project, "--exclude")
    assert told["added"] is False and told["file"] == "" and f"add the line {LINE} to" in told["notes"]
    assert not (project / ".git" / "hooks" / "post-checkout").exists()
    engine("uninstall", cwd=project)
    assert {path: path.read_bytes() for path in victim.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("answer, added", [("y\n", True), ("\n", False), ("n\n", False), ("\x04", False)])
def test_a_person_is_asked(project: Path, answer: str, added: bool) -> None:
    process, terminal = pty.fork()
    if not process:
        os.chdir(project)
        environ = {**os.environ, "PYTHONPATH": SOURCE, "COLUMNS": "200"}
        os.execve(
            sys.executable, [sys.executable, "-m", "handbill.cli.main", "install", "--python", sys.executable], environ
        )
    shown = b""
    while b"[y/N]" not in shown:
        assert select.select([terminal], [], [], 60)[0], shown
        shown += os.read(terminal, 1 << 16)
    assert b"settings.local.json" in shown and not (project / ".claude").exists(), "nothing was done before the answer"
    os.write(terminal, answer.encode())
    try:
        while os.read(terminal, 1 << 16):
            pass
    except OSError:
        pass  # the other side has closed the terminal
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
    assert (LINE in exclude(project).read_text()) is added and (project / ".claude").exists()
