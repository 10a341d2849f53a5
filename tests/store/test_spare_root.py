from __future__ import annotations

import errno
import os
import posix
import shutil
from pathlib import Path
from typing import Any

import pytest

from handbill.ledger.window import Window
from handbill.store import disk
from handbill.store.files import FileStore

"""A window that has to move to the spare folder loses nothing on the way."""

KEY = ("session-1", "main")


def adding(path: str) -> Any:
    def change(before: Window | None) -> tuple[Window, int]:
        after = before.copy() if before is not None else Window(*KEY)
        after.pending[path] = "why"
        return after, len(after.pending)

    return change


def pending(root: Path, spare: Path) -> set[str]:
    found = FileStore(str(root), str(spare)).read(KEY)
    assert found is not None
    return set(found.pending)


def test_a_window_that_moves_while_we_wait_for_its_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, spare = tmp_path / "root", tmp_path / "spare"
    store = FileStore(str(root), str(spare))
    store.update(KEY, adding("/a"))
    usual = disk.locked

    def moving(path: str) -> int:
        monkeypatch.setattr(disk, "locked", usual)
        lock = usual(path)
        shutil.copytree(root / ".windows", spare / ".windows")
        return lock

    monkeypatch.setattr(disk, "locked", moving)
    store.update(KEY, adding("/b"))
    assert pending(root, spare) == {"/a", "/b"}


def test_a_disk_that_is_full_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, spare = tmp_path / "root", tmp_path / "spare"
    store = FileStore(str(root), str(spare))
    store.update(KEY, adding("/a"))
    usual = disk.replace

    def full(path: str, data: bytes) -> None:
        if path.startswith(str(root)):
            raise OSError(errno.ENOSPC, "full")
        usual(path, data)

    monkeypatch.setattr(disk, "replace", full)
    assert store.update(KEY, adding("/b")) == 2 and pending(root, spare) == {"/a", "/b"}


@pytest.mark.parametrize(
    "mode, believed", [(0o600, True), (0o640, True), (0o620, False), (0o606, False), (0o666, False)]
)
def test_a_ledger_that_others_can_write_is_not_believed(tmp_path: Path, mode: int, believed: bool) -> None:
    FileStore(str(tmp_path)).update(KEY, adding("/a"))
    (tmp_path / ".windows" / "session-1.jsonl").chmod(mode)
    assert (FileStore(str(tmp_path)).read(KEY) is not None) is believed


def test_a_ledger_of_another_user_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    FileStore(str(tmp_path)).update(KEY, adding("/a"))
    monkeypatch.setattr(posix, "geteuid", lambda: os.getuid() + 1)
    assert FileStore(str(tmp_path)).read(KEY) is None
