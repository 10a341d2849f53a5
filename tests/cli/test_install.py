from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from command import engine, run, state_of

PYTHON = ("--python", sys.executable)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    return folder


def settings(project: Path) -> Path:
    return project / ".claude" / "settings.local.json"


OTHERS = {
    "model": "opus",
    "hooks": {
        "PostToolBatch": [{"matcher": "Read", "hooks": [{"type": "command", "command": "mine.sh"}]}],
        "Stop": [{"hooks": [{"type": "command", "command": "bell"}]}],
    },
}


def test_install_and_uninstall_leave_other_settings_as_they_were(project: Path) -> None:
    settings(project).parent.mkdir()
    before = json.dumps(OTHERS, indent=4)
    settings(project).write_text(before)
    answer = engine("install", *PYTHON, cwd=project)
    after = json.loads(settings(project).read_text())
    assert after["model"] == "opus"
    assert after["hooks"]["PostToolBatch"][0] == OTHERS["hooks"]["PostToolBatch"][0]  # type: ignore[index]
    assert len(after["hooks"]["PostToolBatch"]) == 2
    assert Path(answer["data"]["backup"]).read_text() == before
    engine("uninstall", cwd=project)
    assert settings(project).read_text() == before


def test_install_twice_changes_nothing(project: Path) -> None:
    assert engine("install", *PYTHON, cwd=project)["data"]["changed"] is True
    text = settings(project).read_text()
    assert engine("install", *PYTHON, cwd=project)["data"]["changed"] is False
    assert settings(project).read_text() == text


def test_dry_run_says_what_would_happen_and_does_nothing(project: Path) -> None:
    (project / ".git" / "info").mkdir()
    shown = run("install", "--dry-run", *PYTHON, cwd=project, COLUMNS="300").stdout
    for words in ("would change", str(settings(project)), os.path.realpath(sys.executable), "9 events", str(state_of(project)),
                  "would ask whether to add /.claude/settings.local.json", "--verbose shows each line"):  # fmt: skip
        assert words in shown, words
    assert "PostToolBatch" not in shown
    verbose = run("install", "--dry-run", "-v", *PYTHON, cwd=project).stdout
    assert '+    "PostToolBatch": [' in verbose and "handbill.hook" in verbose
    assert "PostToolBatch" in engine("install", "--dry-run", *PYTHON, cwd=project)["data"]["diff"]
    assert not (project / ".claude").exists() and not state_of(project).parent.exists()


def test_dry_run_of_uninstall(project: Path) -> None:
    engine("install", *PYTHON, cwd=project)
    before = settings(project).read_text()
    shown = run("uninstall", "--dry-run", cwd=project).stdout
    assert "would remove Handbill's hooks" in shown and "and delete the file" in shown and "PostToolBatch" not in shown
    assert "PostToolBatch" in run("uninstall", "--dry-run", "--verbose", cwd=project).stdout
    assert settings(project).read_text() == before


@pytest.mark.parametrize("text", ["// mine\n{}\n", '{"a": 1,}', "[]", '{"hooks": 7}'])
def test_what_the_client_does_not_read_is_refused_and_left_alone(project: Path, text: str) -> None:
    settings(project).parent.mkdir()
    settings(project).write_text(text)
    answer = engine("install", *PYTHON, cwd=project, expect=1)
    assert answer["error"]["code"] == "odd-settings" and answer["error"]["hint"]
    assert settings(project).read_text() == text
    assert sorted(path.name for path in settings(project).parent.iterdir()) == ["settings.local.json"]
    assert engine("uninstall", cwd=project)["data"]["changed"] is False


@pytest.mark.parametrize(
    "before",
    [b"", b"{}", b"{ }\r\n", b'{ "odd":   "spaces" }\n', b'\xef\xbb\xbf{\r\n\t"a": 1, "a": 2\r\n}', b'{"latin": "\xe9"}',
     b'{"hooks": {"Stop": [ ]}, "n": ' + b"9" * 5000 + b"}"],
)  # fmt: skip
def test_every_byte_comes_back(project: Path, before: bytes) -> None:
    settings(project).parent.mkdir()
    settings(project).write_bytes(before)
    backup = engine("install", *PYTHON, cwd=project)["data"]["backup"]
    assert Path(backup).read_bytes() == before and project not in Path(backup).parents
    assert "handbill.hook" in settings(project).read_text(errors="replace")
    engine("install", "--lanes", "4", *PYTHON, cwd=project)
    assert Path(backup).read_bytes() == before
    Path(backup).unlink()
    engine("uninstall", cwd=project)
    assert settings(project).read_bytes() == before


