from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import pytest

from handbill.errors import CorruptState, HandbillError
from handbill.store import disk, sessions


def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    folder = str(tmp_path / "sessions" / "W")
    assert sessions.read(folder) is None
    assert sessions.update(folder, lambda state: ({"v": 1, "a": "ü\n"}, state), make=True) is None
    assert sessions.read(folder) == {"v": 1, "a": "ü\n"}
    assert sessions.update(folder, lambda state: (None, "nothing")) == "nothing"
    assert (tmp_path / "sessions/W/.state.json").stat().st_mode & 0o777 == 0o600
    assert sessions.folders(str(tmp_path / "sessions")) == [folder]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '"x"', "\xff", '{"phaseHistory": 5}', '{"phases": [1]}', '{"skill": 3}', '{"completedSkills": [{}]}', "[" * 100_000,
     '{"phases": [{"steps": "x"}]}'],
)  # fmt: skip
def test_a_broken_state_is_named_and_left(tmp_path: Path, text: str) -> None:
    path = tmp_path / ".state.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(CorruptState, match=r"\.state\.json is broken"):
        sessions.read(str(tmp_path))
    with pytest.raises(CorruptState):
        sessions.update(str(tmp_path), lambda state: ({}, None))
    assert path.read_bytes() == text.encode("latin-1")
    aside: list[str] = []
    sessions.update(str(tmp_path), lambda state: ({"begun": state}, None), aside=aside)
    assert "is broken" in aside[0] and sessions.read(str(tmp_path)) == {"begun": None}
    assert len(list(tmp_path.glob(".state.json.corrupt-*"))) == 1


def test_a_newer_versions_state_is_not_touched(tmp_path: Path) -> None:
    sessions._seal(str(tmp_path), '{"v": 99}')
    (tmp_path / ".state.json").write_text('{"v": 99}')
    with pytest.raises(HandbillError, match="newer version"):
        sessions.update(str(tmp_path), lambda state: ({}, None))
    assert (tmp_path / ".state.json").read_text() == '{"v": 99}'


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    path = tmp_path / "W"
    path.write_text("mine")
    for act in (lambda: sessions.read(str(path)), lambda: sessions.update(str(path), lambda s: ({}, None), make=True)):
        with pytest.raises(HandbillError, match="is a file"):
            act()
    assert path.read_text() == "mine"


def test_a_command_waits_longer_for_its_turn_than_a_hook_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "PATIENCE", 0.01)
    sessions.update(str(tmp_path), lambda state: ({"a": 1}, None), make=True)
    lock = disk.locked(str(tmp_path / ".state.lock"))
    threading.Timer(0.2, os.close, [lock]).start()
    sessions.update(str(tmp_path), lambda state: ({"a": 2}, None))
    assert sessions.read(str(tmp_path)) == {"a": 2}


def test_a_failing_change_changes_nothing(tmp_path: Path) -> None:
    sessions.update(str(tmp_path), lambda state: ({"a": 1}, None), make=True)
    with pytest.raises(ZeroDivisionError):
        sessions.update(str(tmp_path), lambda state: ({"a": 1 // 0}, None))
    assert sessions.read(str(tmp_path)) == {"a": 1}
    assert sorted(name for name in os.listdir(tmp_path) if name.startswith(".")) == [
        ".gitignore",
        ".state.json",
        ".state.lock",
    ]


def test_no_session(tmp_path: Path) -> None:
    with pytest.raises(sessions.NoSession, match="nothing was activated"):
        sessions.required(str(tmp_path))
    with pytest.raises(sessions.NoSession):
        sessions.update(str(tmp_path / "none"), lambda state: ({}, None))


def test_nothing_is_written_that_could_not_be_read_again(tmp_path: Path) -> None:
    sessions.update(str(tmp_path), lambda state: ({"a": 1}, None), make=True)
    with pytest.raises(HandbillError, match="would break"):
        sessions.update(str(tmp_path), lambda state: ({"searchKeywords": "login"}, None))
    assert sessions.read(str(tmp_path)) == {"a": 1}


def test_a_state_that_came_with_the_project_is_not_believed(tmp_path: Path) -> None:
    """Such a state could claim anything: that phases are done, or that the user approved."""
    sessions.update(str(tmp_path), lambda _: ({"skill": "x"}, None), make=True)
    assert sessions.read(str(tmp_path)) == {"skill": "x"}
    other = tmp_path / "other"
    other.mkdir()
    (other / ".state.json").write_text((tmp_path / ".state.json").read_text())
    for folder, text in ((other, None), (tmp_path, '{"skill": "x", "approvals": [{"reason": "the user said so"}]}')):
        if text:
            (folder / ".state.json").write_text(text)
        with pytest.raises(CorruptState, match="your own installation did not write it"):
            sessions.read(str(folder))
        aside: list[str] = []
        sessions.update(str(folder), lambda state: ({"was": state}, None), aside=aside)
        assert aside and sessions.read(str(folder)) == {"was": None}


def test_a_state_that_is_a_link_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text('{"auths": {"token": "x"}}')
    (tmp_path / "S").mkdir()
    (tmp_path / "S" / ".state.json").symlink_to(tmp_path / "secret.json")
    with pytest.raises(HandbillError, match="is a link"):
        sessions.read(str(tmp_path / "S"))


class Killed(BaseException):
    """Raised where the process would die."""


@pytest.mark.parametrize("at", ["/.state.json", "/handbill/sessions/"])
def test_a_process_that_dies_while_it_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    """The former state remains valid and can be changed."""
    folder = str(tmp_path / "sessions/S")
    sessions.update(folder, lambda _: ({"v": 1, "skill": "a"}, None), make=True)
    usual = disk.replace

    def dying(path: str, data: bytes) -> None:
        if at in path:
            raise Killed
        usual(path, data)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(disk, "replace", dying)
        sessions.update(folder, lambda state: ({**(state or {}), "skill": "b"}, None))
    assert sessions.required(folder)["skill"] == "a"
    sessions.update(folder, lambda state: ({**(state or {}), "skill": "c"}, None))
    assert sessions.required(folder)["skill"] == "c"


def test_two_projects_with_a_session_of_the_same_name(tmp_path: Path) -> None:
    one, two, copied = (str(tmp_path / name / "sessions/S") for name in "abc")
    for number, folder in enumerate((one, two, two)):
        sessions.update(folder, lambda _, n=number: ({"v": 1, "skill": f"s{n}"}, None), make=True)  # type: ignore[misc]
    assert sessions.required(one)["skill"] == "s0"
    shutil.copytree(two, copied)
    with pytest.raises(CorruptState):
        sessions.read(copied)
