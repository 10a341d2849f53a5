"""The launcher: what is registered is short, and where none can work, what is registered needs none."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command import engine

from handbill.cli import launcher as module
from handbill.cli.launcher import Launcher
from handbill.hosts.claude_code.registration import MARK, handlers

PYTHON = os.path.realpath(sys.executable)
SOURCE = str(Path(__file__).parents[2] / "src")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    return folder


def registered(project: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((project / ".claude" / "settings.local.json").read_text())["hooks"]
    return found


def event(project: Path) -> str:
    return json.dumps({"hook_event_name": "SessionStart", "source": "startup", "session_id": "s", "cwd": str(project)})


def test_a_registered_command_is_a_file_and_an_argument(project: Path, tmp_path: Path) -> None:
    engine("install", "--python", PYTHON, cwd=project)
    one = registered(project)["PreCompact"][0]["hooks"][0]
    made = Path(one["command"])
    assert one["args"] == ["claude-code"] and MARK in made.name
    assert made.parent == tmp_path / "home/.local/state/handbill"
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    done = subprocess.run(
        [str(made), *one["args"]], input=event(project), capture_output=True, text=True, check=False, cwd="/",
        env={"HOME": str(tmp_path / "home"), "CLAUDE_PROJECT_DIR": str(project)},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "") and "# Commands" in done.stdout


def test_it_follows_the_users_own_state_folder(project: Path, tmp_path: Path) -> None:
    engine("install", "--python", PYTHON, cwd=project, XDG_STATE_HOME=str(tmp_path / "state"))
    assert Path(registered(project)["PreCompact"][0]["hooks"][0]["command"]).parent == tmp_path / "state/handbill"


def test_one_launcher_for_all_projects_and_one_for_each_version(tmp_path: Path) -> None:
    a, b, c = (
        Launcher(PYTHON, "/opt/a", "/y"),
        Launcher(PYTHON, "/opt/b", "/y"),
        Launcher("/opt/python", "/opt/a", "/y"),
    )
    assert len({a.path, b.path, c.path}) == 3 and Launcher(PYTHON, "/opt/a", "/y").path == a.path


@pytest.mark.parametrize("missing", ["package", "module"])
def test_without_the_package_it_ends_quietly(tmp_path: Path, missing: str) -> None:
    (tmp_path / "copy" / "handbill").mkdir(parents=True)
    if missing == "module":
        (tmp_path / "copy" / "handbill" / "__init__.py").write_text("")
    made = Launcher(PYTHON, str(tmp_path / "copy"), "")
    made.write()
    done = subprocess.run([*made.command, "claude-code"], input=b"{}", capture_output=True, check=False)
    assert (made.command, done.returncode, done.stdout, done.stderr) == ([made.path], 0, b"", b"")


@pytest.mark.parametrize("interpreter", ["/opt/my python/python3", f"/opt/{'long' * 40}/python3", "/opt/py\tthon"])
def test_an_interpreter_that_no_first_line_can_name(interpreter: str) -> None:
    command = Launcher(interpreter, SOURCE, "").command
    assert command[0] == interpreter and command[1:6] == ["-I", "-S", "-X", "utf8", "-c"] and MARK in command[6]
    assert handlers(command, 2)["SessionStart"][0]["args"][-3:] == ["claude-code", "--lane", "1/2"]


def test_an_interpreter_in_a_folder_with_a_space_is_registered_inline(project: Path, tmp_path: Path) -> None:
    spaced = tmp_path / "my python" / "python3"
    spaced.parent.mkdir()
    spaced.write_text(
        f'#!/bin/sh\ncase "$*" in *_base_executable*) echo "3 12 {spaced}";; *) exec {PYTHON} "$@";; esac\n'
    )
    spaced.chmod(0o755)
    answer = engine("install", "--python", str(spaced), cwd=project)
    assert answer["data"]["command"][0] == str(spaced)
    assert list((tmp_path / "home/.local/state/handbill").glob(f"{MARK}-*")) == []
    found = {one["check"]: one for one in engine("doctor", cwd=project)["data"]["checks"]}
    assert found["interpreter"]["state"] == "ok"


def test_where_programs_cannot_be_run_no_launcher_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    class Mounted:
        f_flag = getattr(os, "ST_NOEXEC", 8)

    monkeypatch.setattr(os, "ST_NOEXEC", 8, raising=False)
    monkeypatch.setattr(module.os, "statvfs", lambda path: Mounted())
    assert Launcher(PYTHON, SOURCE, "").command[0] == PYTHON


@pytest.mark.parametrize("what", ["changed", "gone", "not executable", "a link"])
def test_doctor_finds_a_launcher_that_is_not_as_installed(project: Path, tmp_path: Path, what: str) -> None:
    made = Path(engine("install", "--python", PYTHON, cwd=project)["data"]["command"][0])
    text = made.read_text()
    if what == "changed":
        made.write_text(f"#!/bin/sh\ntouch {tmp_path}/RAN\n")
    elif what == "not executable":
        made.chmod(0o600)
    else:
        made.unlink()
        if what == "a link":
            made.symlink_to(tmp_path / "elsewhere")
            (tmp_path / "elsewhere").write_text(text)
    found = [one for one in engine("doctor", cwd=project, expect=1)["data"]["checks"] if one["check"] == "launcher"]
    words = "is gone, so the hooks do nothing" if what == "gone" else "was changed"
    assert [(one["state"], one["fix"]) for one in found] == [("bad", "engine install")] and words in found[0]["text"]
    assert not (tmp_path / "RAN").exists()
    engine("install", "--python", PYTHON, cwd=project)
    assert made.read_text() == text and not made.is_symlink() and stat.S_IMODE(made.stat().st_mode) == 0o700
    assert [one for one in engine("doctor", cwd=project)["data"]["checks"] if one["check"] == "launcher"] == []


def test_a_folder_in_its_place_is_said_and_not_removed(project: Path) -> None:
    made = Path(engine("install", "--python", PYTHON, cwd=project)["data"]["command"][0])
    made.unlink()
    made.mkdir()
    answer = engine("install", "--python", PYTHON, cwd=project, expect=1)
    assert str(made) in answer["error"]["message"] and answer["error"]["hint"] and made.is_dir()


def test_a_launcher_is_removed_when_nothing_has_used_it_for_long(project: Path, tmp_path: Path) -> None:
    made = Path(engine("install", "--python", PYTHON, cwd=project)["data"]["command"][0])
    other = made.with_name(f"{MARK}-00000000")
    for path in (made, other):
        path.touch()
        os.utime(path, (0, 0))
    assert engine("prune", cwd=project)["data"]["launchers"] == [str(other)]
    engine("install", "--python", PYTHON, cwd=project)
    engine("uninstall", cwd=project)
    assert engine("prune", cwd=project)["data"]["launchers"] == [], "clients that are still open use it"
    os.utime(made, (0, 0))
    assert engine("prune", cwd=project)["data"]["launchers"] == [str(made)] and not made.exists()


def test_a_worker_gets_the_launcher_as_well(project: Path) -> None:
    made = engine("install", "--python", PYTHON, cwd=project)["data"]["command"][0]
    Path(made).unlink()
    found = engine("worker", "launch", "w", str(project), "do it", "tickets/d.md", cwd=project)["data"]
    hooks = json.loads(Path(found["settings"]).read_text())["hooks"]
    assert hooks["Stop"][0]["hooks"][0]["command"] == made and Path(made).exists()
    assert "PostToolBatch" not in hooks, "registered for the project already"