def test_the_backup_comes_back_if_only_the_form_has_changed(project: Path) -> None:
    """The client writes the whole file anew, in its own form, when a person allows a call for good."""
    settings(project).parent.mkdir()
    before = '{ "odd":   "spaces", "list": [ ] }\n'
    settings(project).write_text(before)
    engine("install", *PYTHON, cwd=project)
    settings(project).write_text(json.dumps(json.loads(settings(project).read_text()), indent=2))
    engine("uninstall", cwd=project)
    assert settings(project).read_text() == before


def test_what_was_added_since_is_not_undone_by_the_backup(project: Path) -> None:
    settings(project).parent.mkdir()
    settings(project).write_text('{ "odd":   "spaces" }\n')
    engine("install", *PYTHON, cwd=project)
    settings(project).write_text(settings(project).read_text().replace('"spaces"', '"spaces" ,"model":"opus"'))
    engine("uninstall", cwd=project)
    assert settings(project).read_text() == '{ "odd":   "spaces" ,"model":"opus" }\n'


def test_a_working_interpreter_is_kept(project: Path) -> None:
    first = engine("install", *PYTHON, cwd=project)["data"]["interpreter"]
    assert engine("install", cwd=project)["data"]["interpreter"] == first


def test_nothing_of_ours_is_left_behind(project: Path) -> None:
    before = sorted(project.rglob("*"))
    engine("install", *PYTHON, cwd=project)
    engine("uninstall", "--state", cwd=project)
    assert sorted(project.rglob("*")) == before


def test_user_install_and_state_out_of_the_project(project: Path, tmp_path: Path) -> None:
    answer = engine("install", "--user", *PYTHON, cwd=project)
    assert Path(answer["data"]["settings"]) == tmp_path / "home" / ".claude" / "settings.json"
    assert not (project / "sessions").exists() and not (project / ".claude").exists()
    assert str(tmp_path / "home") in answer["data"]["state"]
    engine("uninstall", "--user", cwd=project)
    assert not (tmp_path / "home" / ".claude" / "settings.json").exists()


def test_your_own_settings_file_may_be_a_link_and_stays_one(project: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}\n")
    own = tmp_path / "home" / ".claude" / "settings.json"
    own.parent.mkdir()
    own.symlink_to(real)
    engine("install", "--user", *PYTHON, cwd=project)
    assert own.is_symlink() and "handbill.hook" in real.read_text()


def test_your_own_settings_file_may_be_a_link_to_nothing_yet(tmp_path: Path, project: Path) -> None:
    own = tmp_path / "home" / ".claude" / "settings.json"
    own.parent.mkdir()
    own.symlink_to(tmp_path / "dotfiles.json")
    engine("install", "--user", *PYTHON, cwd=project)
    engine("uninstall", "--user", cwd=project)
    assert own.is_symlink() and not (tmp_path / "dotfiles.json").exists()


def test_modes(project: Path) -> None:
    engine("install", *PYTHON, cwd=project)
    assert stat.S_IMODE(settings(project).stat().st_mode) == 0o600
    assert stat.S_IMODE((state_of(project) / ".windows").stat().st_mode) == 0o700
    settings(project).chmod(0o644)
    assert engine("uninstall", cwd=project)["data"]["kept"] == [str(state_of(project))]
    engine("uninstall", "--state", cwd=project)
    assert not settings(project).exists() and not state_of(project).exists()


def test_places_that_are_no_project(tmp_path: Path) -> None:
    home = Path(os.environ["HOME"])
    assert "not a project folder" in engine("install", *PYTHON, "--project", str(home), expect=1)["error"]["message"]
    assert "not a project folder" in engine("install", *PYTHON, "--project", "/", expect=1)["error"]["message"]


def test_an_interpreter_that_will_not_do(project: Path) -> None:
    assert "not Python 3.11" in engine("install", "--python", "/bin/sh", cwd=project, expect=1)["error"]["message"]


def test_the_chosen_interpreter_is_a_real_one(project: Path) -> None:
    chosen = engine("install", cwd=project)["data"]["interpreter"]
    assert os.path.realpath(chosen) == chosen and "shims" not in chosen and ".venv" not in chosen


def test_windows_is_told_plainly() -> None:
    code = "import sys\nsys.platform, sys.modules['posix'] = 'win32', None\nfrom handbill.cli.main import main\nsys.exit(main(['install']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "Windows is not supported yet" in done.stderr
